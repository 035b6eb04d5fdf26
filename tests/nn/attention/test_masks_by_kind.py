"""Masks of attention that are said by their kind: which corner they are aligned to."""

import pytest
import rushlight as torch
import rushlight.nn.functional as F
from rushlight.nn.attention.bias import CausalBias, CausalVariant, causal_lower_right, causal_upper_left


@pytest.mark.parametrize("shift, make", [(0, causal_upper_left), (2, causal_lower_right)])
def test_attention_is_that_of_the_mask(shift, make):
    q, k = (torch.arange(n * 4.0).view(1, n, 4).sin().requires_grad_() for n in (3, 5))
    mask = torch.ones(3, 5, dtype=torch.bool).tril(shift)
    expected = F.scaled_dot_product_attention(q, k, k, attn_mask=mask)
    found = F.scaled_dot_product_attention(q, k, k, make(3, 5))
    assert type(found) is torch.Tensor
    torch.testing.assert_close(found, expected)
    (one,) = torch.autograd.grad(found.sum(), q)
    (other,) = torch.autograd.grad(expected.sum(), q)
    torch.testing.assert_close(one, other)
    assert repr(make(3, 5)) == repr(mask)


def test_what_is_no_mask():
    q = torch.ones(1, 2, 4)
    with pytest.raises(ValueError, match="CausalBias should not be used with causal=True"):
        F.scaled_dot_product_attention(q, q, q, causal_upper_left(2, 2), is_causal=True)
    with pytest.raises(AssertionError, match="causal_lower_right only supports 2D tensors"):
        causal_lower_right(1, 2, 3)
    with pytest.raises(AssertionError, match="variant must be a CausalVariant, got int"):
        CausalBias(1, 2, 2)
    with pytest.warns(UserWarning, match="Lower right causal bias will produce NaNs"):
        CausalBias(CausalVariant.LOWER_RIGHT, 3, 2)
