"""Operations that torch has no rule for, or runs for one sample after the other, have one here."""

import pytest
import rushlight as torch
from rushlight.func import grad, jacfwd, vmap
from rushlight.nn import functional as F
from support import raises

pytestmark = pytest.mark.filterwarnings("ignore")

X = torch.arange(18.0).reshape(2, 3, 3) / 7
PLACES = torch.tensor([0, 2, 1])
POSITIVE = torch.tensor([[True, False, True]] * 3)

MAPPED = {
    "chain_matmul": lambda x: torch.chain_matmul(x, x),
    "column_stack": lambda x: torch.column_stack([x, x]),
    "lstm.input": lambda x: torch.nn.LSTM(3, 2)(x)[0],
    "gru.input": lambda x: torch.nn.GRU(3, 2)(x)[0],
    "rnn_tanh.input": lambda x: torch.nn.RNN(3, 2)(x)[0],
    "rnn_relu.input": lambda x: torch.nn.RNN(3, 2, nonlinearity="relu")(x)[0],
    "lstm_cell": lambda x: torch.nn.LSTMCell(3, 2)(x)[0],
    "pad_sequence": lambda x: torch.nn.utils.rnn.pad_sequence([x, x]),
    "split_copy.Tensor": lambda x: torch.split_copy(x, 2)[0],
    "tensor_split.tensor_indices_or_sections": lambda x: torch.tensor_split(x, torch.tensor([1]))[0],
    "moveaxis.int": lambda x: torch.moveaxis(x, 0, 1),
    "narrow.Tensor": lambda x: torch.narrow(x, 0, torch.tensor(1), 1),
    "as_strided_scatter": lambda x: torch.as_strided_scatter(x, x[:2, :2], (2, 2), (1, 2)),
    "bilinear": lambda x: F.bilinear(x, x, torch.ones(2, 3, 3)),
    "diagflat": torch.diagflat,
    "embedding_bag.padding_idx": lambda x: F.embedding_bag(PLACES, x, torch.tensor([0, 1])),
    "index_reduce": lambda x: torch.index_reduce(x, 0, PLACES, x, "prod"),
    "isclose": lambda x: torch.isclose(x, x),
    "isin.Tensor_Tensor": lambda x: torch.isin(x, x),
    "kl_div": lambda x: F.kl_div(x, x),
    "linalg_lu": lambda x: torch.linalg.lu(x)[0],
    "margin_ranking_loss": lambda x: F.margin_ranking_loss(x, x, torch.ones(3, 3)),
    "masked_fill.Tensor": lambda x: x.masked_fill(POSITIVE, x.sum()),
    "masked_scatter": lambda x: torch.masked_scatter(x, POSITIVE, x),
    "multi_margin_loss": lambda x: F.multi_margin_loss(x, PLACES),
    "multilabel_margin_loss": lambda x: F.multilabel_margin_loss(x, PLACES.expand(3, 3)),
    "nonzero_static": lambda x: torch.nonzero_static(x, size=2),
    "ormqr": lambda x: torch.ormqr(x, x[0], x),
    "pdist": torch.pdist,
    "put": lambda x: torch.put(x, PLACES, x[0]),
    "quantile": lambda x: torch.quantile(x, torch.tensor([0.3, 0.5])),
    "quantile.scalar": lambda x: torch.quantile(x, 0.3),
    "renorm": lambda x: torch.renorm(x, 2, 0, 1.0),
    "repeat_interleave.Tensor": lambda x: torch.repeat_interleave(
        PLACES.float(), 1 + 0 * x[0].long(), output_size=3
    ),
    "soft_margin_loss": lambda x: F.soft_margin_loss(x, torch.ones(3, 3)),
    "special_hermite_polynomial_h.n_scalar": lambda x: torch.special.hermite_polynomial_h(x, 2),
    "special_log_ndtr": torch.special.log_ndtr,
    "stft": lambda x: torch.stft(x.flatten(), 4, return_complex=True),
    "take": lambda x: torch.take(x, PLACES),
    "triplet_margin_loss": lambda x: F.triplet_margin_loss(x, x, x),
    "vander": lambda x: torch.vander(x[0]),
}


# Of no samples nothing is known where numbers say how large results are; nor is nothing transformed.
LOOKING = ("nonzero_static", "repeat_interleave.Tensor", "stft")


@pytest.mark.own
@pytest.mark.parametrize("name", MAPPED)
def test_samples_are_computed_together(name):
    torch.manual_seed(0)
    found = vmap(lambda x: MAPPED[name](x), randomness="same")(X)
    for one, x in zip(found, X, strict=True):
        torch.manual_seed(0)
        torch.testing.assert_close(one, MAPPED[name](x))


@pytest.mark.own
@pytest.mark.parametrize("name", [name for name in MAPPED if name not in LOOKING])
def test_there_may_be_no_samples(name):
    found = vmap(MAPPED[name], randomness="same")(X[:0])
    assert found.shape == (0, *MAPPED[name](X[0]).shape)


@pytest.mark.parametrize("name", ["column_stack", "moveaxis.int", "chain_matmul"])
def test_within_derivatives_it_is_taken_apart(name):
    function = MAPPED[name]
    gradients = vmap(grad(lambda x: function(x).sin().sum()))(X)
    expected = torch.stack([grad(lambda x: function(x).sin().sum())(x) for x in X])
    torch.testing.assert_close(gradients, expected)
    assert jacfwd(function)(X[0]).shape == (*function(X[0]).shape, 3, 3)


def test_unmapped_tensors_are_not_refused():
    whole = X[0]
    assert vmap(lambda x: torch.column_stack([whole, whole]))(X).shape == (2, 3, 6)


@pytest.mark.own
def test_slopes_of_samples_are_drawn_as_randomness_says():
    negative = -torch.ones(3, 4)
    drawn = vmap(lambda x: F.rrelu(x, training=True), randomness="different")(negative)
    assert drawn.unique().numel() > 4
    drawn = vmap(lambda x: F.rrelu(x, training=True), randomness="same")(negative)
    assert torch.equal(drawn[0], drawn[1])
    with pytest.raises(RuntimeError, match="vmap: called random operation while in randomness error mode"):
        vmap(lambda x: F.rrelu(x, training=True))(negative)


def test_what_has_a_rule_maps_over_no_samples():
    assert vmap(lambda x: (x @ x).softmax(-1))(X[:0]).shape == (0, 3, 3)
    assert vmap(grad(lambda x: x.sin().sum()))(X[:0]).shape == (0, 3, 3)


def test_no_samples_are_no_chunk():
    with raises(AssertionError, "arg_spec must not be None"):
        vmap(torch.sin, chunk_size=2)(X[:0])


def test_each_sample_may_ask_for_quantiles_of_its_own():
    shares = torch.tensor([[0.0, 0.5], [0.25, 1.0]])
    expected = torch.stack([torch.quantile(x, q) for x, q in zip(X, shares, strict=True)])
    assert torch.equal(vmap(torch.quantile)(X, shares), expected)


def test_solutions_come_with_what_they_say_of_each_sample():
    matrices = X + 2 * torch.eye(3)
    found, info = vmap(torch.linalg.solve_ex)(matrices, X)
    torch.testing.assert_close(found, torch.linalg.solve(matrices, X))
    assert torch.equal(info, torch.zeros(2, dtype=torch.int32))


def test_random_results_cannot_be_written_into_what_exists():
    text = (
        "vmap: We do not support calling out variants of random operations inside of vmap. Please use non-out "
        "variants as a workaround"
    )
    out = torch.empty(3)
    calls = [
        lambda x: torch.randn(3, out=out),
        lambda x: torch.randint(5, (3,), out=out),
        lambda x: torch.bernoulli(x[0], out=out),
        lambda x: torch.multinomial(x[0], 2, out=out),
        lambda x: torch.normal(0.0, 1.0, (3,), out=out),
    ]
    for call in calls:
        for randomness in ("error", "same", "different"):
            with raises(RuntimeError, text):
                vmap(call, randomness=randomness)(X)


def test_other_orders_in_memory_are_not_asked_for():
    images = torch.zeros(2, 1, 2, 3, 3)
    text = "NYI: querying is_contiguous inside of vmap for memory_format other than torch.contiguous_format"
    with raises(RuntimeError, text):
        vmap(lambda x: x.contiguous(memory_format=torch.channels_last))(images)
    with raises(RuntimeError, text):
        vmap(lambda x: x if x.is_contiguous(memory_format=torch.channels_last) else -x)(images)
    text = (
        "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format "
        "torch.preserve_format or torch.contiguous_format (got ChannelsLast)"
    )
    with raises(RuntimeError, text):
        vmap(lambda x: x.clone(memory_format=torch.channels_last))(images)
    assert vmap(lambda x: x.contiguous(memory_format=torch.contiguous_format))(images).shape == images.shape


def test_windows_are_made_within_transforms():
    assert torch.equal(vmap(lambda x: x * torch.hann_window(3))(X), X * torch.hann_window(3))
    gradient = grad(lambda x: (x * torch.hamming_window(3)).sum())(X)
    assert torch.equal(gradient, torch.hamming_window(3).expand(2, 3, 3))


def test_elements_chosen_by_a_mask_are_differentiated_forward():
    x = torch.tensor([1.0, -2.0, 3.0])
    expected = torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    assert torch.equal(torch.func.jacfwd(lambda x: x[x > 0] * 2)(x), expected)
    assert torch.equal(
        torch.func.jacfwd(lambda x: x.index_put((x > 0,), x[x > 0] * 2)[:1])(x)[0, 0], torch.tensor(2.0)
    )


def test_a_refused_change_of_sizes_leaves_the_samples_as_they_were():
    samples = X.clone()
    with raises(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."):
        vmap(grad(lambda x: x.unsqueeze_(0).sum()))(samples)
    assert samples.shape == X.shape


@pytest.mark.parametrize(
    "function",
    [torch.argwhere, lambda x: torch.where(x > 0)[0], lambda x: torch.nonzero(x, as_tuple=True)[0]],
)
def test_within_derivatives_places_are_those_of_one_operation(function):
    text = (
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        "aten::nonzero. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this "
        "feature."
    )
    with raises(RuntimeError, text):
        vmap(grad(lambda x: x.sum() + function(x).sum()))(X)


def test_memory_that_all_samples_share_is_not_exchanged():
    with pytest.raises(RuntimeError, match="vmap: aten::set_"):
        vmap(lambda x: torch.empty(3, 3).set_(x))(X)
    with raises(
        RuntimeError, "Batching rule not implemented for aten::is_set_to. We could not generate a fallback."
    ):
        vmap(lambda x: x if x.is_set_to(x) else -x)(X)
