"""Layers that go along sequences, and layers of attention."""

import math

import pytest
import rushlight as torch
from support import raises

nn = torch.nn


def filled(module):
    with torch.no_grad():
        for number, weight in enumerate(module.parameters()):
            weight.copy_((torch.arange(weight.numel()) * 0.7 + number).sin().view(weight.shape))
    return module


def steps(*shape):
    count = math.prod(shape)
    return ((torch.arange(count) * 0.31).sin() * 2).view(shape)


@pytest.mark.parametrize("kind, cell", [("RNN", "RNNCell"), ("LSTM", "LSTMCell"), ("GRU", "GRUCell")])
def test_a_layer_is_its_cell_step_by_step(kind, cell):
    layer, one = filled(getattr(nn, kind)(4, 3)), filled(getattr(nn, cell)(4, 3))
    x, state, shown = steps(5, 2, 4), None, []
    for step in x:
        state = one(step, state)
        shown.append(state[0] if kind == "LSTM" else state)
    output, last = layer(x)
    assert torch.allclose(output, torch.stack(shown), atol=1e-6)
    last = last[0] if kind == "LSTM" else last
    assert torch.allclose(last[0], shown[-1], atol=1e-6)


@pytest.mark.parametrize("samples, size", [(1, 3), (7, 5), (3, 40)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "kind, options", [("RNN", {}), ("RNN", {"nonlinearity": "relu"}), ("GRU", {}), ("LSTM", {})]
)
def test_a_layer_shows_the_same_where_nothing_is_recorded(kind, options, dtype, samples, size):
    for bias, both in [(True, False), (False, True)]:
        layer = filled(
            getattr(nn, kind)(4, size, num_layers=2, bias=bias, bidirectional=both, dtype=dtype, **options)
        )
        with torch.no_grad():
            for weight in layer.parameters():
                weight.mul_(0.2)
        x = steps(6, samples, 4).to(dtype)
        x[1, 0, 2] = torch.nan
        output, last = layer(x)
        assert output.requires_grad and output.isnan().any() and (samples == 1 or not output.isnan().all())
        with torch.no_grad():
            again, last_again = layer(x)
            turned, _ = layer(x.transpose(0, 1).contiguous().transpose(0, 1))
        assert torch.allclose(again, output, atol=1e-6, equal_nan=True) and not again.requires_grad
        assert torch.equal(turned.nan_to_num(9.0), again.nan_to_num(9.0))
        for one, other in zip(
            torch.utils._pytree.tree_leaves(last), torch.utils._pytree.tree_leaves(last_again), strict=True
        ):
            assert torch.allclose(one, other, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_packed_sequences_end_where_they_end(kind):
    layer = filled(getattr(nn, kind)(4, 3, num_layers=2, bidirectional=True))
    x, lengths = steps(5, 3, 4), [3, 5, 2]
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
    output, found = nn.utils.rnn.pad_packed_sequence(layer(packed)[0])
    assert found.tolist() == lengths
    for place, length in enumerate(lengths):
        alone, _ = layer(x[:length, place])
        assert torch.allclose(output[:length, place], alone, atol=1e-6)
        assert not output[length:, place].any()


def test_gradients_reach_all_weights_of_a_layer():
    layer = filled(nn.LSTM(4, 3, num_layers=2, proj_size=2)).double()
    x = steps(3, 2, 4).double().requires_grad_()
    layer(x)[0].sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in layer.parameters())
    assert [name for name, _ in layer.named_parameters()][:5] == [
        "weight_ih_l0",
        "weight_hh_l0",
        "bias_ih_l0",
        "bias_hh_l0",
        "weight_hr_l0",
    ]


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: nn.RNN(4, 0), ValueError, "hidden_size must be greater than zero"),
        (
            lambda: nn.LSTM(4, 3)(torch.ones(4)),
            ValueError,
            "LSTM: Expected input to be 2D or 3D, got 1D instead",
        ),
        (
            lambda: nn.LSTM(4, 3)(torch.ones(5, 2, 2)),
            RuntimeError,
            "input.size(-1) must be equal to input_size. Expected 4, got 2",
        ),
        (
            lambda: nn.GRU(4, 3)(torch.ones(5, 2, 4), torch.ones(2, 3)),
            RuntimeError,
            "For batched 3-D input, hx should also be 3-D but got 2-D tensor",
        ),
        (
            lambda: nn.RNNCell(4, 3)(torch.ones(2, 4), torch.ones(2, 4)),
            RuntimeError,
            "hidden0 has inconsistent hidden_size: got 4, expected 3",
        ),
        (
            lambda: nn.MultiheadAttention(4, 3),
            AssertionError,
            "embed_dim must be divisible by num_heads",
        ),
        (
            lambda: nn.TransformerEncoderLayer(4, 2, activation="x"),
            RuntimeError,
            "activation should be relu/gelu, not x",
        ),
    ],
)
def test_misuse_is_refused_in_words(call, kind, text):
    with raises(kind, text):
        call()


def test_masked_places_are_not_seen():
    layer = filled(nn.MultiheadAttention(4, 2, batch_first=True))
    x = steps(2, 3, 4)
    hidden = torch.tensor([[False, False, True], [False, False, False]])
    output, weights = layer(x, x, x, key_padding_mask=hidden)
    assert (weights[0, :, 2] == 0).all() and weights.sum(-1).allclose(torch.ones(2, 3))
    alone, _ = layer(x[:1, :2], x[:1, :2], x[:1, :2])
    assert torch.allclose(output[0, :2], alone[0], atol=1e-6)


def test_a_decoder_does_not_see_what_comes_later():
    layer = filled(nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0)).eval()
    memory, x = steps(3, 1, 4), steps(4, 1, 4)
    mask = nn.Transformer.generate_square_subsequent_mask(4)
    whole, part = layer(x, memory, tgt_mask=mask), layer(x[:2], memory, tgt_mask=mask[:2, :2])
    assert torch.allclose(whole[:2], part, atol=1e-5)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_a_transformer_passes_gradients():
    model = filled(nn.Transformer(4, 2, 1, 1, 8, dropout=0.0))
    source = steps(3, 2, 4).requires_grad_()
    (model(source, steps(2, 2, 4)) ** 2).sum().backward()
    assert source.grad.abs().sum() > 0


def test_labels_are_laid_along_a_sequence_in_every_way():
    x = steps(4, 1, 3).double().log_softmax(2).detach()
    ways = 0.0
    for path in torch.cartesian_prod(*[torch.arange(3)] * 4).tolist():
        merged = [a for place, a in enumerate(path) if place == 0 or path[place - 1] != a]
        if [a for a in merged if a != 0] == [1, 2]:
            ways += math.exp(sum(float(x[step, 0, label]) for step, label in enumerate(path)))
    loss = nn.functional.ctc_loss(x, torch.tensor([[1, 2]]), [4], [2], reduction="sum")
    assert float(loss) == pytest.approx(-math.log(ways))
    logits = steps(4, 1, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(
        lambda y: nn.functional.ctc_loss(y.log_softmax(2), torch.tensor([[1, 2]]), [4], [2]), (logits,)
    )


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_the_gradient_of_laid_labels_is_the_one_at_logits(reduction):
    def gradients(normalise):
        logits = steps(4, 2, 3).double().requires_grad_()
        logarithms = logits.log_softmax(2)
        targets = torch.tensor([[1, 2], [1, 1]])
        loss = nn.functional.ctc_loss(logarithms, targets, [4, 3], [2, 1], reduction=reduction)
        return torch.autograd.grad((loss * 2).sum(), logits if normalise else logarithms)[0]

    assert torch.allclose(gradients(True), gradients(False))
    assert (gradients(False)[3, 1] == 0).all() and (gradients(False)[2, 1] != 0).all()


@pytest.mark.parametrize(
    ("targets", "inputs", "labels", "text"),
    [
        (
            (2, 3),
            [5, 5],
            [3, 9],
            "Expected tensor to have size at least 9 at dimension 1, but got size 3 for argument",
        ),
        (
            (2, 3),
            [5, 9],
            [3, -1],
            "Expected target_lengths to have value at least 0, but got value -1 (while checking",
        ),
        (
            (2, 3),
            [5, -5],
            [3, 1],
            "Expected input_lengths to have value at least 0, but got value -5 (while checking",
        ),
        (
            (2, 3),
            [5, 9],
            [3, 1],
            "Expected input_lengths to have value at most 5, but got value 9 (while checking",
        ),
        (
            (4,),
            [5, 5],
            [3, 9],
            "Expected tensor to have size 12 at dimension 0, but got size 4 for argument #2",
        ),
        (
            (3, 3),
            [5, 5],
            [3, 3],
            "Expected tensor to have size 2 at dimension 0, but got size 3 for argument #2",
        ),
        (
            (2, 3, 1),
            [5, 5],
            [3, 3],
            "Expected 1 to 2 dimensions, but got 3-dimensional tensor for argument #2 'targets'",
        ),
        ((2, 3), [5], [3, 3], "input_lengths must be of size batch_size"),
    ],
)
def test_lengths_of_labels_have_to_fit(targets, inputs, labels, text):
    steps = torch.zeros(5, 2, 4).log_softmax(-1)
    with raises(RuntimeError, text):
        torch.nn.functional.ctc_loss(steps, torch.ones(targets, dtype=torch.long), inputs, labels)


def test_lengths_of_labels_are_integers_and_there_are_steps():
    steps, targets = torch.zeros(5, 2, 4), torch.ones(2, 3, dtype=torch.long)
    with raises(RuntimeError, "input_lengths must be integral"):
        torch.nn.functional.ctc_loss(steps, targets, torch.tensor([5.0, 5.0]), torch.tensor([3, 3]))
    with raises(RuntimeError, "log_probs tensor must not be empty"):
        torch.nn.functional.ctc_loss(steps[:, :0], targets[:0], [], [])
    with raises(RuntimeError, "Expected 3-dimensional tensor, but got 2-dimensional tensor for argument #1"):
        torch.nn.functional.ctc_loss(steps[0, 0], targets, [5, 5], [3, 3])


@pytest.mark.parametrize("kind", [torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU])
def test_a_sequence_has_a_step(kind):
    with raises(RuntimeError, "Expected sequence length to be larger than 0 in RNN"):
        kind(4, 3)(torch.ones(0, 2, 4))


def test_what_is_padded_has_a_sequence():
    with raises(RuntimeError, "received an empty list of sequences"):
        torch.nn.utils.rnn.pad_sequence([])


def test_padded_sequences_are_transposed_in_place_before_they_are_parted():
    padded = torch.nn.utils.rnn.pad_sequence([torch.arange(3), torch.arange(2)])
    parts = torch.nn.utils.rnn.unpad_sequence(padded, torch.tensor([3, 2]))
    assert [part.tolist() for part in parts] == [[0, 1, 2], [0, 1]]
    assert padded.shape == (2, 3)


@pytest.mark.parametrize(
    "side, expected", [("right", [[0, 1, 2], [0, 1, 9]]), ("left", [[0, 1, 2], [9, 0, 1]])]
)
def test_sequences_are_padded_on_either_side(side, expected):
    sequences = [torch.arange(3), torch.arange(2)]
    padded = torch.nn.utils.rnn.pad_sequence(sequences, True, 9, padding_side=side)
    assert padded.tolist() == expected


def test_gradients_pass_padding():
    one, other = torch.ones(3, requires_grad=True), torch.ones(2, requires_grad=True)
    padded = torch.nn.utils.rnn.pad_sequence([one, other], padding_value=5.0)
    (padded * torch.arange(6.0).view(3, 2)).sum().backward()
    assert (one.grad.tolist(), other.grad.tolist()) == ([0, 2, 4], [1, 3])
