"""Rules that go one way or another, by the numbers or by what is recorded: each way has the right derivatives."""

import pytest
import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck

F = torch.nn.functional


def numbers(*shape):
    count = 1
    for size in shape:
        count *= size
    values = torch.linspace(0.3, 1.7, count, dtype=torch.float64)
    return (values + 0.3 * torch.sin(7 * values)).reshape(shape).requires_grad_()


def with_zeros(*shape):
    values = numbers(*shape).detach()
    values.view(-1)[1::4] = 0
    return values.requires_grad_()


def square(side):
    return (torch.eye(side, dtype=torch.float64) + 0.3 * numbers(side, side).detach()).requires_grad_()


SIGNAL, WEIGHT = numbers(1, 2, 4).detach(), numbers(3).detach()


def image(*shape):
    return numbers(1, 2, *shape)


WAYS = {
    "product": (lambda x: x.prod(), numbers(2, 3)),
    "product along": (lambda x: x.prod(1, keepdim=True), numbers(2, 3)),
    "product of zeros": (lambda x: x.prod(), with_zeros(6)),
    "product along with zeros": (lambda x: x.prod(0), with_zeros(3, 2)),
    "product of one": (lambda x: x[0, 0].prod() * x[:1].prod(0), numbers(2, 3)),
    "running product": (lambda x: x.cumprod(1), numbers(2, 3)),
    "running product of zeros": (lambda x: x.cumprod(0), with_zeros(3, 2)),
    "running extreme": (lambda x: torch.cummax(x.flip(0), 0)[0] * x, numbers(3, 2)),
    "norm 0.5": (lambda x: x.norm(0.5, 1), numbers(2, 3)),
    "norm 1.5": (lambda x: x.norm(1.5), numbers(2, 3)),
    "norm 3": (lambda x: torch.linalg.vector_norm(x, 3, 0, True), numbers(2, 3)),
    "norm -1": (lambda x: torch.linalg.vector_norm(x, -1), numbers(2, 3)),
    "greatest": (lambda x: torch.linalg.vector_norm(x, torch.inf, 1) ** 2, numbers(2, 3)),
    "distance": (lambda x, y: torch.dist(x, 2 * y, 3), numbers(2, 3), numbers(2, 3)),
    "distances": (lambda x, y: torch.cdist(x, 2 - y, 1.5), numbers(2, 3), numbers(3, 3)),
    "distances by products": (
        lambda x, y: torch.cdist(x, 2 - y, compute_mode="use_mm_for_euclid_dist"),
        numbers(2, 2, 3),
        numbers(3, 3),
    ),
    "pairwise": (lambda x, y: F.pairwise_distance(x, 2 - y, 3.0), numbers(2, 3), numbers(2, 3)),
    "determinant": (torch.linalg.det, square(3)),
    "log-determinant": (lambda a: torch.linalg.slogdet(a)[1], square(3)),
    "solution": (lambda a, b: torch.linalg.solve(a, b), square(3), numbers(3, 2)),
    "solution from the right": (lambda a, b: torch.linalg.solve(a, b, left=False), square(3), numbers(2, 3)),
    "solution for a vector": (lambda a, b: torch.linalg.solve(a, b), square(3), numbers(3)),
    "inverse": (torch.linalg.inv, square(3)),
    "triangle": (lambda a: torch.linalg.cholesky(a @ a.mT + torch.eye(3, dtype=torch.float64)), square(3)),
    "upper triangle": (lambda a: torch.linalg.cholesky(a @ a.mT, upper=True), square(3)),
    "singular values": (lambda a: torch.linalg.svdvals(a), numbers(2, 3)),
    "all singular values": (lambda a: torch.linalg.svd(a)[1], numbers(3, 2)),
    "eigenvalues": (lambda a: torch.linalg.eigvalsh(a @ a.mT), square(3)),
    "convolution": (
        lambda x, w, b: F.conv2d(x, w, b, padding=1),
        image(3, 3),
        numbers(2, 2, 2, 2),
        numbers(2),
    ),
    "convolution of a weight": (lambda w: F.conv1d(SIGNAL, w), numbers(2, 2, 2)),
    "transposed": (lambda x, w: F.conv_transpose1d(x, w, stride=2), numbers(1, 2, 3), numbers(2, 2, 2)),
    "windows of one image": (lambda x: F.unfold(x[0], 2), image(3, 3)),
    "one image of windows": (lambda x: F.fold(x, 3, 2), numbers(4, 4)),
    "average": (lambda x: F.avg_pool2d(x, 2, 1), image(3, 3)),
    "reflected": (lambda x: F.pad(x, (1, 1), mode="reflect"), numbers(1, 2, 3)),
    "gates": (lambda x: torch.unsafe_chunk(x, 2, 1)[1].sin(), numbers(2, 4)),
    "logits": (
        lambda x, t: F.binary_cross_entropy_with_logits(x, t, weight=WEIGHT),
        numbers(2, 3),
        numbers(2, 3),
    ),
    "scaled product": (lambda x, y: torch.addmm(x, x, y, alpha=2), square(2), square(2)),
    "matrix and vector": (torch.mv, numbers(2, 3), numbers(3)),
    "numbers only": (lambda x: x.nansum(0), numbers(2, 3)),
    "dimensions": (lambda x: torch.mvlgamma(x + 2, 3), numbers(2, 3)),
    "odds": (lambda x: torch.logit(x / 3, 0.2), numbers(2, 3)),
    "swish": (F.silu, numbers(2, 3)),
    "mean beside deviation": (lambda x: torch.std_mean(x, 0)[1] * torch.std_mean(x, 0)[0], numbers(3, 2)),
}


# torch has no second derivatives of distances, and no tangents of some.
@pytest.mark.parametrize("way", WAYS)
def test_each_way_has_the_right_derivatives(way):
    assert gradcheck(*_called(way))


@pytest.mark.own
@pytest.mark.parametrize("way", WAYS)
def test_each_way_has_the_right_second_derivatives(way):
    assert gradgradcheck(*_called(way))


def _called(way):
    function, *inputs = WAYS[way]
    return function, inputs


@pytest.mark.own
@pytest.mark.parametrize("way", WAYS)
def test_each_way_has_the_right_tangents(way):
    function, *inputs = WAYS[way]
    for place, x in enumerate(inputs):
        rest = [other.detach() for other in inputs]

        def of_one(x, place=place, rest=rest):
            return function(*rest[:place], x, *rest[place + 1 :])

        forward = torch.func.jacfwd(of_one)(x.detach())
        assert torch.allclose(forward, torch.func.jacrev(of_one)(x.detach()), atol=1e-9)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_the_determinant_of_a_matrix_without_inverse_has_a_recorded_gradient(rank):
    numbers = [2.0, 3.0][:rank] + [0.0] * (3 - rank)
    values = torch.diag(torch.tensor(numbers, dtype=torch.float64))
    x = values.requires_grad_()
    (gradient,) = torch.autograd.grad(torch.linalg.det(x), x, create_graph=True)
    expected = torch.zeros(3, 3, dtype=torch.float64)
    diagonal = values.detach().diagonal()
    for place in range(3):
        others = [float(diagonal[other]) for other in range(3) if other != place]
        expected[place, place] = others[0] * others[1]
    assert torch.allclose(gradient, expected)


def test_all_that_one_element_was_the_extreme_of_adds_up_in_a_recorded_gradient():
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    weights = torch.tensor([1.0, 10.0, 100.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(torch.cummax(x, 0)[0], x, weights, create_graph=True)
    assert gradient.tolist() == [111.0, 0.0, 0.0]


def test_a_lazy_layer_that_was_converted_learns_its_sizes():
    layer = torch.nn.LazyBatchNorm1d().double()
    layer(torch.ones(2, 3, dtype=torch.float64))
    assert layer.running_mean.dtype == torch.float64
    assert layer.running_mean.shape == (3,)
