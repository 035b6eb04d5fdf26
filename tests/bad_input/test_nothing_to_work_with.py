"""What is refused because there is nothing to work with."""

import pytest
import rushlight as torch


@pytest.mark.parametrize("mode", ["replicate", "reflect"])
@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 4, 0), (2, 0, 4)])
def test_nothing_is_not_padded_with_itself(mode, shape):
    with pytest.raises(
        RuntimeError, match=r"Expected 2D or 3D \(batch mode\) tensor with possibly 0 batch size"
    ):
        torch.nn.functional.pad(torch.ones(shape), (1, 1), mode)


def test_there_may_be_no_samples_to_pad():
    assert torch.nn.functional.pad(torch.ones(0, 2, 3), (1, 1), "replicate").shape == (0, 2, 5)


@pytest.mark.parametrize("left", [True, False])
def test_a_number_is_no_right_side_of_equations(left):
    with pytest.raises(RuntimeError, match="The input tensor B must have at least 2 dimensions"):
        torch.linalg.solve(torch.eye(2), torch.tensor(1.0), left=left)


SCATTERED = [
    lambda: torch.tensor(1.0).scatter_reduce(0, torch.ones(0, dtype=torch.long), torch.tensor(1.0), "amin"),
    lambda: torch.tensor(1.0).scatter_reduce(0, torch.zeros(1, dtype=torch.long), torch.tensor(1.0), "amin"),
    lambda: torch.tensor(1.0).scatter_reduce(0, torch.zeros(0, dtype=torch.long), torch.tensor(1.0), "prod"),
    lambda: torch.tensor(1.0).scatter_reduce(0, torch.ones(2, 0, 3).long(), torch.tensor(1.0), "amin"),
    lambda: torch.tensor(1.0).scatter_reduce(0, torch.tensor(0), torch.tensor([1.0]), "mean"),
]


@pytest.mark.parametrize("call", SCATTERED)
def test_an_index_of_nothing_or_of_one_is_combined_with_a_number(call):
    assert call().shape == ()
    assert call().item() == 1.0


def test_an_index_of_nothing_leaves_a_tensor_as_it_is():
    x = torch.tensor([1.0, 2.0])
    index = torch.ones(2, 0, 3, dtype=torch.long)
    assert x.scatter_reduce(0, index, torch.tensor([3.0, 4.0]), "amin").tolist() == [1.0, 2.0]


@pytest.mark.own  # torch cannot tell the gradient of a source that is larger than the index
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_gradients_of_what_an_index_of_nothing_names_are_zeros(reduce):
    x, source = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    index = torch.ones(0, dtype=torch.long)
    x.scatter_reduce(0, index, source, reduce).sum().backward()
    assert (x.grad.tolist(), source.grad.tolist()) == ([1.0, 1.0], [0.0, 0.0])


@pytest.mark.own
def test_gradients_reach_a_number_that_an_index_of_one_names():
    x, source = torch.tensor(3.0, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    x.scatter_reduce(0, torch.zeros(1, dtype=torch.long), source, "amin").backward()
    assert (x.grad.item(), source.grad.item()) == (0.0, 1.0)


def test_a_number_has_no_slices_to_add():
    with pytest.raises(IndexError, match=r"^Dimension specified as 0 but tensor has no dimensions$"):
        torch.tensor(1.0).index_add(0, torch.ones(0, dtype=torch.long), torch.tensor(1.0))


def test_sizes_are_said_as_they_are_where_there_are_none():
    words = r"^Expected index \[\] to be no larger than self \[\] apart from dimension 0 and to be no larger size th"
    with pytest.raises(RuntimeError, match=words):
        torch.tensor(1.0).scatter_reduce(0, torch.tensor(0), torch.zeros(0), "amin")
