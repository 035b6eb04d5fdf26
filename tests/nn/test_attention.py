"""`scaled_dot_product_attention`: what it is recorded as, and its gradients."""

import pytest
import rushlight as torch
from rushlight.nn.functional import scaled_dot_product_attention

NAME = "ScaledDotProductFlashAttentionForCpuBackward0"


def heads(*shape, **options):
    torch.manual_seed(0)
    return [torch.rand(1, 2, size, 4, requires_grad=True, **options) for size in (3, 5, 5)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"scale": 0.3},
        {"attn_mask": torch.zeros(3, 5)},
        {"attn_mask": torch.ones(3, 5, dtype=torch.bool)},
    ],
)
def test_of_several_heads_it_is_one_operation(options):
    query, key, value = heads()
    node = scaled_dot_product_attention(query, key, value, **options).grad_fn
    assert node.name() == NAME
    assert len(node.next_functions) == 3
    assert node._saved_query is query
    assert node._saved_key is key
    assert node._saved_value is value
    assert node._saved_dropout_p == 0
    assert node._saved_is_causal == options.get("is_causal", False)
    assert node._saved_scale == options.get("scale")
    assert (node._saved_attn_mask is None) == ("attn_mask" not in options)
    assert node._saved_output.shape == (1, 2, 3, 4)
    assert node._saved_logsumexp.shape == (1, 2, 3)


def test_otherwise_it_is_several():
    query, key, value = heads()
    mask = torch.zeros(3, 5, requires_grad=True)
    for operands, options in (
        ((query[0], key[0], value[0]), {}),
        ((query, key, value), {"attn_mask": mask}),
        ((query, key, value), {"dropout_p": 0.1}),
        ((query, key, torch.rand(1, 2, 5, 6)), {}),
    ):
        assert scaled_dot_product_attention(*operands, **options).grad_fn.name() != NAME


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": torch.ones(3, 5).tril() > 0}])
def test_its_gradients_are_those_of_one_head_at_a_time(options):
    operands = heads(dtype=torch.float64)
    whole = torch.autograd.grad(scaled_dot_product_attention(*operands, **options).square().sum(), operands)
    halves = [scaled_dot_product_attention(*(x[:, n] for x in operands), **options) for n in range(2)]
    parts = torch.autograd.grad(torch.stack(halves, 1).square().sum(), operands)
    for one, other in zip(whole, parts, strict=True):
        assert torch.allclose(one, other)


def test_its_derivative_is_checked():
    x = torch.rand(1, 1, 2, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: scaled_dot_product_attention(x, x, x), x)
