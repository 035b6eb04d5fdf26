"""What encoders return for places that are padding: nothing, where torch leaves them out."""

import warnings

import pytest
import rushlight as torch
from rushlight import nn

PADDING = [[False, False, True], [False, True, True]]


def encoder(**options):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, **options)
    return nn.TransformerEncoder(layer, 2).eval()


def some():
    torch.manual_seed(1)
    return torch.randn(2, 3, 4), torch.tensor(PADDING)


def test_that_places_left_out_come_back_as_zeros():
    model, (x, padding) = encoder(), some()
    with torch.no_grad():
        found = model(x, src_key_padding_mask=padding)
    recorded = model(x, src_key_padding_mask=padding)
    assert (found[padding] == 0).all()
    assert not (recorded[padding] == 0).any()
    torch.testing.assert_close(found[~padding], recorded[~padding].detach())


def test_that_the_last_norm_comes_behind_the_zeros():
    model, (x, padding) = encoder(), some()
    model.norm = nn.LayerNorm(4)
    nn.init.ones_(model.norm.bias)
    with torch.inference_mode():
        found = model(x, src_key_padding_mask=padding)
    assert (found[padding] == 1).all()


@pytest.mark.parametrize("why", ["a gap", "a mask", "training", "not asked for", "norm first"])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor", "ignore:Support for mismatched")
def test_that_all_places_are_computed_elsewhere(why):
    model, (x, padding) = encoder(norm_first=why == "norm first", dropout=0.0), some()
    if why == "a gap":
        padding = torch.tensor([[False, True, False], [True, False, True]])
    if why == "training":
        model.train()
    if why == "not asked for":
        model = nn.TransformerEncoder(model.layers[0], 2, enable_nested_tensor=False).eval()
    mask = torch.zeros(3, 3) if why == "a mask" else None
    with torch.no_grad():
        assert not (model(x, mask, padding)[padding] == 0).any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"norm_first": True}, ".norm_first was True"),
        ({"bias": False}, ".self_attn was passed bias=False"),
        ({"activation": nn.functional.silu}, ".activation_relu_or_gelu was not True"),
    ],
)
def test_that_an_encoder_says_why_it_computes_all_places(options, words):
    with pytest.warns(UserWarning, match="self.use_nested_tensor is False because encoder_layer" + words):
        assert not encoder(**options).use_nested_tensor
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert encoder(activation="gelu").use_nested_tensor


def test_that_masks_are_told_by_the_names_of_the_caller():
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    x, padding = some()
    with pytest.warns(UserWarning, match="mismatched src_key_padding_mask and src_mask"):
        layer(x, torch.zeros(3, 3), padding)
    with pytest.raises(AssertionError, match="only bool and floating types of src_key_padding_mask"):
        layer(x, src_key_padding_mask=padding.int())
