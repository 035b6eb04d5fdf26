"""Attention of queries to which every key is hidden, and directions of vectors without any."""

import pytest
import rushlight as torch

F = torch.nn.functional


def numbers(*shape):
    generator = torch.Generator().manual_seed(5)
    return torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()


MASK = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
FLOATS = torch.zeros(3, 3, dtype=torch.float64).masked_fill(~MASK, float("-inf"))


@pytest.mark.parametrize("mask", [MASK, FLOATS], ids=["truth values", "numbers"])
def test_a_query_to_which_all_keys_are_hidden_gets_zeros(mask):
    x = numbers(2, 3, 4)
    y = F.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    assert (y[:, 1] == 0).all()
    assert not y.isnan().any()
    y.sum().backward()
    assert not x.grad.isnan().any()


def test_attention_with_hidden_keys_can_be_differentiated():
    inputs = numbers(1, 3, 2), numbers(1, 3, 2), numbers(1, 3, 2)
    attention = lambda *inputs: F.scaled_dot_product_attention(*inputs, attn_mask=MASK)  # noqa: E731
    assert torch.autograd.gradcheck(attention, inputs)
    assert torch.autograd.gradgradcheck(attention, inputs)


def test_what_is_hidden_altogether_has_no_softmax():
    x = torch.tensor([[0.0, 0.0], [float("-inf")] * 2])
    assert torch._safe_softmax(x, -1).tolist() == [[0.5, 0.5], [0.0, 0.0]]
    assert torch._safe_softmax(x, 0).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_the_least_length_of_a_vector_has_no_part_in_its_gradient():
    x, y = torch.tensor([[1e-3, 0.0]], requires_grad=True), torch.tensor([[1.0, 0.0]])
    F.cosine_similarity(x, y, eps=1.0).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([[0.999, 0.0]]))
