"""What nodes of assignments to parts of tensors lead to."""

import pytest
import rushlight as torch


def leaf(*shape):
    return torch.ones(shape, dtype=torch.float64, requires_grad=True)


def names(node):
    """The nodes on the way from what was assigned."""
    found = []
    while node is not None and node.name() != "torch::autograd::AccumulateGrad":
        found.append(node.name())
        node = node.next_functions[0][0]
    return found


CASES = {
    "of the same shape": (0, leaf(4), []),
    "with a leading one": (0, leaf(1, 4), ["ViewBackward0"]),
    "that is repeated": (slice(0, 2), leaf(4), ["ExpandBackward0", "ViewBackward0"]),
    "without dimensions": ((0, 1), leaf(), []),
    "of the whole": (..., leaf(3, 4), []),
    "repeated over the whole": (..., leaf(4), ["ExpandBackward0", "ViewBackward0"]),
    "along a new dimension": (None, leaf(3, 4), ["ExpandBackward0", "ViewBackward0"]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_value_is_changed_only_as_far_as_it_has_to(name):
    key, value, expected = CASES[name]
    x = leaf(3, 4) * 1
    before = x.grad_fn
    x[key] = value
    (first, _), (second, _) = x.grad_fn.next_functions
    assert first is before
    assert names(second) == expected


@pytest.mark.parametrize("key", [0, (slice(None), 1), ...])
def test_a_number_is_an_operand_without_history(key):
    x = leaf(3, 4) * 1
    before = x.grad_fn
    x[key] = 2.0
    assert x.grad_fn.next_functions == ((before, 0), (None, 0))
