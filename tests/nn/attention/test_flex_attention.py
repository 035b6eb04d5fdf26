"""Attention with functions that change scores and mask them."""

import math

import pytest
import rushlight as torch
from rushlight.nn.attention.flex_attention import (
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)
from support import raises


def causal(b, h, q, k):
    return q >= k


def near(b, h, q, k):
    return (q - k).abs() <= 1


def inputs(*shape):
    return [torch.randn(*shape) for _ in range(3)]


@pytest.mark.own
@pytest.mark.parametrize("scale", [None, 0.3])
def test_scores_are_changed_and_masked(scale):
    q, k, v = inputs(2, 3, 5, 4)
    slopes = torch.arange(3.0)
    mask = create_block_mask(causal, None, None, 5, 5, device="cpu")

    def tilted(score, b, h, i, j):
        return score + slopes[h] * (j - i)

    found = flex_attention(q, k, v, score_mod=tilted, block_mask=mask, scale=scale)
    scores = q @ k.transpose(-2, -1) * (0.5 if scale is None else scale)
    place = torch.arange(5)
    scores = scores + slopes.view(3, 1, 1) * (place - place.view(5, 1))
    scores = scores.masked_fill(place > place.view(5, 1), -math.inf)
    assert torch.allclose(found, scores.softmax(-1) @ v, atol=1e-6)


@pytest.mark.own
def test_gradients_pass_to_everything():
    q, k, v = (x.double().requires_grad_() for x in inputs(1, 1, 3, 2))
    bias = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    mask = create_block_mask(near, None, None, 3, 3)

    def attend(q, k, v, bias):
        return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + bias[i, j], block_mask=mask)

    assert torch.autograd.gradcheck(attend, (q, k, v, bias))


@pytest.mark.own
def test_a_row_without_anything_is_zero():
    q, k, v = (x.requires_grad_() for x in inputs(1, 1, 3, 2))
    mask = create_block_mask(lambda b, h, i, j: i > j, None, None, 3, 3)
    found, lse = flex_attention(q, k, v, block_mask=mask, return_lse=True)
    assert found[0, 0, 0].tolist() == [0.0, 0.0] and lse[0, 0, 0].item() == -math.inf
    found.sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


def test_heads_share_keys():
    q = torch.ones(1, 4, 2, 2)
    k = v = torch.ones(1, 2, 2, 2)
    text = "Expect query and key/value to have the same number of heads but got Hq=4 and Hkv=2."
    with raises(ValueError, text):
        flex_attention(q, k, v)


@pytest.mark.own
def test_heads_that_share_keys_are_as_if_each_had_its_own():
    q, k, v = torch.randn(1, 4, 3, 2), torch.randn(1, 2, 3, 2), torch.randn(1, 2, 3, 2)
    found = flex_attention(q, k, v, enable_gqa=True)
    each = flex_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1))
    assert found.equal(each)


def test_wrong_inputs_are_refused():
    with raises(NotImplementedError, "NYI: query, key, and value must be 4D tensors"):
        flex_attention(*[torch.ones(2, 2, 2)] * 3)
    with raises(
        ValueError, "Expect query and key/value to have the same embedding dimension but got E=3 and E=2."
    ):
        flex_attention(torch.ones(1, 1, 2, 3), *[torch.ones(1, 1, 2, 2)] * 2)
    mask = create_block_mask(causal, 1, None, 300, 300, device="cpu")
    with raises(
        ValueError,
        "block_mask was created for block_mask.shape=(1, 1, 300, 300) but got q_len=200 and kv_len=2.",
    ):
        flex_attention(torch.ones(1, 1, 200, 2), *[torch.ones(1, 1, 2, 2)] * 2, block_mask=mask)


def test_masks_are_made_of_masks():
    both = create_mask(and_masks(causal, near), 1, 1, 3, 3, device="cpu")[0, 0]
    any_of = create_mask(or_masks(causal, near), 1, 1, 3, 3, device="cpu")[0, 0]
    assert both.tolist() == [[True, False, False], [True, True, False], [False, True, True]]
    assert any_of.tolist() == [[True, True, False], [True, True, True], [True, True, True]]
    assert create_mask(noop_mask, 1, 1, 1, 2, device="cpu").all()


def test_the_blocks_of_a_mask():
    mask = create_block_mask(causal, 1, None, 300, 300, device="cpu")
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 3]]]
    assert mask.kv_indices.tolist() == [[[[0, 1, 2], [1, 0, 2], [0, 1, 2]]]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 0]]]
    assert mask.q_num_blocks.tolist() == [[[2, 2, 1]]]
    assert mask.q_indices.tolist() == [[[[0, 2, 1], [1, 2, 0], [2, 0, 1]]]]
    assert mask.to_dense().tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    assert (mask.shape, mask.BLOCK_SIZE, mask.numel()) == ((1, 1, 300, 300), (128, 128), 90000)
    assert (
        str(mask) == "BlockMask(shape=(1, 1, 300, 300), sparsity=-9.23%, \n(0, 0)\n██    \n████  \n██████\n)"
    )
    assert repr(mask).startswith(
        "BlockMask(\n    kv_num_blocks=torch.Size([1, 1, 3]),\n    kv_indices=torch.Size([1,"
    )


def test_a_mask_of_blocks_that_are_given():
    counts, indices = torch.ones(1, 1, 2, dtype=torch.int32), torch.zeros(1, 1, 2, 2, dtype=torch.int32)
    mask = BlockMask.from_kv_blocks(counts, indices, BLOCK_SIZE=4)
    assert mask.shape == (1, 1, 8, 8) and mask.to_dense().tolist() == [[[[1, 0], [1, 0]]]]
    assert mask.q_num_blocks.tolist() == [[[2, 0]]] and mask.sparsity() == 50.0
