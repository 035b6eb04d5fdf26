"""Layers with and without parameters: what they show, compute and differentiate."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F
from support import assert_tensor, raises

SHOWN = [
    (
        lambda: nn.Conv2d(2, 4, 3, padding=1),
        "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))",
    ),
    (lambda: nn.ConvTranspose1d(1, 1, 1), "ConvTranspose1d(1, 1, kernel_size=(1,), stride=(1,))"),
    (
        lambda: nn.BatchNorm1d(3),
        "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
    ),
    (lambda: nn.LayerNorm(3), "LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)"),
    (lambda: nn.Embedding(3, 2, padding_idx=-1), "Embedding(3, 2, padding_idx=2)"),
    (lambda: nn.Dropout(0.1), "Dropout(p=0.1, inplace=False)"),
    (lambda: nn.ReLU6(), "ReLU6()"),
    (lambda: nn.LeakyReLU(0.2, inplace=True), "LeakyReLU(negative_slope=0.2, inplace=True)"),
    (lambda: nn.MaxPool2d(2), "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"),
    (lambda: nn.PReLU(), "PReLU(num_parameters=1)"),
    (lambda: nn.ZeroPad2d(1), "ZeroPad2d((1, 1, 1, 1))"),
]


@pytest.mark.parametrize(("make", "text"), SHOWN, ids=[text.partition("(")[0] for _, text in SHOWN])
def test_a_layer_shows_its_arguments(make, text):
    assert repr(make()) == text


def test_a_convolution_adds_up_its_windows():
    x = torch.arange(9.0).view(1, 1, 3, 3)
    weight = torch.tensor([[[[1.0, 0.0], [0.0, -1.0]]]])
    assert_tensor(F.conv2d(x, weight), [[[[-4, -4], [-4, -4]]]])
    assert F.conv2d(x, torch.ones(1, 1, 3, 3), padding="same").shape == (1, 1, 3, 3)
    assert type(F.conv2d(x, weight.requires_grad_()).grad_fn).__name__ == "ConvolutionBackward0"


def test_a_transposed_convolution_is_the_transpose():
    torch.manual_seed(0)
    x, y = torch.randn(1, 2, 5, 5), torch.randn(1, 3, 3, 3)
    weight = torch.randn(3, 2, 3, 3)
    forth = (F.conv2d(x, weight) * y).sum()
    back = (F.conv_transpose2d(y, weight) * x).sum()
    assert_tensor(forth, back.numpy(), tolerance=1e-4)


def test_batch_normalisation_wants_room_in_the_deviation():
    x, mean, variance = torch.ones(2, 1), torch.zeros(1), torch.ones(1)
    for eps in (0.0, -1.0):
        with raises(ValueError, f"batch_norm eps must be positive during training, but got {eps}"):
            F.batch_norm(x, mean, variance, training=True, eps=eps)
    assert F.batch_norm(x, mean, variance, eps=0.0).tolist() == x.tolist()
    with raises(ValueError, "batch_norm eps must be non-negative, but got -1.0"):
        F.batch_norm(x, mean, variance, eps=-1.0)


def test_batch_normalisation_remembers_mean_and_variance():
    layer = nn.BatchNorm1d(1)
    layer(torch.tensor([[1.0], [3.0]]))
    assert_tensor(layer.running_mean, [0.2])
    assert_tensor(layer.running_var, [1.1])
    assert layer.num_batches_tracked.item() == 1
    layer.eval()
    before = layer.running_mean.clone()
    layer(torch.tensor([[5.0], [9.0]]))
    assert torch.equal(layer.running_mean, before)


def test_dropout_scales_what_it_keeps_and_rests_in_evaluation():
    torch.manual_seed(0)
    dropped = F.dropout(torch.ones(1000), 0.25)
    kept = dropped[dropped != 0]
    assert_tensor(kept, torch.full_like(kept, 1 / 0.75).numpy())
    assert 650 < len(kept) < 850
    layer = nn.Dropout().eval()
    x = torch.ones(3)
    assert layer(x) is x


def test_the_greatest_of_a_window_gets_the_gradient():
    x = torch.tensor([[[[1.0, 4.0], [3.0, 2.0]]]], requires_grad=True)
    y, place = F.max_pool2d(x, 2, return_indices=True)
    y.sum().backward()
    assert place.item() == 1
    assert_tensor(x.grad, [[[[0, 1], [0, 0]]]])


def test_the_row_for_padding_gets_no_gradient():
    table = torch.ones(3, 2, requires_grad=True)
    F.embedding(torch.tensor([0, 1, 1]), table, padding_idx=0).sum().backward()
    assert_tensor(table.grad, [[0, 0], [2, 2], [0, 0]])


REFUSED = [
    (
        "F.conv2d(torch.ones(1, 2, 4, 4), torch.ones(4, 3, 3, 3))",
        "Given groups=1, weight of size [4, 3, 3, 3], expected input[1, 2, 4, 4] to have 3 channels, but got 2 "
        "channels instead",
    ),
    (
        "F.max_pool2d(torch.ones(1, 3, 8, 8), 9)",
        "Given input size: (3x8x8). Calculated output size: (3x0x0). Output size is too small",
    ),
    (
        "F.layer_norm(torch.ones(2, 8), (7,))",
        "Given normalized_shape=[7], expected input with shape [*, 7], but got input of size[2, 8]",
    ),
    ("F.pad(torch.ones(2), (1,))", "Padding length must be divisible by 2"),
]


@pytest.mark.parametrize(("source", "text"), REFUSED, ids=[source for source, _ in REFUSED])
def test_what_does_not_fit_is_refused_in_these_words(source, text):
    with raises(RuntimeError, text):
        eval(source)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "RMSprop", "Adagrad"])
def test_an_optimiser_comes_nearer_to_the_least(name):
    x = nn.Parameter(torch.tensor([1.0, -2.0]))
    optimiser = getattr(torch.optim, name)([x], lr=0.1)
    for _ in range(20):
        optimiser.zero_grad()
        (x**2).sum().backward()
        optimiser.step()
    assert (x**2).sum() < 4.0
    assert optimiser.state_dict()["state"][0]["step"].item() == 20


def test_gradients_are_clipped_to_a_norm():
    x = torch.ones(2, requires_grad=True)
    (x * torch.tensor([3.0, 4.0])).sum().backward()
    assert nn.utils.clip_grad_norm_([x], 1.0).item() == 5.0
    assert_tensor(x.grad, [0.6, 0.8], tolerance=1e-5)


def test_a_list_of_parameters_names_them_by_number():
    layer = nn.Module()
    layer.weights = nn.ParameterList([torch.zeros(2), torch.ones(1)])
    assert [name for name, _ in layer.named_parameters()] == ["weights.0", "weights.1"]
    assert isinstance(layer.weights[-1], nn.Parameter)


def test_a_line_of_elements_has_no_channels_to_normalise():
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-1, 0\]"):
        F.batch_norm(torch.ones(3), None, None, training=True)
    one = torch.ones(1)
    assert F.batch_norm(torch.ones(0), one, one).shape == (0,)


def test_normalising_samples_by_what_was_remembered_needs_something_remembered():
    text = "Expected running_mean and running_var to be defined when use_input_stats is false"
    with pytest.raises(RuntimeError, match=f"^{text}$"):
        F.instance_norm(torch.ones(2, 3, 4), use_input_stats=False)
