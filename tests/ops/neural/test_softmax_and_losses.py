"""softmax, log_softmax and the losses, against their formulas in numpy."""

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, check_gradient, sample

F = torch.nn.functional
REDUCTIONS = {"none": lambda a: a, "sum": np.sum, "mean": np.mean}


def softmax(a, axis):
    e = np.exp(a - a.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_softmax_and_its_logarithm_follow_their_formulas(dim):
    values = sample(2, 3, 4)
    x = torch.tensor(values)
    for function in (torch.softmax, F.softmax, torch.Tensor.softmax):
        assert_tensor(function(x, dim=dim), softmax(values, dim))
    for function in (torch.log_softmax, F.log_softmax, torch.Tensor.log_softmax):
        assert_tensor(function(x, dim=dim), np.log(softmax(values, dim)), tolerance=1e-11)
    check_gradient(lambda v: v.softmax(dim), values)
    check_gradient(lambda v: v.log_softmax(dim), values)


def test_softmax_takes_large_numbers_a_scalar_and_nothing():
    assert torch.tensor([1000.0, 1000.0]).softmax(0).tolist() == [0.5, 0.5]
    assert torch.tensor([1000.0, 0.0]).log_softmax(0).tolist() == [0.0, -1000.0]
    assert torch.tensor(3.0).softmax(0).item() == 1.0
    assert torch.empty(0, 3).softmax(1).shape == (0, 3)


def test_softmax_answers_in_the_dtype_that_is_asked_for():
    x = torch.tensor([1, 2])
    assert x.softmax(0, dtype=torch.float64).dtype is torch.float64
    assert F.log_softmax(x, 0, dtype=torch.float32).dtype is torch.float32


def test_softmax_without_a_dimension_guesses_and_warns():
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        assert_tensor(F.softmax(torch.tensor(sample(2, 3))), softmax(sample(2, 3), 1))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_mse_loss_agrees_with_its_formula(reduction):
    a, b = sample(3, 4), sample(3, 4, seed=1)
    expected = REDUCTIONS[reduction]((a - b) ** 2)
    assert_tensor(F.mse_loss(torch.tensor(a), torch.tensor(b), reduction=reduction), expected)
    assert_tensor(torch.nn.MSELoss(reduction=reduction)(torch.tensor(a), torch.tensor(b)), expected)
    check_gradient(lambda x, y: F.mse_loss(x, y, reduction=reduction), a, b)


def test_mse_loss_broadcasts_and_warns():
    with pytest.warns(
        UserWarning,
        match=r"Using a target size \(torch.Size\(\[3, 1\]\)\) that is different to the input size",
    ):
        assert F.mse_loss(torch.ones(3), torch.zeros(3, 1)).item() == 1.0


def bce(x, t, weight=1.0, positive=1.0):
    s = 1 / (1 + np.exp(-x))
    return -weight * (positive * t * np.log(s) + (1 - t) * np.log(1 - s))


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    "options", [{}, {"weight": 4}, {"pos_weight": 4}, {"weight": 4, "pos_weight": 4}], ids=str
)
def test_binary_cross_entropy_with_logits_follows_its_formula(reduction, options):
    x, t = sample(3, 4), sample(3, 4, seed=1, low=0, high=1)
    arrays = {name: sample(size, seed=2, low=0.5) for name, size in options.items()}
    tensors = {name: torch.tensor(array) for name, array in arrays.items()}
    expected = REDUCTIONS[reduction](bce(x, t, arrays.get("weight", 1.0), arrays.get("pos_weight", 1.0)))
    result = F.binary_cross_entropy_with_logits(
        torch.tensor(x), torch.tensor(t), reduction=reduction, **tensors
    )
    assert_tensor(result, expected, tolerance=1e-11)
    loss = torch.nn.BCEWithLogitsLoss(reduction=reduction, **tensors)
    assert_tensor(loss(torch.tensor(x), torch.tensor(t)), expected, tolerance=1e-11)
    check_gradient(
        lambda a, b: F.binary_cross_entropy_with_logits(a, b, reduction=reduction, **tensors),
        x,
        t,
        tolerance=1e-5,
    )


def test_binary_cross_entropy_with_logits_is_stable():
    x = torch.tensor([1000.0, -1000.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, torch.tensor([0.0, 0.0]), reduction="none")
    assert loss.tolist() == [1000.0, 0.0]
    loss.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


def cross_entropy(x, target, weight=None, ignore=-100, smoothing=0.0, reduction="mean"):
    """The formula for integer targets; classes in dimension 1."""
    classes = x.shape[1]
    weight = np.ones(classes) if weight is None else weight
    logs = np.log(softmax(x, 1))
    losses, weights = np.zeros(target.shape), np.zeros(target.shape)
    for place in np.ndindex(target.shape):
        c = target[place]
        if c == ignore:
            continue
        row = logs[(place[0], slice(None), *place[1:])]
        losses[place] = -(1 - smoothing) * weight[c] * row[c] - smoothing / classes * (weight * row).sum()
        weights[place] = weight[c]
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / weights.sum()}[reduction]


OPTIONS = [{}, {"weight": True}, {"ignore_index": 1}, {"label_smoothing": 0.2}]
OPTIONS += [{"weight": True, "ignore_index": 1}, {"weight": True, "ignore_index": 1, "label_smoothing": 0.3}]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 2), (2, 3, 2, 2)], ids=str)
def test_cross_entropy_of_classes_agrees_with_its_formula(shape, options, reduction):
    x = sample(*shape)
    target = np.random.default_rng(5).integers(0, 3, (shape[0], *shape[2:]))
    target.flat[:3] = [0, 1, 2]
    weight = sample(3, seed=2, low=0.5) if "weight" in options else None
    expected = cross_entropy(
        x, target, weight, options.get("ignore_index", -100), options.get("label_smoothing", 0.0), reduction
    )
    arguments = dict(options, reduction=reduction)
    if weight is not None:
        arguments["weight"] = torch.tensor(weight)
    assert_tensor(
        F.cross_entropy(torch.tensor(x), torch.tensor(target), **arguments), expected, tolerance=1e-11
    )
    assert_tensor(
        torch.nn.CrossEntropyLoss(**arguments)(torch.tensor(x), torch.tensor(target)),
        expected,
        tolerance=1e-11,
    )
    check_gradient(lambda v: F.cross_entropy(v, torch.tensor(target), **arguments), x)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize(
    "options",
    [{}, {"weight": True}, {"label_smoothing": 0.2}, {"weight": True, "label_smoothing": 0.2}],
    ids=str,
)
def test_cross_entropy_takes_probabilities(options, reduction):
    x, p = sample(4, 3), softmax(sample(4, 3, seed=1), 1)
    smoothing = options.get("label_smoothing", 0.0)
    weight = sample(3, seed=2, low=0.5) if "weight" in options else np.ones(3)
    losses = -(weight * (p * (1 - smoothing) + smoothing / 3) * np.log(softmax(x, 1))).sum(1)
    expected = REDUCTIONS[reduction](losses)
    arguments = dict(options, reduction=reduction)
    if "weight" in options:
        arguments["weight"] = torch.tensor(weight)
    assert_tensor(F.cross_entropy(torch.tensor(x), torch.tensor(p), **arguments), expected, tolerance=1e-11)
    check_gradient(lambda a, b: F.cross_entropy(a, b, **arguments), x, p)


def test_cross_entropy_takes_one_sample():
    x = sample(3)
    assert_tensor(F.cross_entropy(torch.tensor(x), torch.tensor(2)), -np.log(softmax(x, 0))[2])


def test_the_mean_over_nothing_but_ignored_targets_is_nan():
    x = torch.ones(2, 3, requires_grad=True)
    loss = F.cross_entropy(x, torch.tensor([-100, -100]))
    assert loss.isnan().item()
    assert F.cross_entropy(x, torch.tensor([-100, -100]), reduction="sum").item() == 0.0


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("options", [{}, {"weight": True}, {"ignore_index": 1}], ids=str)
@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 2)], ids=str)
def test_nll_loss_picks_and_weighs(shape, options, reduction):
    x = np.log(softmax(sample(*shape), 1))
    target = np.random.default_rng(5).integers(0, 3, (shape[0], *shape[2:]))
    weight = sample(3, seed=2, low=0.5) if "weight" in options else None
    expected = cross_entropy(x, target, weight, options.get("ignore_index", -100), reduction=reduction)
    arguments = dict(options, reduction=reduction)
    if weight is not None:
        arguments["weight"] = torch.tensor(weight)
    assert_tensor(F.nll_loss(torch.tensor(x), torch.tensor(target), **arguments), expected, tolerance=1e-11)
    assert_tensor(
        torch.nn.NLLLoss(**arguments)(torch.tensor(x), torch.tensor(target)), expected, tolerance=1e-11
    )
    check_gradient(lambda v: F.nll_loss(v, torch.tensor(target), **arguments), x)


def test_second_derivatives_of_losses_follow_their_formulas():
    x = torch.tensor(sample(3), requires_grad=True)
    loss = F.cross_entropy(x.view(1, 3), torch.tensor([1]))
    (first,) = torch.autograd.grad(loss, x, create_graph=True)
    rows = [torch.autograd.grad(first[i], x, retain_graph=True)[0].numpy() for i in range(3)]
    p = softmax(sample(3), 0)
    np.testing.assert_allclose(np.stack(rows), np.diag(p) - np.outer(p, p), rtol=1e-10)
    t = torch.tensor(sample(3, seed=1, low=0, high=1))
    loss = F.binary_cross_entropy_with_logits(x, t, reduction="sum")
    (first,) = torch.autograd.grad(loss, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    s = 1 / (1 + np.exp(-sample(3)))
    assert_tensor(second, s * (1 - s), tolerance=1e-10)


@pytest.mark.parametrize("loss", [F.huber_loss, F.soft_margin_loss])
def test_losses_have_the_type_of_the_input_and_not_of_the_target(loss):
    for own, other in ((torch.float32, torch.float64), (torch.float16, torch.float32)):
        x = torch.tensor([0.5, -1.0, 3.0], dtype=own, requires_grad=True)
        target = torch.tensor([1.0, -1.0, 1.0], dtype=other)
        for reduction in ("none", "mean", "sum"):
            found = loss(x, target, reduction=reduction)
            assert found.dtype == own
            torch.testing.assert_close(found, loss(x, target.to(own), reduction=reduction))
        (gradient,) = torch.autograd.grad(loss(x, target), x)
        torch.testing.assert_close(gradient, torch.autograd.grad(loss(x, target.to(own)), x)[0])


def test_weights_that_want_a_gradient_are_refused_where_it_is_recorded():
    weight, target = torch.ones(3, requires_grad=True), torch.tensor([0, 1])
    message = "The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'"
    with pytest.raises(RuntimeError, match=message):
        F.cross_entropy(torch.ones(2, 3), target, weight=weight)
    for off in (torch.no_grad(), torch.inference_mode()):
        with off:
            loss = F.cross_entropy(torch.ones(2, 3), target, weight=weight)
        assert loss.item() == pytest.approx(1.0986, abs=1e-4)
    layer = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        assert F.batch_norm(torch.ones(2, 3), layer, torch.ones(3)).shape == (2, 3)
