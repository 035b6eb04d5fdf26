"""Subclasses put pieces of their own in the place of those that layers are made of, and call the others."""

import pytest
import rushlight as torch
from rushlight import nn
from support import raises


def test_a_convolution_calls_its_piece_with_the_weight():
    class Doubled(nn.Conv2d):
        def _conv_forward(self, input, weight, bias):
            return super()._conv_forward(input, 2 * weight, bias)

    convolution = Doubled(1, 1, 3, padding=1, padding_mode="circular", bias=False)
    x = torch.arange(16.0).view(1, 1, 4, 4)
    assert torch.equal(convolution(x), 2 * nn.Conv2d._conv_forward(convolution, x, convolution.weight, None))


@pytest.mark.parametrize(
    ("make", "around"),
    [
        (lambda: nn.Conv2d(1, 1, 3, padding=(1, 2)), (2, 2, 1, 1)),
        (lambda: nn.Conv2d(1, 1, (3, 4), padding="same", dilation=2), [3, 3, 2, 2]),
        (lambda: nn.Conv1d(1, 1, 4, padding="valid"), [0, 0]),
        (lambda: nn.ConvTranspose1d(1, 1, 3, padding=1), (1, 1)),
    ],
)
def test_a_convolution_says_what_it_adds_around(make, around):
    assert make()._reversed_padding_repeated_twice == around


def test_a_transposed_convolution_says_what_it_adds_behind():
    layer = nn.ConvTranspose2d(1, 1, 3, stride=2)
    x = torch.zeros(1, 1, 4, 4)
    sizes = layer.stride, layer.padding, layer.kernel_size
    assert list(layer._output_padding(x, [10, 9], *sizes, 2, (1, 1))) == [1, 0]
    assert list(layer._output_padding(x, [10, 9], *sizes, 2)) == [1, 0]
    assert list(layer._output_padding(x, None, *sizes, 2)) == [0, 0]
    with raises(ValueError, "requested an output size of [12, 9], but valid sizes range from [9, 9]"):
        layer._output_padding(x, [12, 9], *sizes, 2)


def test_the_class_below_convolutions_is_constructed_as_torchs():
    class Own(nn.modules.conv._ConvNd):
        def __init__(self, *sides):
            super().__init__(
                *sides, (3,), (1,), (1,), (1,), False, (0,), 1, True, "zeros", device=None, dtype=None
            )

        def forward(self, input):
            return nn.functional.conv1d(input, self.weight, self.bias, self.stride, self.padding)

    layer = Own(2, 4)
    assert repr(layer) == "Own(2, 4, kernel_size=(3,), stride=(1,), padding=(1,))"
    assert layer.transposed is False
    assert layer.weight.shape == (4, 2, 3)
    assert layer(torch.ones(1, 2, 5)).shape == (1, 4, 5)
    assert nn.ConvTranspose1d(1, 1, 1).transposed is True

    class OwnTransposed(nn.modules.conv._ConvTransposeNd):
        pass

    arguments = (2, 4, (3,), (2,), (1,), (1,), True, (1,), 1, False)
    layer = OwnTransposed(*arguments, "zeros")
    assert layer.weight.shape == (2, 4, 3)
    assert layer.bias is None
    with raises(ValueError, 'Only "zeros" padding mode is supported for OwnTransposed'):
        OwnTransposed(*arguments, "circular")


def test_a_norm_may_want_other_inputs():
    class OfVolumes(nn.modules.batchnorm._BatchNorm):
        def _check_input_dim(self, input):
            if input.dim() != 5:
                raise ValueError(f"a volume, not {input.dim()}D")

    norm = OfVolumes(2)
    assert norm(torch.ones(1, 2, 2, 2, 2)).shape == (1, 2, 2, 2, 2)
    with raises(ValueError, "a volume, not 2D"):
        norm(torch.ones(3, 2))


def test_layers_of_transformers_call_their_blocks():
    calls = []

    class Encoder(nn.TransformerEncoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            calls.append(("sa", attn_mask, is_causal))
            return super()._sa_block(x, attn_mask, key_padding_mask, is_causal)

        def _ff_block(self, x):
            calls.append("ff")
            return torch.zeros_like(x)

    class Decoder(nn.TransformerDecoderLayer):
        def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
            calls.append("sa")
            return super()._sa_block(x, attn_mask, key_padding_mask, is_causal)

        def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
            calls.append(mem.shape)
            return super()._mha_block(x, mem, attn_mask, key_padding_mask, is_causal)

    x, memory = torch.ones(3, 2, 4), torch.ones(5, 2, 4)
    encoder = Encoder(4, 2, dim_feedforward=8, norm_first=True, dropout=0.0)
    inner = nn.TransformerEncoderLayer._sa_block(encoder, encoder.norm1(x), None, None)
    assert torch.allclose(encoder(x), x + inner)
    assert calls == [("sa", None, False), "ff"]
    calls.clear()
    Decoder(4, 2, dim_feedforward=8)(x, memory)
    assert calls == ["sa", (5, 2, 4)]


def test_a_chain_repeats():
    chain = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    for repeated in (chain * 2, 2 * chain):
        assert [type(module) for module in repeated] == [nn.Linear, nn.ReLU] * 2
        assert repeated[2] is chain[0]
    same = chain
    same *= 3
    assert same is chain
    assert len(chain) == 6
    with raises(ValueError, "Non-positive multiplication factor 0 for "):
        chain * 0
    with raises(TypeError, "unsupported operand type(s) for *: "):
        chain *= 1.5


def test_a_chain_grows_by_another():
    chain = same = nn.Sequential(nn.ReLU())
    chain += nn.Sequential(nn.Tanh(), nn.Sigmoid())
    assert chain is same
    assert [type(module) for module in chain] == [nn.ReLU, nn.Tanh, nn.Sigmoid]
    with raises(ValueError, "add operator supports only objects of Sequential class, but <class 'list'>"):
        chain += [nn.ReLU()]


def test_dictionaries_of_parameters_join():
    left = nn.ParameterDict({"x": torch.ones(1), "y": torch.ones(1)})
    right = nn.ParameterDict({"y": torch.zeros(1), "z": torch.ones(1)})
    joined = left | right
    assert list(joined) == ["x", "y", "z"]
    assert joined["y"] is right["y"]
    assert list(left) == ["x", "y"]
    assert ({"w": 1, "x": 2} | left) == {"w": 1, "x": left["x"], "y": left["y"]}
    same = left
    same |= right
    assert same is left
    assert list(left) == ["x", "y", "z"]
    assert left.fromkeys(["p"]).get("p") is None
    assert isinstance(left.fromkeys(["p"], torch.ones(1))["p"], nn.Parameter)
