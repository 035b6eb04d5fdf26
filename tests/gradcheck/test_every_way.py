"""Operations that torch differentiates in reverse only, once only, or not at all: here in every way.

Each is checked against finite differences in reverse, forward and twice, forward over reverse and reverse over
forward against reverse over reverse, and many samples against one at a time, values and gradients.
"""

import pytest
import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck
from rushlight.func import grad, hessian, jacfwd, jacrev, vmap
from rushlight.nn import functional as F

pytestmark = [pytest.mark.own, pytest.mark.filterwarnings("ignore")]


def numbers(*shape, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, dtype=torch.float64, generator=generator)


def positive(*shape, seed=3):
    return numbers(*shape, seed=seed).abs() + 0.5


PLACES = torch.tensor([0, 1, 2])
INDEX = torch.tensor([[0, 1, 1], [1, 0, 2], [2, 2, 0]])
LABELS = torch.tensor([[0, 2, -1, 1]] * 3)
HEADS = [numbers(1, 2, 3, 2, seed=seed) for seed in (3, 5, 6)]
SIGNS = torch.ones(3, 4, dtype=torch.float64)


def ctc(x):
    return F.ctc_loss(x.log_softmax(-1), torch.tensor([[1, 2], [2, 2]]), (4, 4), (2, 1))


def grid(x, places, **options):
    return F.grid_sample(x, places.tanh() * 0.8, align_corners=False, **options)


def reflections(x, y):
    packed, scales = torch.geqrf(torch.complex(x, y))
    return torch.view_as_real(packed), torch.view_as_real(scales)


CASES = {
    "acosh_": (lambda x: x.clone().acosh_(), positive(4) + 1),
    "asinh_": (lambda x: x.clone().asinh_(), numbers(4)),
    "atanh_": (lambda x: x.clone().atanh_(), numbers(4).tanh() * 0.8),
    "attention": (F.scaled_dot_product_attention, *HEADS),
    "attention, causal": (lambda *x: F.scaled_dot_product_attention(*x, is_causal=True), *HEADS),
    "cdist": (torch.cdist, numbers(3, 2), numbers(4, 2, seed=5)),
    "cdist, p=1": (lambda a, b: torch.cdist(a, b, p=1), numbers(3, 2), numbers(4, 2, seed=5)),
    "cdist, p=3": (lambda a, b: torch.cdist(a, b, p=3), numbers(3, 2), numbers(4, 2, seed=5)),
    "cdist by products": (
        lambda a, b: torch.cdist(a, b, compute_mode="use_mm_for_euclid_dist"),
        numbers(3, 2),
        numbers(4, 2, seed=5),
    ),
    "cholesky": (lambda x: torch.cholesky(x @ x.mT + torch.eye(3, dtype=torch.float64)), numbers(3, 3)),
    "conv_tbc": (torch.conv_tbc, numbers(4, 2, 3), numbers(2, 3, 2), numbers(2)),
    "ctc_loss": (ctc, numbers(4, 2, 4)),
    "embedding_bag": (lambda w: F.embedding_bag(PLACES, w, torch.tensor([0, 2])), numbers(3, 4)),
    "embedding_bag, weighed": (
        lambda w, shares: F.embedding_bag(
            PLACES, w, torch.tensor([0, 2]), mode="sum", per_sample_weights=shares
        ),
        numbers(3, 4),
        numbers(3),
    ),
    "floor_divide": (torch.floor_divide, numbers(4), numbers(4, seed=6)),
    "geqrf": (torch.geqrf, numbers(4, 3)),
    "geqrf of wide matrices": (torch.geqrf, numbers(2, 3, 4)),
    "geqrf of complex numbers": (reflections, numbers(3, 3), numbers(3, 3, seed=4)),
    "grid_sample": (grid, numbers(1, 2, 4, 4), numbers(1, 2, 3, 2)),
    "grid_sample, bicubic": (
        lambda x, y: grid(x, y, mode="bicubic"),
        numbers(1, 1, 4, 4),
        numbers(1, 2, 2, 2),
    ),
    "grid_sample of volumes": (grid, numbers(1, 1, 3, 3, 3), numbers(1, 2, 1, 2, 3)),
    "hardsigmoid": (F.hardsigmoid, numbers(4)),
    "heaviside": (torch.heaviside, numbers(4), numbers(4, seed=6)),
    "huber_loss": (F.huber_loss, numbers(5), numbers(5, seed=8)),
    "igamma": (torch.igamma, positive(5), positive(5, seed=4)),
    "igamma of large numbers": (lambda a, x: torch.igamma(a * 10, x * 10), positive(5), positive(5, seed=4)),
    "igammac": (torch.igammac, positive(5), positive(5, seed=4)),
    "index_reduce, amax": (
        lambda x, y: torch.index_reduce(x, 0, PLACES, y, "amax"),
        numbers(3, 3),
        numbers(3, 3, seed=5),
    ),
    "index_reduce, prod": (
        lambda x, y: torch.index_reduce(x, 0, torch.tensor([0, 0, 1]), y, "prod"),
        numbers(3, 3),
        numbers(3, 3, seed=5),
    ),
    "ldl_factor": (lambda x: torch.linalg.ldl_factor(x + x.mT).LD, numbers(4, 4)),
    "ldl_solve": (
        lambda x, b: torch.linalg.ldl_solve(*torch.linalg.ldl_factor(x + x.mT), b),
        numbers(4, 4),
        numbers(4, 2, seed=4),
    ),
    "multi_margin_loss": (lambda x: F.multi_margin_loss(x, PLACES, p=2), numbers(3, 4)),
    "multilabel_margin_loss": (lambda x: F.multilabel_margin_loss(x, LABELS), numbers(3, 4)),
    "ormqr": (torch.ormqr, numbers(3, 3), numbers(3, seed=4), numbers(3, 2, seed=5)),
    "pack_padded_sequence": (
        lambda x: torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([3, 2])).data,
        numbers(3, 2, 2),
    ),
    "pdist": (torch.pdist, numbers(4, 2)),
    "pdist, p=3": (lambda x: torch.pdist(x, 3), numbers(4, 2)),
    "scatter, add": (
        lambda x, y: torch.scatter(x, 0, INDEX, y, reduce="add"),
        numbers(3, 3),
        numbers(3, 3, seed=5),
    ),
    "scatter, multiply": (
        lambda x, y: torch.scatter(x, 0, INDEX, y, reduce="multiply"),
        numbers(3, 3),
        numbers(3, 3, seed=5),
    ),
    "scatter, multiply by a number": (
        lambda x: torch.scatter(x, 0, INDEX, 1.5, reduce="multiply"),
        numbers(3, 3),
    ),
    "scatter_, multiply": (
        lambda x, y: x.clone().scatter_(0, INDEX, y, reduce="multiply"),
        numbers(3, 3),
        numbers(3, 3, seed=5),
    ),
    "soft_margin_loss": (lambda x: F.soft_margin_loss(x, SIGNS), numbers(3, 4)),
    "unique": (torch.unique, numbers(4)),
    "unique of slices": (lambda x: torch.unique(x, dim=0), numbers(4, 2)),
    "unique_consecutive": (torch.unique_consecutive, numbers(4)),
    "zeta": (lambda s, q: torch.special.zeta(s + 1, q), positive(4), positive(4, seed=4)),
    "zeta beside a number": (lambda s: torch.special.zeta(s + 1, 2.5), positive(4)),
    "zeta of a number": (lambda q: torch.special.zeta(2.5, q), positive(4)),
}
# How many different elements there are depends on the sample, so that results are not of one shape.
UNMAPPED = ("unique", "unique of slices", "unique_consecutive")


def case(name):
    function, *inputs = CASES[name]
    return function, [x.detach().clone().requires_grad_() for x in inputs]


@pytest.mark.parametrize("name", CASES)
def test_first_derivatives_agree_with_differences(name):
    function, inputs = case(name)
    mapped = {"check_batched_grad": True, "check_batched_forward_grad": True}
    assert gradcheck(function, inputs, check_forward_ad=True, **mapped)


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_agree_with_differences(name):
    assert gradgradcheck(*case(name), check_fwd_over_rev=True)


def squared(function):
    def of_all(*inputs):
        answers = function(*inputs)
        answers = answers if isinstance(answers, tuple) else (answers,)
        return sum(answer.square().sum() for answer in answers)

    return of_all


@pytest.mark.parametrize("name", CASES)
def test_second_derivatives_agree_however_they_are_taken(name):
    function, *inputs = CASES[name]
    function, places = squared(function), tuple(range(len(inputs)))
    expected = jacrev(jacrev(function, places), places)(*inputs)
    for found in (hessian(function, places), jacrev(jacfwd(function, places), places)):
        torch.testing.assert_close(found(*inputs), expected)


@pytest.mark.parametrize("name", [name for name in CASES if name not in UNMAPPED])
def test_many_samples_are_one_after_the_other(name):
    function, *inputs = CASES[name]
    samples = [[x * (1 + place / 100) for x in inputs] for place in range(2)]
    together = [torch.stack(pair) for pair in zip(*samples, strict=True)]
    places = tuple(range(len(inputs)))
    for mapped in (function, grad(squared(function), places)):
        found = vmap(mapped)(*together)
        found = found if isinstance(found, tuple) else (found,)
        for place, sample in enumerate(samples):
            expected = mapped(*sample)
            expected = expected if isinstance(expected, tuple) else (expected,)
            for one, answer in zip(found, expected, strict=True):
                torch.testing.assert_close(one[place], answer)


def test_what_is_drawn_and_what_is_detached_does_not_move():
    x = torch.tensor([0.2, 0.7], requires_grad=True)
    for made in (
        torch.bernoulli(x, 0.5),
        torch.binomial(x.detach() + 3, x),
        torch.detach_copy(x),
    ):
        assert made.requires_grad
        assert torch.autograd.grad(made.sum(), x)[0].tolist() == [0, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_calculated_in_single_precision(dtype):
    s, q = torch.tensor([2.0, 3.5], dtype=dtype), torch.tensor([1.0, 2.5], dtype=dtype)
    zeta = torch.special.zeta(s, q)
    assert torch.equal(zeta, torch.special.zeta(s.float(), q.float()).to(dtype))
    drawn = torch.binomial(torch.full((4,), 3, dtype=dtype), torch.ones(4, dtype=dtype))
    assert drawn.dtype == dtype and drawn.tolist() == [3] * 4


def test_samples_of_gamma_distributions_move_with_their_concentration():
    """The quantile of a sample stays: of P(a, x(a)) all derivatives are zero."""
    concentration = torch.tensor([0.3, 1.0, 2.5, 12.0], dtype=torch.float64, requires_grad=True)
    torch.manual_seed(1)
    sample = torch.distributions.Gamma(concentration, 1.0).rsample()
    quantile = torch.igamma(concentration, sample)
    (first,) = torch.autograd.grad(quantile.sum(), concentration, create_graph=True)
    assert first.abs().max() < 1e-9
    (second,) = torch.autograd.grad(first.sum(), concentration, retain_graph=True)
    assert second.abs().max() < 1e-7
    (slope,) = torch.autograd.grad(sample.sum(), concentration)
    assert (slope > 0).all()


@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}, {"bias": False}])
def test_tangents_pass_an_lstm(options):
    layer = torch.nn.LSTM(2, 3, **options)
    x = torch.rand(4, 1, 2)
    assert torch.allclose(jacfwd(lambda x: layer(x)[0])(x), jacrev(lambda x: layer(x)[0])(x), atol=1e-6)


def test_tangents_pass_heads_that_show_no_weights():
    heads = torch.nn.MultiheadAttention(4, 2)
    x = torch.rand(3, 1, 4)
    for shown in (True, False):

        def attended(x, shown=shown):
            return heads(x, x, x, need_weights=shown)[0]

        assert torch.allclose(jacfwd(attended)(x), jacrev(attended)(x), atol=1e-6)
