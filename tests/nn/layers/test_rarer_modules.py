"""Losses, pools, paddings and tables that few models need."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F


def filled(module):
    for number, parameter in enumerate(module.parameters()):
        count = torch.arange(parameter.numel(), dtype=parameter.dtype).view(parameter.shape)
        parameter.data.copy_((count * 0.37 + number).sin())
    return module


def near(tensor, expected):
    assert torch.allclose(tensor, torch.tensor(expected), atol=1e-4)


def test_the_adaptive_softmax_says_what_its_own_table_of_probabilities_says():
    layer = filled(nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0, head_bias=True))
    x, target = torch.arange(24.0).reshape(3, 8).cos(), torch.tensor([1, 5, 19])
    table = layer.log_prob(x)
    near(table.exp().sum(1), [1.0, 1.0, 1.0])
    output, loss = layer(x, target)
    assert torch.allclose(output, table[torch.arange(3), target])
    assert torch.allclose(loss, -output.mean())
    assert layer.predict(x).tolist() == table.argmax(1).tolist()
    assert layer(x[0], target[0]).output.shape == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda layer: layer(torch.ones(2, 8), torch.tensor([1, 20])),
            r"Target values should be in \[0, 19\]",
        ),
        (lambda layer: layer(torch.ones(2, 8), torch.tensor([1])), "should have the same size in the batch"),
        (lambda layer: layer(torch.ones(2, 8), torch.tensor(1)), "0D target tensor expects 1D input tensors"),
        (lambda layer: layer(torch.ones(2, 8), torch.tensor([[1]])), "multi-target not supported"),
    ],
)
def test_the_adaptive_softmax_refuses_targets_that_do_not_fit(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0))


@pytest.mark.parametrize("cutoffs", [[], [4, 3], [0, 2], [4, 25]])
def test_cutoffs_ascend_within_the_classes(cutoffs):
    with pytest.raises(ValueError, match="cutoffs should be a sequence of"):
        nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs)


def test_losses_as_modules_call_their_functions():
    x, wanted = torch.arange(12.0).reshape(3, 4).sin(), torch.tensor([1, 0, 3])
    module = nn.MultiMarginLoss(p=2, margin=0.5, weight=torch.ones(4))
    assert torch.equal(module(x, wanted), F.multi_margin_loss(x, wanted, p=2, margin=0.5))
    labels = torch.tensor([[1, 0, -1, 2]] * 3)
    assert torch.equal(nn.MultiLabelMarginLoss()(x, labels), F.multilabel_margin_loss(x, labels))
    scores = torch.arange(60.0).reshape(5, 2, 6).sin().log_softmax(2)
    arguments = scores, torch.tensor([[1, 2], [3, 4]]), (5, 4), (2, 1)
    assert torch.equal(nn.CTCLoss(reduction="sum")(*arguments), F.ctc_loss(*arguments, reduction="sum"))
    assert (
        repr(nn.TripletMarginWithDistanceLoss())
        == "TripletMarginWithDistanceLoss(\n  (distance_function): PairwiseDistance()\n)"
    )
    far = nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), margin=2.0)
    near(far(x, x + 1, x - 1), 2.0)


def test_margins_and_powers_are_checked():
    with pytest.raises(ValueError, match="only p == 1 and p == 2 supported"):
        nn.MultiMarginLoss(p=3)
    with pytest.raises(ValueError, match="expected weight to be None or 1D tensor, got 2D instead"):
        nn.MultiMarginLoss(weight=torch.ones(4, 1))
    with pytest.raises(ValueError, match="expected margin to be greater than 0, got 0 instead"):
        nn.TripletMarginWithDistanceLoss(margin=0)


def test_a_bag_of_embeddings_adds_up_averages_or_compares():
    table = torch.arange(12.0).reshape(4, 3)
    bags = torch.tensor([0, 2, 1]), torch.tensor([0, 2])
    for mode, expected in (("sum", [6.0, 8, 10]), ("mean", [3.0, 4, 5]), ("max", [6.0, 7, 8])):
        layer = nn.EmbeddingBag.from_pretrained(table, mode=mode)
        assert layer(*bags)[0].tolist() == expected
        assert not layer.weight.requires_grad
    assert repr(nn.EmbeddingBag(10, 3, mode="sum", padding_idx=-1)) == (
        "EmbeddingBag(10, 3, mode='sum', padding_idx=9)"
    )


def test_a_response_is_divided_by_that_of_neighbouring_channels():
    x = torch.arange(12.0).reshape(1, 6, 2, 1)
    found = nn.CrossMapLRN2d(3, alpha=0.5, beta=0.6, k=2)(x).flatten()
    near(found[:4], [0.0, 0.4586, 0.7325, 0.8725])
    near(found[-2:], [1.3170, 1.2848])


def test_circular_paddings_show_the_other_end():
    x = torch.arange(4.0).reshape(1, 2, 2)
    assert nn.CircularPad1d((1, 0))(x).tolist() == [[[1.0, 0.0, 1.0], [3.0, 2.0, 3.0]]]
    assert nn.CircularPad2d(1)(x).shape == (1, 4, 4)
    assert repr(nn.CircularPad3d(1)) == "CircularPad3d((1, 1, 1, 1, 1, 1))"
    with pytest.raises(ValueError, match=r"expected 2D or 3D input \(got 1D input\)"):
        nn.CircularPad1d(1)(torch.ones(3))


def test_fractional_pools_spread_windows_as_their_samples_say():
    x = torch.arange(252.0).reshape(2, 3, 7, 6).sin()
    samples = torch.tensor([[[0.3, 0.7]] * 3] * 2)
    values, places = F.fractional_max_pool2d(
        x, 2, output_size=(3, 4), return_indices=True, _random_samples=samples
    )
    assert values.shape == (2, 3, 3, 4)
    assert torch.equal(x.flatten(2).gather(2, places.flatten(2)).view(values.shape), values)
    assert nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.5))(x).shape == (2, 3, 3, 3)
    assert nn.FractionalMaxPool3d(1, output_size=2)(x).shape == (2, 2, 2, 2)
    with pytest.raises(ValueError, match="only one of output_size and output_ratio may be specified"):
        nn.FractionalMaxPool2d(2, 3, 0.5)
    with pytest.raises(RuntimeError, match="pool height 5 too large relative to input height 7"):
        F.fractional_max_pool2d(x, 5, 4)


def test_adaptive_pools_say_where_the_greatest_elements_are():
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    values, places = F.adaptive_max_pool2d_with_indices(x, 2)
    assert values.flatten().tolist() == [5.0, 7.0, 13.0, 15.0] == places.flatten().tolist()


@pytest.mark.parametrize(
    ("shape", "dim"), [((1, 0, 4, 4), 1), ((1, 1, 0, 4), 2), ((0, 0, 4, 4), 1), ((0, 0, 0), 1)]
)
def test_windows_by_chance_need_samples(shape, dim):
    words = "fractional_max_pool2d(): Expected input to have non-zero size for non-batch dimensions, but got"
    with pytest.raises(RuntimeError) as raised:
        F.fractional_max_pool2d(torch.ones(shape), 2, output_size=(1, 1))
    assert str(raised.value) == f"{words}{list(shape)} with dimension {dim} being empty."
    assert F.fractional_max_pool2d(torch.ones(0, 1, 4, 4), 2, output_size=(1, 1)).shape == (0, 1, 1, 1)
    with pytest.raises(RuntimeError, match=r"got\[1, 0, 4, 4, 4\] with dimension 1 being empty"):
        F.fractional_max_pool3d(torch.ones(1, 0, 4, 4, 4), 2, output_size=(1, 1, 1))
