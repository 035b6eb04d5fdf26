"""`scaled_dot_product_attention`: what it is recorded as, and its gradients."""

import pytest
import rushlight as torch
from rushlight.nn.functional import scaled_dot_product_attention
from support import raises

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


def test_the_logarithms_of_the_sums_are_kept():
    query, key, value = heads()
    mask = torch.tensor([[True, False, True, True, False], [True] * 5, [False] * 5])
    node = scaled_dot_product_attention(query, key, value, attn_mask=mask).grad_fn
    scores = (query @ key.mT / 2).masked_fill(~mask, -torch.inf)
    assert torch.allclose(node._saved_logsumexp[..., :2], scores.logsumexp(-1)[..., :2])
    assert torch.equal(node._saved_logsumexp[..., 2], torch.zeros(1, 2))


def test_heads_of_queries_may_share_keys_and_values():
    torch.manual_seed(0)
    query = torch.rand(2, 4, 3, 2, dtype=torch.float64, requires_grad=True)
    key, value = (torch.rand(2, 2, 5, 2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    shared = scaled_dot_product_attention(query, key, value, enable_gqa=True)
    assert shared.grad_fn.name() == NAME
    repeated = [x.repeat_interleave(2, 1) for x in (key, value)]
    apart = scaled_dot_product_attention(query, *repeated)
    assert torch.allclose(shared, apart)
    expected = torch.autograd.grad(apart.square().sum(), (query, key, value))
    for found, known in zip(
        torch.autograd.grad(shared.square().sum(), (query, key, value)), expected, strict=True
    ):
        assert torch.allclose(found, known)


def test_a_query_that_sees_no_key_has_no_gradient():
    query, key, value = heads()
    mask = torch.tensor([[True] * 5, [False] * 5, [True] * 5])
    y = scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert torch.equal(y[..., 1, :], torch.zeros(1, 2, 4))
    (gradient,) = torch.autograd.grad(y.square().sum(), query)
    assert torch.equal(gradient[..., 1, :], torch.zeros(1, 2, 4))
    assert gradient[..., 0, :].abs().min() > 0


def test_it_lies_in_memory_as_the_queries_do():
    query, key, value = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in heads())
    y = scaled_dot_product_attention(query, key, value)
    assert y.stride() == query.stride() == (24, 4, 8, 1)


def test_one_operation_takes_a_mask_and_the_order_of_places_together():
    query, key, value = heads()
    mask = torch.tensor([[True] * 5, [False, True, True, True, True], [True, False, True, False, True]])
    together = scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=True)
    both = mask & torch.ones(3, 5).tril().bool()
    assert torch.equal(together, scaled_dot_product_attention(query, key, value, attn_mask=both))
    assert together.grad_fn._saved_is_causal
    assert together.grad_fn._saved_attn_mask.shape == (3, 5)
    with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set when is_causal=True"):
        scaled_dot_product_attention(query[0], key[0], value[0], attn_mask=mask, is_causal=True)


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("dtype", [torch.bool, torch.float64])
@pytest.mark.parametrize(
    ("batch", "mask", "text"),
    [
        (
            1,
            (2, 2),
            "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 3",
        ),
        (
            2,
            (2, 3),
            "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 2",
        ),
        (
            2,
            (0, 3),
            "The size of tensor a (3) must match the size of tensor b (0) at non-singleton dimension 2",
        ),
        (1, (5, 2, 3, 3), "output with shape [1, 2, 3, 3] doesn't match the broadcast shape [5, 2, 3, 3]"),
        (
            2,
            (5, 2, 3, 3),
            "The size of tensor a (2) must match the size of tensor b (5) at non-singleton dimension 0",
        ),
    ],
)
def test_a_mask_that_does_not_fit_the_scores_is_refused(batch, mask, text, dtype, requires_grad):
    x = torch.ones(batch, 2, 3, 4, dtype=torch.float64, requires_grad=requires_grad)
    with raises(RuntimeError, text):
        scaled_dot_product_attention(x, x, x, attn_mask=torch.ones(mask).to(dtype))
