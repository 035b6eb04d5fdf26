"""What layers compute, for many samples at once."""

import pytest
import rushlight as torch
from rushlight.func import grad, vmap
from support import looped, numbers, raises

F = torch.nn.functional


INPUT, WEIGHT, BIAS = numbers(3, 2, 4, 5, 5), numbers(3, 6, 4, 3, 3), numbers(3, 6)
CLASSES = torch.tensor([[0, 1], [2, 3], [1, 1]])


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (lambda x: F.conv2d(x, WEIGHT[0], BIAS[0], padding=1), [INPUT]),
        (lambda w: F.conv2d(INPUT[0], w, BIAS[0], stride=2), [WEIGHT]),
        (lambda b: F.conv2d(INPUT[0], WEIGHT[0], b), [BIAS]),
        (lambda x, w, b: F.conv2d(x, w, b), [INPUT, WEIGHT, BIAS]),
        (lambda x, w: F.conv2d(x, w, groups=2), [INPUT, WEIGHT[:, :, :2]]),
        (lambda x, w: F.conv_transpose2d(x, w), [INPUT, numbers(3, 4, 2, 3, 3)]),
        (lambda x: F.max_pool2d(x, 2), [INPUT]),
        (lambda x: F.avg_pool2d(x, 2), [INPUT]),
        (lambda x: F.layer_norm(x, (5,)), [INPUT]),
        (lambda x: F.batch_norm(x, None, None, training=True), [INPUT]),
        (lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4)), [INPUT]),
        (lambda x: F.pad(x, (1, 2)), [INPUT]),
        (lambda i: F.embedding(i, numbers(5, 2)), [CLASSES]),
        (lambda w: F.embedding(CLASSES[0], w), [numbers(3, 5, 2)]),
        (lambda x, y: F.nll_loss(x, y, weight=numbers(4) + 2), [numbers(3, 2, 4), CLASSES]),
        (lambda x, y: F.cross_entropy(x, y, reduction="none", ignore_index=1), [numbers(3, 2, 4), CLASSES]),
        (lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), [numbers(3, 2, 4), CLASSES]),
        (lambda x, y: F.smooth_l1_loss(x, y), [numbers(3, 4), numbers(3, 4) + 0.5]),
    ],
)
def test_layers_of_samples_are_those_of_each(func, args):
    torch.testing.assert_close(vmap(func)(*args), looped(func, *args), rtol=1e-4, atol=1e-5)


def test_a_convolution_has_gradients_for_each_sample():
    def loss(weight, bias, x):
        return F.conv2d(x.unsqueeze(0), weight, bias).tanh().pow(2).sum()

    of_each = grad(loss, argnums=(0, 1, 2))
    found = vmap(of_each, in_dims=(None, None, 0))(WEIGHT[0], BIAS[0], INPUT[:, 0])
    for sample in range(3):
        expected = of_each(WEIGHT[0], BIAS[0], INPUT[sample, 0])
        torch.testing.assert_close(tuple(part[sample] for part in found), expected, rtol=1e-4, atol=1e-4)


def test_rows_of_a_table_have_gradients_for_each_sample():
    def loss(table, i):
        return F.embedding(i, table).pow(2).sum()

    found = vmap(grad(loss), in_dims=(None, 0))(numbers(5, 2), CLASSES)
    torch.testing.assert_close(found, torch.stack([grad(loss)(numbers(5, 2), i) for i in CLASSES]))


def test_running_statistics_that_samples_share_are_not_moved_by_each():
    with raises(
        RuntimeError, "Batch norm got a batched tensor as input while the running_mean or running_var, which"
    ):
        vmap(lambda x: F.batch_norm(x, torch.zeros(4), torch.ones(4), training=True))(INPUT)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_losses_of_labels_are_mapped_over_sequences_and_labels():
    steps, labels = (
        torch.randn(3, 4, 2, 5).log_softmax(-1),
        torch.tensor([[[1, 2]] * 2, [[3, 3]] * 2, [[4, 1]] * 2]),
    )

    def loss(steps, labels):
        return torch.nn.functional.ctc_loss(steps, labels, (4, 3), (2, 1), reduction="none")

    expected = torch.stack([loss(*sample) for sample in zip(steps, labels, strict=True)])
    torch.testing.assert_close(vmap(loss)(steps, labels), expected)
    torch.testing.assert_close(vmap(loss, in_dims=(None, 0))(steps[0], labels)[0], expected[0])


def test_losses_of_sequences_have_the_gradients_of_each_where_the_mapping_is_differentiated():
    steps = numbers(3, 4, 2, 5).log_softmax(-1).requires_grad_()
    labels = torch.tensor([[[1, 2], [3, 1]], [[2, 2], [1, 4]], [[4, 3], [3, 2]]])

    def loss(steps, labels):
        return F.ctc_loss(steps, labels, [4, 3], [2, 1], reduction="none")

    found = torch.autograd.grad(vmap(loss)(steps, labels).sum(), steps)
    torch.testing.assert_close(found, torch.autograd.grad(looped(loss, steps, labels).sum(), steps))
