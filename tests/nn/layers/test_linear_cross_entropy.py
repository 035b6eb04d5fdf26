"""The cross entropy of what a linear layer makes of its input."""

import pytest
import rushlight as torch

nn = torch.nn
F = nn.functional
X = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).sin().requires_grad_()
WEIGHT = torch.arange(12.0, dtype=torch.float64).cos().reshape(4, 3).requires_grad_()
TARGET = torch.tensor([1, 2])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reduction": "none"},
        {"reduction": "sum", "label_smoothing": 0.1},
        {"ignore_index": 1},
        {"weight": torch.tensor([1.0, 2, 3, 4], dtype=torch.float64)},
    ],
)
def test_it_is_the_loss_of_the_logits(options):
    bias = torch.arange(4.0, dtype=torch.float64).requires_grad_()
    expected = F.cross_entropy(F.linear(X, WEIGHT, bias), TARGET, **options)
    found = F.linear_cross_entropy(X, WEIGHT, TARGET, linear_bias=bias, **options)
    torch.testing.assert_close(found, expected)
    inputs = (X, WEIGHT, bias)
    for one, other in zip(
        torch.autograd.grad(found.sum(), inputs), torch.autograd.grad(expected.sum(), inputs), strict=True
    ):
        torch.testing.assert_close(one, other)


def test_classes_may_be_probable_and_losses_many():
    weight = torch.arange(24.0).cos().reshape(4, 2, 3)
    x = X.detach().float()
    logits = F.linear(x, weight.reshape(8, 3)).view(2, 4, 2)
    target = torch.arange(16.0).sin().reshape(2, 4, 2).softmax(1)
    torch.testing.assert_close(F.linear_cross_entropy(x, weight, target), F.cross_entropy(logits, target))
    with pytest.raises(RuntimeError, match="ignore_index cannot be specified when target contains"):
        F.linear_cross_entropy(x, weight, target, ignore_index=1)


@pytest.mark.parametrize(
    ("x", "weight", "options", "message"),
    [
        ((), (4, 3), {}, "expected input with dimensionality 1 or 2, got 0"),
        ((3,), (3,), {}, "expected linear_weight with dimensionality at least 2, got 1"),
        (
            (2, 3),
            (4, 2),
            {},
            "expected equal input and linear_weight last dimensions (in_features), got 3 and 2, respectively",
        ),
        (
            (3,),
            (4, 5, 3),
            {},
            "K-dimensional loss defined by linear_weight shape (4, 5, 3) requires batched input, (N, 3), got "
            "unbatched input with shape (3,)",
        ),
        ((2, 3), (4, 5, 3), {"linear_bias": torch.ones(4)}, "expected linear_bias shape (4, 5), got (4,)"),
    ],
)
def test_sizes_that_do_not_go_together_are_refused(x, weight, options, message):
    with pytest.raises(RuntimeError) as caught:
        F.linear_cross_entropy(torch.ones(x), torch.ones(weight), TARGET, **options)
    assert str(caught.value) == message


def test_the_module_has_a_layer_of_its_own():
    loss = nn.LinearCrossEntropyLoss(5, 10, out_features=(4, 3), bias=True)
    shapes = {name: tuple(one.shape) for name, one in loss.named_parameters()}
    assert shapes == {"linear.weight": (120, 5), "linear.bias": (120,)}
    assert repr(loss).splitlines()[1].strip() == (
        "in_features=5, num_classes=10, out_features=(4, 3), bias=True, reduction=mean, ignore_index=None, "
        "label_smoothing=0.0, options=None"
    )
    target = torch.zeros(2, 4, 3, dtype=torch.int64)
    loss(torch.ones(2, 5), target).backward()
    assert loss.linear.weight.grad.shape == (120, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acc_policy": "x"}, "invalid acc_policy: 'x'"),
        ({"chunking_method": "aspect_ratio:x"}, "invalid chunking_method: 'aspect_ratio:x'"),
        ({"batch_chunk_size": 0}, "batch_chunk_size must be positive int or None, got 0"),
    ],
)
def test_options_that_there_are_not_are_refused(options, message):
    with pytest.raises(ValueError) as caught:
        nn.LinearCrossEntropyOptions(**options)
    assert str(caught.value) == message


def test_options_leave_the_loss_what_it_is():
    options = nn.LinearCrossEntropyOptions(chunking_method="aspect_ratio:2")
    found = F.linear_cross_entropy(X, WEIGHT, TARGET, options=options)
    torch.testing.assert_close(found, F.linear_cross_entropy(X, WEIGHT, TARGET))
