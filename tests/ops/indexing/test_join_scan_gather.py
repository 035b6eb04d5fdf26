"""cat, stack, cumsum, gather, scatter_add, index_select, index_add; against numpy."""

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, check_gradient, sample


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_joins_along_a_dimension(dim):
    shapes = [[2, 3], [2, 3], [2, 3]]
    for shape, size in zip(shapes, (1, 4, 2), strict=True):
        shape[dim] = size
    parts = [sample(*shape, seed=i) for i, shape in enumerate(shapes)]
    assert_tensor(torch.cat([torch.tensor(p) for p in parts], dim), np.concatenate(parts, dim))
    assert_tensor(torch.cat(tuple(torch.tensor(p) for p in parts), dim=dim), np.concatenate(parts, dim))
    check_gradient(lambda *xs: torch.cat(xs, dim) ** 2, *parts)


def test_cat_has_its_other_names():
    a = torch.ones(2)
    assert torch.equal(torch.concat([a, a]), torch.cat([a, a]))
    assert torch.equal(torch.concatenate([a, a], axis=0), torch.cat([a, a]))


def test_cat_ignores_the_empty_vector():
    assert torch.cat([torch.ones(2, 3), torch.empty(0)]).shape == (2, 3)
    assert torch.cat([torch.empty(0), torch.empty(0)]).shape == (0,)


def test_cat_copies_strided_parts_and_a_single_one():
    a = sample(3, 4)
    x = torch.tensor(a)
    assert_tensor(torch.cat([x.t(), x.t()], 1), np.concatenate([a.T, a.T], 1))
    one = torch.cat([x])
    assert torch.equal(one, x) and one.data_ptr() != x.data_ptr()


def test_the_same_tensor_twice_in_cat_receives_both_gradients():
    x = torch.ones(2, requires_grad=True)
    (torch.cat([x, x]) * torch.arange(4.0)).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -3])
def test_stack_makes_a_new_dimension(dim):
    parts = [sample(2, 3, seed=i) for i in range(4)]
    assert_tensor(torch.stack([torch.tensor(p) for p in parts], dim), np.stack(parts, dim))
    check_gradient(lambda *xs: torch.stack(xs, dim) ** 2, *parts)


def test_scalars_are_stacked_to_a_vector():
    x = [torch.tensor(float(i), requires_grad=True) for i in range(3)]
    s = torch.stack(x)
    assert s.tolist() == [0.0, 1.0, 2.0]
    (s * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert [t.grad.item() for t in x] == [1.0, 10.0, 100.0]


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4), (0,), (3, 0)], ids=str)
def test_cumsum_agrees_with_numpy(shape):
    values = sample(*shape)
    for dim in range(-len(shape), len(shape)):
        assert_tensor(torch.tensor(values).cumsum(dim), values.cumsum(dim))
        assert_tensor(torch.cumsum(torch.tensor(values), dim=dim), values.cumsum(dim))
        if values.size:
            check_gradient(lambda x, dim=dim: x.cumsum(dim) ** 2, values)


def test_cumsum_takes_integers_and_scalars():
    assert torch.tensor([1, 2, 3], dtype=torch.int8).cumsum(0).tolist() == [1, 3, 6]
    assert torch.tensor([True, True]).cumsum(0).tolist() == [1, 2]
    assert torch.tensor(5.0).cumsum(0).item() == 5.0
    assert torch.tensor([1, 2]).cumsum(0, dtype=torch.float64).dtype is torch.float64


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather_takes_along_a_dimension(dim):
    values = sample(3, 4)
    index = np.array([[0, 2, 1, 0], [2, 2, 0, 1]]) if dim == 0 else np.array([[0, 3], [1, 1], [2, 0]])
    assert_tensor(
        torch.gather(torch.tensor(values), dim, torch.tensor(index)), np.take_along_axis(values, index, dim)
    )
    check_gradient(lambda x: x.gather(dim, torch.tensor(index)) ** 2, values)


def test_gather_may_use_a_smaller_index():
    x = torch.arange(12.0).view(3, 4)
    assert x.gather(0, torch.tensor([[2, 0]])).tolist() == [[8.0, 1.0]]
    assert x.gather(1, torch.empty(0, 0, dtype=torch.int64)).shape == (0, 0)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_scatter_add_adds_along_a_dimension(dim):
    values, source = sample(3, 4), sample(2, 2, seed=1)
    index = np.array([[0, 1], [0, 2]])
    expected = values.copy()
    for i, j in np.ndindex(2, 2):
        place = (index[i, j], j) if dim == 0 else (i, index[i, j])
        expected[place] += source[i, j]
    i = torch.tensor(index)
    assert_tensor(torch.scatter_add(torch.tensor(values), dim, i, torch.tensor(source)), expected)
    assert_tensor(torch.tensor(values).scatter_add_(dim, i, torch.tensor(source)), expected)
    check_gradient(lambda x, s: x.scatter_add(dim, i, s) ** 2, values, source)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_select_takes_slices(dim):
    values = sample(3, 4)
    index = np.array([2, 0, 0])
    assert_tensor(
        torch.index_select(torch.tensor(values), dim, torch.tensor(index)), np.take(values, index, dim)
    )
    check_gradient(lambda x: x.index_select(dim, torch.tensor(index)) ** 2, values)


def test_index_add_adds_slices():
    values, source = sample(3, 4), sample(3, 4, seed=1)
    index = torch.tensor([2, 0, 0])
    expected = values.copy()
    np.add.at(expected, [2, 0, 0], source)
    assert_tensor(torch.tensor(values).index_add(0, index, torch.tensor(source)), expected)
    assert_tensor(torch.tensor(values).index_add_(0, index, torch.tensor(source)), expected)
    check_gradient(lambda x, s: x.index_add(0, index, s) ** 2, values, source)


@pytest.mark.parametrize("dim", [0, 1, -2, 5])
def test_of_what_is_empty_nobody_looks_at_the_dimension(dim):
    joined = torch.cat([torch.zeros(0, dtype=torch.float64), torch.zeros(0, requires_grad=True)], dim)
    assert (joined.shape, joined.dtype, type(joined.grad_fn).__name__) == (
        (0,),
        torch.float64,
        "CatBackward0",
    )
    with pytest.raises(IndexError):
        torch.cat([torch.zeros(0), torch.zeros(2, 2)], 5)
