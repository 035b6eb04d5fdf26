"""Distances of pairs of rows, losses of margins, and sizes and quotients of complex numbers, beside plain formulas."""

import math

import pytest
import rushlight as torch
from rushlight.nn import functional as F

NAN, INF = float("nan"), float("inf")


def drawn(*shape, dtype=torch.float64):
    torch.manual_seed(3)
    return torch.randn(*shape, dtype=torch.float64).to(dtype)


def norm(apart, p):
    sizes = [abs(x) for x in apart]
    if any(map(math.isnan, sizes)):
        return NAN
    if p == INF:
        return max(sizes)
    return sum(x**p for x in sizes) ** (1 / p)


def table(a, b, p):
    return torch.tensor(
        [[norm([x - y for x, y in zip(u, v, strict=True)], p) for v in b.tolist()] for u in a.tolist()],
        dtype=torch.float64,
    )


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, INF])
@pytest.mark.parametrize(
    "rows, others, width", [(3, 2, 4), (37, 70, 5), (1, 130, 3), (5, 4, 3), (6, 5, 2), (200, 1, 7)]
)
def test_distances_are_the_norms_of_all_differences(p, rows, others, width):
    a, b = drawn(rows, width), drawn(width, others).t()
    expected = table(a, b, p)
    for mode in ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        torch.testing.assert_close(torch.cdist(a, b, p, compute_mode=mode), expected)
    found = torch.cdist(a.float(), b.float(), p)
    torch.testing.assert_close(found, expected.float(), rtol=1e-5, atol=1e-5)
    pairs = torch.triu_indices(rows, rows, 1)
    torch.testing.assert_close(torch.pdist(a, p), table(a, a, p)[pairs[0], pairs[1]])


@pytest.mark.parametrize("p", [1.0, 2.0, INF])
def test_what_is_no_number_is_no_distance(p):
    a = drawn(20, 3)
    a[4, 1] = NAN
    found = torch.cdist(a, a, p, compute_mode="donot_use_mm_for_euclid_dist").isnan()
    assert found[4].all() and found[:, 4].all() and int(found.sum()) == 39
    assert int(torch.pdist(a, p).isnan().sum()) == 19


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
def test_gradients_of_distances_are_those_of_their_parts(p):
    a, b = drawn(23, 4).requires_grad_(), (drawn(2, 19, 4) + 0.3).requires_grad_()
    weights = drawn(2, 23, 19)
    found = torch.autograd.grad(
        (torch.cdist(a, b, p, compute_mode="donot_use_mm_for_euclid_dist") * weights).sum(), (a, b)
    )
    apart = a[:, None] - b[:, None]
    expected = torch.autograd.grad(((apart.abs() ** p).sum(-1) ** (1 / p) * weights).sum(), (a, b))
    torch.testing.assert_close(found, expected)
    weights = drawn(23 * 22 // 2)
    (found,) = torch.autograd.grad((torch.pdist(a, p) * weights).sum(), a)
    rows, others = torch.triu_indices(23, 23, 1)
    apart = a[rows] - a[others]
    (expected,) = torch.autograd.grad(((apart.abs() ** p).sum(-1) ** (1 / p) * weights).sum(), a)
    torch.testing.assert_close(found, expected)


def test_equal_rows_are_no_distance_apart_and_pass_nothing():
    a = torch.ones(5, 3, requires_grad=True)
    for p in (1.0, 2.0):
        y = torch.pdist(a, p)
        assert y.tolist() == [0.0] * 10
        (found,) = torch.autograd.grad(y.sum(), a)
        assert not found.any()
    assert torch.pdist(torch.ones(4, 0)).tolist() == [0.0] * 6
    assert torch.pdist(torch.ones(1, 3)).shape == (0,)


def one_class(x, target, p, margin, weight):
    losses = []
    for row, t in zip(x.tolist(), target.tolist(), strict=True):
        by = [max(0.0, margin - row[t] + other) ** p for place, other in enumerate(row) if place != t]
        losses.append((1.0 if weight is None else weight[t].item()) * sum(by) / len(row))
    return losses


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize(
    "dtype, off", [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 5e-2)]
)
@pytest.mark.parametrize("rows, classes", [(1, 1), (9, 7), (40, 67)])
def test_each_other_class_may_violate_the_margin(p, dtype, off, rows, classes):
    x, target = drawn(classes, rows, dtype=dtype).t(), torch.arange(rows) * 3 % classes
    for weight in (None, torch.linspace(0.5, 2, classes).to(dtype)):
        expected = torch.tensor(one_class(x, target, p, 0.7, weight), dtype=torch.float64)
        found = F.multi_margin_loss(x, target, p, 0.7, weight, reduction="none")
        torch.testing.assert_close(found.double(), expected, rtol=off, atol=off)
        found = F.multi_margin_loss(x, target, p, 0.7, weight)
        torch.testing.assert_close(found.double(), expected.mean(), rtol=off, atol=off)


def test_a_row_may_have_several_right_classes():
    x, target = drawn(30, 11), (torch.arange(330) * 7 % 13 - 1).clamp(max=10).reshape(30, 11)
    losses = []
    for row, classes in zip(x.tolist(), target.tolist(), strict=True):
        right = classes[: classes.index(-1)] if -1 in classes else classes
        others = [place for place in range(11) if place not in right]
        losses.append(sum(max(0.0, 1 - row[t] + row[place]) for t in right for place in others) / 11)
    expected = torch.tensor(losses, dtype=torch.float64)
    for dtype, off in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        found = F.multilabel_margin_loss(x.to(dtype), target, reduction="none")
        torch.testing.assert_close(found.double(), expected, rtol=off, atol=off)
    found = F.multilabel_margin_loss(x[0], target[0])
    torch.testing.assert_close(found, expected[0])


@pytest.mark.parametrize(
    "loss",
    [
        lambda x, y: F.multi_margin_loss(x, y[:, 0].clamp(min=0), p=1),
        lambda x, y: F.multi_margin_loss(x, y[:, 0].clamp(min=0), p=2, reduction="sum"),
        lambda x, y: F.multi_margin_loss(
            x, y[:, 0].clamp(min=0), p=2, weight=torch.linspace(0.5, 2, 5).double()
        ),
        lambda x, y: F.multilabel_margin_loss(x, y),
        lambda x, y: F.multilabel_margin_loss(x, y, reduction="none"),
    ],
)
def test_gradients_at_once_are_those_that_are_recorded(loss):
    x, y = drawn(9, 5).requires_grad_(), torch.arange(45).reshape(9, 5) * 3 % 6 - 1
    value = loss(x, y)
    (at_once,) = torch.autograd.grad(value, x, torch.ones_like(value), retain_graph=True)
    (recorded,) = torch.autograd.grad(value, x, torch.ones_like(value), create_graph=True)
    torch.testing.assert_close(at_once, recorded.detach())
    assert torch.autograd.gradcheck(lambda x: loss(x, y), (x,))


def test_classes_that_there_are_not_are_refused():
    x = torch.zeros(2, 3)
    for dtype in (torch.float32, torch.bfloat16):
        with pytest.raises(RuntimeError, match="target out of range"):
            F.multi_margin_loss(x.to(dtype), torch.tensor([0, 3]))
        with pytest.raises(RuntimeError, match="argument #2 'target' is out of range"):
            F.multilabel_margin_loss(x.to(dtype), torch.tensor([[0, 3, -1], [0, 1, 2]]))


@pytest.mark.parametrize("dtype, off", [(torch.complex64, 1e-6), (torch.complex128, 1e-15)])
def test_sizes_and_quotients_of_complex_numbers_are_those_of_python(dtype, off):
    a = torch.complex(drawn(1037), drawn(1037).flip(0)).to(dtype)
    b = torch.complex(drawn(1037) + 0.1, drawn(1037).roll(5)).to(dtype)
    for far in (1.0, 1e-30, 1e30):
        sizes = torch.tensor([abs(x) for x in (a * far).tolist()], dtype=torch.float64)
        torch.testing.assert_close((a * far).abs().double(), sizes, rtol=2 * off, atol=0)
        quotients = [x / y for x, y in zip(a.tolist(), (b * far).tolist(), strict=True)]
        expected = torch.tensor(quotients, dtype=torch.complex128)
        found = (a / (b * far)).to(torch.complex128)
        torch.testing.assert_close(found, expected, rtol=4 * off, atol=0)
    assert torch.equal(a[::3] / b[::3], (a / b)[::3]) and torch.equal(a[::3].abs(), a.abs()[::3])
    special = torch.tensor([complex(INF, NAN), complex(NAN, 1), complex(0, -INF), 0], dtype=dtype)
    assert [str(x) for x in special.abs().tolist()] == ["inf", "nan", "inf", "0.0"]


def test_targets_that_are_overwritten_are_refused_and_not_followed():
    for loss, target in (
        (F.multi_margin_loss, torch.tensor([0, 1, 2])),
        (F.multilabel_margin_loss, torch.tensor([[0, -1, 0]] * 3)),
    ):
        x = torch.ones(3, 3, requires_grad=True)
        found = loss(x, target)
        target.data.fill_(7)
        with pytest.raises(RuntimeError, match="out of range"):
            found.backward()


def test_weights_of_other_classes_are_refused():
    for count in (0, 2, 7):
        with pytest.raises(RuntimeError, match=rf"inconsistent weight size, expected 5 but got \[{count}\]"):
            F.multi_margin_loss(torch.ones(3, 5), torch.tensor([0, 1, 2]), weight=torch.ones(count))
