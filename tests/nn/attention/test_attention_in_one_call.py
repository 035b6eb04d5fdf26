"""`_native_multi_head_attention`: projections, heads and masks in one call."""

import pytest
import rushlight as torch
from support import raises

X = torch.arange(24.0).reshape(2, 3, 4) / 10 - 1
WEIGHT, BIAS = torch.arange(48.0).reshape(12, 4).cos(), torch.arange(12.0).sin()
PARAMETERS = [4, 2, WEIGHT, BIAS, torch.arange(16.0).reshape(4, 4).sin(), torch.arange(4.0)]
OF_PLACES = torch.tensor([[False, False, True], [False, True, False]])
OF_PAIRS = torch.ones(3, 3, dtype=torch.bool).triu(1)


def close(found, numbers):
    torch.testing.assert_close(found, torch.tensor(numbers), atol=2e-4, rtol=0)


def attended(*mask, **options):
    return torch._native_multi_head_attention(X, X, X, *PARAMETERS, *mask, **options)


def test_heads_are_brought_together_and_weights_are_means_over_them():
    found, weights = attended()
    close(found[0, 0], [-0.5940, -0.3549, 4.3653, 1.2628])
    close(weights[0], [[0.1918, 0.2561, 0.5521], [0.2583, 0.2841, 0.4576], [0.3443, 0.3034, 0.3522]])
    assert attended(average_attn_weights=False)[1].shape == (2, 2, 3, 3)
    assert attended(need_weights=False)[1] is None


@pytest.mark.parametrize(
    ("mask", "kind", "first", "row"),
    [
        (OF_PAIRS, 0, [-0.2699, -0.2691, 3.9289, 1.7474], [0.4176, 0.5824, 0.0]),
        (OF_PLACES, 1, [-0.4003, -0.3239, 4.1309, 1.5381], [0.4176, 0.5824, 0.0]),
        (OF_PLACES[:, None, None].expand(2, 2, 3, 3), 2, [-0.4003, -0.3239, 4.1309, 1.5381], None),
    ],
)
def test_a_mask_is_of_pairs_of_places_of_places_or_of_all(mask, kind, first, row):
    found, weights = attended(mask, mask_type=kind)
    close(found[0, 0], first)
    if row:
        close(weights[0, 1], row)


def test_a_mask_of_numbers_is_one_of_truths():
    with pytest.warns(UserWarning, match="Converting mask without torch.bool dtype to bool"):
        found, _ = attended(OF_PLACES.float(), mask_type=1)
    assert torch.equal(found, attended(OF_PLACES, mask_type=1)[0])


@pytest.mark.parametrize(
    ("mask", "kind", "words"),
    [
        (OF_PLACES, None, "Mask Type should be defined"),
        (OF_PLACES, 0, "For mask_type == 0 mask shape should be (L, L)"),
        (OF_PAIRS, 1, "For mask_type == 1 mask shape should be (B, L)"),
        (OF_PAIRS, 2, "For mask_type == 2 mask shape should match input shape"),
        (
            OF_PAIRS,
            3,
            "Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)",
        ),
    ],
)
def test_masks_of_other_shapes_are_refused(mask, kind, words):
    with raises(RuntimeError, words):
        attended(mask, mask_type=kind)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (0, X[0], "expected 3-D `query`, got 2-D tensor"),
        (1, X[0], "expected 3-D `key`, got 2-D tensor"),
        (2, X[:, :2], "expected `query`/`key`/`value` shapes to match"),
        (3, 6, "passed-in embed_dim 6 didn't match last dim of query 4"),
        (4, 3, "`embed_dim` must divide evenly by `num_heads`"),
        (5, WEIGHT[:6], "expected `qkv_weight` first dim to be 3x embed_dim"),
        (6, BIAS[:6], "expected `qkv_bias` first dim and first dim of query to be equal"),
        (6, BIAS[None], "expected 1-D `qkv_bias`, got 2-D tensor"),
    ],
)
def test_what_does_not_fit_is_told(place, value, words):
    given = [X, X, X, *PARAMETERS]
    given[place] = value
    with raises(RuntimeError, words):
        torch._native_multi_head_attention(*given)


def test_sequences_of_different_sizes_are_attended_to_apart():
    nested = torch.nested.nested_tensor([X[0], X[1, :2]])
    found, weights = torch._native_multi_head_attention(nested, nested, nested, *PARAMETERS)
    first, second = found.unbind()
    close(first[0], [-0.5940, -0.3549, 4.3653, 1.2628])
    close(second, [[-0.0955, -1.0155, 4.7304, 1.4461], [-0.0659, -1.0157, 4.7009, 1.4848]])
    close(weights[1], [[0.5807, 0.4193, 0.0], [0.6632, 0.3368, 0.0], [0.0, 0.0, 0.0]])
    with raises(RuntimeError, "NestedTensor with mask is not supported yet"):
        torch._native_multi_head_attention(nested, nested, nested, *PARAMETERS, OF_PLACES, mask_type=1)


def test_queries_keys_and_values_of_heads_lie_in_order():
    query, key, value = torch._transform_bias_rescale_qkv(torch.arange(12.0).reshape(1, 1, 12), BIAS, 2)
    assert query.shape == key.shape == value.shape == (1, 2, 1, 2)
    close(query.flatten(), [0.0, 1.3021, 2.0572, 2.2211])
    close(key.flatten(), [3.2432, 4.0411, 5.7206, 7.6570])
    with raises(RuntimeError, "Expected D % num_head == 0 to be true, but got false."):
        torch._transform_bias_rescale_qkv(torch.ones(1, 1, 12), BIAS, 3)
