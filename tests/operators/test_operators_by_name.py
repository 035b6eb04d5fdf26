"""Functions by the names of the operators that modules come to, checks, and numbers as tracing has them."""

import pytest
import rushlight as torch
from rushlight import nn
from support import raises

F = nn.functional


def leaf(*shape):
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def test_dropout_gives_its_mask():
    x = leaf(20, 5)
    y, mask = torch.native_dropout(x, 0.75, True)
    assert mask.dtype is torch.bool and y.grad_fn.name() == "NativeDropoutBackward0"
    torch.testing.assert_close(y, x * mask * 4)
    assert y.grad_fn._saved_p == 0.75 and y.grad_fn._saved_result1.equal(mask)
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], mask * 4.0, check_dtype=False)
    y, mask = torch.native_dropout(x, 0.5, False)
    assert y.equal(x) and mask.all()
    y, mask = torch.native_dropout(x, 1.0, True)
    assert not y.any() and not mask.any()


def test_normalisations_give_their_statistics():
    x, weight, bias = leaf(3, 4, 5), leaf(5), leaf(5)
    y, mean, rstd = torch.native_layer_norm(x, [5], weight, bias, 1e-5)
    assert y.equal(F.layer_norm(x, [5], weight, bias))
    torch.testing.assert_close(mean, x.mean(-1, keepdim=True).detach())
    torch.testing.assert_close(rstd, (x.var(-1, correction=0, keepdim=True) + 1e-5).rsqrt().detach())
    assert y.grad_fn.name() == "NativeLayerNormBackward0" and not mean.requires_grad

    y, mean, rstd = torch.native_group_norm(x, None, None, 3, 4, 5, 2, 1e-5)
    assert y.equal(F.group_norm(x, 2)) and mean.shape == rstd.shape == (3, 2)
    torch.testing.assert_close(mean.detach(), x.view(3, 2, 10).mean(-1).detach())

    running = torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    y, mean, rstd = torch.native_batch_norm(x, None, None, *running, True, 0.5, 1e-5)
    torch.testing.assert_close(mean, x.mean((0, 2)).detach())
    torch.testing.assert_close(running[0], mean / 2)
    assert rstd.shape == (4,)
    y, mean, rstd = torch.native_batch_norm(x, None, None, *running, False, 0.5, 1e-5)
    assert y.equal(F.batch_norm(x, *running)) and mean.numel() == rstd.numel() == 0


def test_the_statistics_of_groups_have_gradients():
    x = leaf(2, 4, 3)
    y, mean, rstd = torch.native_group_norm(x, None, None, 2, 4, 3, 2, 1e-5)
    (slope,) = torch.autograd.grad((y**2).sum() + mean.sum() + (rstd * rstd).sum(), x)
    assert mean.requires_grad and rstd.requires_grad

    groups = x.view(2, 2, 6)
    deviation = (groups.var(-1, correction=0) + 1e-5).rsqrt()
    expected = (F.group_norm(x, 2) ** 2).sum() + groups.mean(-1).sum() + (deviation**2).sum()
    torch.testing.assert_close(slope, torch.autograd.grad(expected, x)[0])


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_a_convolution_has_the_dimensions_of_its_weight(spatial):
    x, weight = leaf(2, 4, *[5] * spatial), leaf(4, 2, *[2] * spatial)
    twos, ones, zeros = [2] * spatial, [1] * spatial, [0] * spatial
    plain, turned = getattr(F, f"conv{spatial}d"), getattr(F, f"conv_transpose{spatial}d")
    y = torch.convolution(x, weight, None, twos, ones, ones, False, zeros, 2)
    assert y.equal(plain(x, weight, None, 2, 1, 1, 2)) and y.grad_fn.name() == "ConvolutionBackward0"
    y = torch.convolution(x, weight, None, twos, ones, ones, True, ones, 2)
    assert y.equal(turned(x, weight, None, 2, 1, 1, 2, 1))
    y = torch._convolution(x, weight, None, ones, zeros, ones, False, zeros, 2, False, False, False, False)
    assert y.equal(plain(x, weight, None, groups=2))


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_gradients_of_convolutions_are_functions(spatial):
    x, weight = leaf(2, 4, *[5] * spatial), leaf(6, 2, *[2] * spatial)
    y = getattr(F, f"conv{spatial}d")(x, weight, None, 2, 1, 1, 2)
    weights = torch.randn_like(y)
    expected = torch.autograd.grad(y, (x, weight), weights)
    to_input = getattr(nn.grad, f"conv{spatial}d_input")
    to_weight = getattr(nn.grad, f"conv{spatial}d_weight")
    found = (
        to_input(x.shape, weight, weights, stride=2, padding=1, groups=2),
        to_weight(x, weight.shape, weights, stride=2, padding=1, groups=2),
    )
    torch.testing.assert_close([one.detach() for one in found], list(expected))


@pytest.mark.parametrize(
    ("name", "module", "gates"),
    [("lstm", nn.LSTM, 4), ("gru", nn.GRU, 3), ("rnn_tanh", nn.RNN, 1)],
)
def test_recurrent_layers_are_functions_of_their_weights(name, module, gates):
    layer = module(3, 2, num_layers=2, bidirectional=True, batch_first=True).double()
    x, start = leaf(4, 5, 3), leaf(4, 4, 2)
    state = (start, start * 2) if name == "lstm" else start
    expected = layer(x, state)
    found = getattr(torch, name)(x, state, layer._flat_weights, True, 2, 0.0, False, True, True)
    assert found[0].equal(expected[0])
    last = expected[1] if name == "lstm" else expected[1:]
    assert all(one.equal(other) for one, other in zip(found[1:], last, strict=True))

    cells = {"lstm": nn.LSTMCell, "gru": nn.GRUCell, "rnn_tanh": nn.RNNCell}
    cell = cells[name](3, 2).double()
    assert cell.weight_ih.shape == (2 * gates, 3)
    rows, state = leaf(4, 3), (leaf(4, 2), leaf(4, 2)) if name == "lstm" else leaf(4, 2)
    step = getattr(torch, f"{name}_cell")(rows, state, *cell.parameters())
    expected = cell(rows, state)
    step, expected = (one if isinstance(one, tuple) else (one,) for one in (step, expected))
    assert all(one.equal(other) for one, other in zip(step, expected, strict=True))


def test_packed_sequences_come_with_their_sizes():
    layer = nn.GRU(3, 2).double()
    packed = nn.utils.rnn.pack_sequence([leaf(3, 3), leaf(2, 3)])
    expected = layer(packed)
    start = torch.zeros(1, 2, 2, dtype=torch.float64)
    found = torch.gru(packed.data, packed.batch_sizes, start, layer._flat_weights, True, 1, 0.0, False, False)
    assert found[0].equal(expected[0].data) and found[1].equal(expected[1])


def test_rows_that_are_too_long_are_shortened():
    table = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    assert torch.embedding_renorm_(table, torch.tensor([0, 1]), 1.0, 2.0) is table
    torch.testing.assert_close(table, torch.tensor([[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]]))


def test_so_many_places_are_given():
    x = torch.tensor([[0, 5], [7, 0]])
    assert torch.nonzero_static(x, size=1).tolist() == [[0, 1]]
    assert x.nonzero_static(size=3, fill_value=9).tolist() == [[0, 1], [1, 0], [9, 9]]


def test_functions_in_place_have_names():
    x, y = torch.tensor([4, 6]), torch.tensor([6, 8])
    assert torch.gcd_(x, y) is x and x.tolist() == [2, 2]
    assert torch.lcm_(torch.tensor([4, 6]), y).tolist() == [12, 24]
    assert torch.ldexp_(torch.ones(2), y).tolist() == [64, 256]
    assert torch.xlogy_(torch.zeros(2), torch.ones(2)).tolist() == [0, 0]
    assert torch._shape_as_tensor(torch.ones(2, 3)).tolist() == [2, 3]


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (torch._check, RuntimeError),
        (torch._check_index, IndexError),
        (torch._check_value, ValueError),
        (torch._check_type, TypeError),
        (torch._check_not_implemented, NotImplementedError),
    ],
)
def test_a_check_raises_an_error_of_its_kind(check, error):
    assert check(True) is None
    with raises(error, "because"):
        check(False, lambda: "because")
    with raises(error, "Expected cond to be True, but got False."):
        check(False)
    with raises(TypeError, "cond must be a bool, but got <class 'int'>"):
        check(3)
    with raises(TypeError, "message must be a callable"):
        check(False, "because")


def test_elements_are_checked_together():
    assert torch._check_tensor_all(torch.tensor([True, True])) is None
    with raises(RuntimeError, "because"):
        torch._check_tensor_all(torch.tensor([True, False]), lambda: "because")
    with raises(TypeError, "cond must be a bool, but got a Tensor."):
        torch._check(torch.tensor(True))
    with (
        pytest.warns(FutureWarning, match="_check_is_size will be removed"),
        raises(RuntimeError, "Expected cond to be True, but got False."),
    ):
        torch._check_is_size(-3)
    with pytest.raises(AssertionError, match="because"):
        torch._assert(False, "because")
    assert torch._is_all_true(torch.tensor([True])) and not torch._is_any_true(torch.tensor([False]))


def test_numbers_of_tracing_are_numbers():
    assert (torch.sym_int(2.5), torch.sym_int(-2.5), torch.sym_float(2)) == (2, -2, 2.0)
    assert (torch.sym_max(1, 2.0), torch.sym_min(1, 2), torch.sym_not(True)) == (2.0, 1, False)
    assert (torch.sym_ite(True, 1, 2), torch.sym_sum([1, 2])) == (1, 3)
    assert type(torch.sym_max(2, 1.0)) is float


def test_functions_are_found_where_torch_writes_them():
    assert torch.functional.einsum is torch.einsum and torch.functional.split is torch.split
    assert {"istft", "lu", "pca_lowrank", "svd_lowrank"} <= {*torch.functional.__all__}
    assert torch.functional.F is torch.nn.functional and torch.functional.Tensor is torch.Tensor
    assert torch.ones(2)[:, torch.newaxis].shape == (2, 1)
