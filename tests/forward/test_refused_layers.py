"""Layers that torch records as one operation without a forward direction."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.autograd import forward_ad
from rushlight.nn.functional import scaled_dot_product_attention

REFUSAL = "Trying to use forward AD with {} that does not support it because it has not been implemented yet."
ATTENTION = REFUSAL.format("_scaled_dot_product_flash_attention_for_cpu")


@pytest.fixture(autouse=True)
def level():
    with forward_ad.dual_level():
        yield


def dual(*shape, dtype=torch.float32):
    return forward_ad.make_dual(torch.rand(*shape, dtype=dtype), torch.rand(*shape, dtype=dtype))


@pytest.mark.parametrize("options", [{}, {"bidirectional": True, "num_layers": 2}, {"bias": False}])
def test_no_tangents_pass_an_lstm(options):
    layer = nn.LSTM(2, 3, **options)
    with pytest.raises(NotImplementedError, match=REFUSAL.format("mkldnn_rnn_layer")):
        layer(dual(4, 1, 2))
    layer(torch.rand(4, 1, 2))


@pytest.mark.parametrize("layer", [nn.RNN(2, 3), nn.GRU(2, 3), nn.LSTMCell(2, 3), nn.LSTM(2, 3).double()])
def test_tangents_pass_other_steps(layer):
    dtype = next(layer.parameters()).dtype
    shape = (4, 2) if isinstance(layer, nn.LSTMCell) else (4, 1, 2)
    output = layer(dual(*shape, dtype=dtype))[0]
    assert forward_ad.unpack_dual(output).tangent is not None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.3}])
def test_no_tangents_pass_attention_of_several_heads(dtype, options):
    query = dual(1, 2, 3, 4, dtype=dtype)
    plain = torch.rand(1, 2, 3, 4, dtype=dtype)
    for operands in ((query, query, query), (plain, query, plain)):
        with pytest.raises(NotImplementedError, match=ATTENTION):
            scaled_dot_product_attention(*operands, **options)


def test_tangents_pass_attention_of_one_head():
    for query in (dual(2, 3, 4), dual(3, 4)):
        assert forward_ad.unpack_dual(scaled_dot_product_attention(query, query, query)).tangent is not None


def test_no_tangents_pass_heads_that_show_no_weights():
    heads = nn.MultiheadAttention(4, 2)
    query = dual(3, 1, 4)
    assert forward_ad.unpack_dual(heads(query, query, query)[0]).tangent is not None
    with pytest.raises(NotImplementedError, match=ATTENTION):
        heads(query, query, query, need_weights=False)
