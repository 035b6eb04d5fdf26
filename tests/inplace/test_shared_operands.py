"""Writes whose operands show some of the memory that is written to, but not element for element."""

import pytest
import rushlight as torch

REFUSAL = (
    r"^unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    r"location\. Please clone\(\) the tensor before performing the operation\.$"
)
OTHER = torch.ones(2, 2)
ROWS = torch.tensor([0, 1])
PLACES = torch.zeros(2, 2, dtype=torch.long)


def turned():
    """A matrix, and the same turned."""
    x = torch.arange(1.0, 5.0).reshape(2, 2)
    return x, x.t()


def shifted():
    """Two matrices that share two of their elements."""
    memory = torch.arange(1.0, 7.0)
    return memory[:4].view(2, 2), memory[2:].view(2, 2)


ELEMENTS = {
    "addcmul_": lambda x, y: x.addcmul_(y, OTHER),
    "addcdiv_": lambda x, y: x.addcdiv_(OTHER, y),
    "lerp_ by a number": lambda x, y: x.lerp_(y, 0.5),
    "lerp_ by a tensor": lambda x, y: x.lerp_(OTHER, y),
    "clamp_": lambda x, y: x.clamp_(y),
    "clamp_ from above": lambda x, y: x.clamp_(max=y),
    "mul_": lambda x, y: x.mul_(y),
}
APART = {
    "put_": lambda x, y: x.put_(torch.arange(4), y),
    "scatter_reduce_": lambda x, y: x.scatter_reduce_(0, PLACES, y, "sum"),
    "index_reduce_": lambda x, y: x.index_reduce_(0, ROWS, y, "prod"),
    "index_copy_": lambda x, y: x.index_copy_(0, ROWS, y),
}


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("shared", [turned, shifted])
@pytest.mark.parametrize("name", [*ELEMENTS, *APART])
def test_other_elements_of_the_same_memory_are_refused(name, shared):
    x, y = shared()
    before = x.tolist()
    with pytest.raises(RuntimeError, match=REFUSAL):
        {**ELEMENTS, **APART}[name](x, y)
    assert x.tolist() == before and x._version == 0


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_may_be_computed_from_themselves(name):
    x, _ = turned()
    expected = ELEMENTS[name](x.clone(), x.clone())
    assert torch.equal(ELEMENTS[name](x, x), expected)


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("name", APART)
def test_places_are_not_filled_from_the_tensor_itself(name):
    x, _ = turned()
    with pytest.raises(RuntimeError, match=REFUSAL):
        APART[name](x, x)


def test_outer_products_of_a_row_are_not_added_to_it():
    x, y = shifted()
    with pytest.raises(RuntimeError, match=REFUSAL):
        x.addr_(y[0], OTHER[0])


def test_memory_is_looked_at_before_shapes():
    x = torch.ones(2, 2)
    with pytest.raises(RuntimeError, match=REFUSAL):
        x[1].addcmul_(x, x)


def test_rows_may_be_filled_with_an_element():
    x, _ = turned()
    assert x.index_fill_(0, torch.tensor([0]), x[1, 1]).tolist() == [[4, 4], [3, 4]]
