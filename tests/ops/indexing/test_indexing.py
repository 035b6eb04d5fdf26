"""Indexing, get and set: integers, slices, None, Ellipsis, masks, index tensors, mixed; against numpy."""

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, raises, sample

SHAPE = (4, 5, 6)
MASK = np.array([True, False, True, True])
MASK2 = sample(4, 5, seed=3) > 0

# index tensors are written as arrays here; `as_index` turns them into tensors
INDICES = {
    "integer": 2,
    "negative": -1,
    "numpy integer": np.int64(2),
    "tuple": (1, 2),
    "all integers": (1, 2, 3),
    "slice": slice(1, 3),
    "slices": (slice(None), slice(1, None, 2), slice(-3, -1)),
    "ellipsis": (Ellipsis, 2),
    "ellipsis inside": (1, Ellipsis, 2),
    "none": None,
    "nones": (None, slice(None), None, 1),
    "list": [0, 2, 1],
    "array": np.array([3, 0, 0, -1]),
    "empty array": np.array([], dtype=np.int64),
    "matrix": np.array([[0, 1], [2, 3]]),
    "scalar array": np.array(2),
    "two arrays": (np.array([0, 1, 2]), np.array([4, 0, 2])),
    "broadcast arrays": (np.array([[0], [1]]), np.array([4, 0, 2])),
    "three arrays": (np.array([0, 1]), np.array([4, 0]), np.array([5, 5])),
    "array then slice": (np.array([0, 2]), slice(1, 3)),
    "slice then array": (slice(1, 3), np.array([0, 2, 2])),
    "array, slice, array": (np.array([0, 2]), slice(None), np.array([1, 5])),
    "array then integer": (np.array([0, 2]), 1),
    "slice, array, array": (slice(None), np.array([0, 2]), np.array([1, 5])),
    "array with ellipsis": (Ellipsis, np.array([0, 2])),
    "array with none": (None, np.array([0, 2])),
    "mask": MASK,
    "list mask": [True, False, True, True],
    "mask of two": MASK2,
    "mask then slice": (MASK, slice(1, 3)),
    "mask then integer": (MASK, 1),
    "slice then mask": (slice(None), np.array([True, False, True, False, True])),
    "mask then array": (MASK, np.array([0, 1, 4])),
    "full mask": sample(*SHAPE, seed=4) > 0,
    "empty mask": np.zeros(4, dtype=bool),
    "true": True,
    "false": False,
}


def as_index(index):
    if isinstance(index, tuple):
        return tuple(as_index(part) for part in index)
    if isinstance(index, np.ndarray):
        return torch.tensor(index)
    return index


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_reading_agrees_with_numpy(index):
    values = sample(*SHAPE)
    assert_tensor(torch.tensor(values)[as_index(index)], values[index])


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_reading_a_strided_tensor_agrees_with_numpy(index):
    values = sample(6, 4, 5).transpose(1, 2, 0)
    assert_tensor(torch.tensor(sample(6, 4, 5)).permute(1, 2, 0)[as_index(index)], values[index])


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_the_gradient_of_reading_adds_up_at_what_was_read(index):
    values = sample(*SHAPE)
    x = torch.tensor(values, requires_grad=True)
    y = x[as_index(index)]
    weights = sample(*y.shape, seed=7)
    y.backward(torch.tensor(weights))
    expected = np.zeros(SHAPE)
    np.add.at(expected, index, weights)
    assert_tensor(x.grad, expected)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_writing_a_number_agrees_with_numpy(index):
    values = sample(*SHAPE)
    x = torch.tensor(values)
    x[as_index(index)] = 7.5
    values[index] = 7.5
    assert_tensor(x, values)


@pytest.mark.parametrize(
    "index", [i for n, i in INDICES.items() if n != "array"], ids=[n for n in INDICES if n != "array"]
)
def test_writing_a_tensor_agrees_with_numpy(index):
    values = sample(*SHAPE)
    x = torch.tensor(values)
    source = sample(*values[index].shape, seed=5)
    if names_a_place_twice(index):
        source[...] = 3
    x[as_index(index)] = torch.tensor(source)
    values[index] = source
    assert_tensor(x, values)


def names_a_place_twice(index):
    """Does the index name a place twice? Then the winner is not defined."""
    return isinstance(index, tuple) and any(
        isinstance(part, np.ndarray) and len(set(part.ravel())) < part.size for part in index
    )


def test_writing_broadcasts_the_value():
    values = sample(*SHAPE)
    x = torch.tensor(values)
    x[1:3] = torch.tensor(sample(6, seed=1))
    values[1:3] = sample(6, seed=1)
    x[:, torch.tensor([0, 2])] = torch.tensor(sample(2, 1, seed=2))
    values[:, [0, 2]] = sample(2, 1, seed=2)
    x[..., 0] = torch.tensor(5.0, dtype=torch.float64)
    values[..., 0] = 5
    assert_tensor(x, values)


def test_leading_ones_of_the_value_are_dropped():
    x = torch.zeros(2, 3)
    x[0] = torch.ones(1, 1, 3)
    assert x.tolist() == [[1.0] * 3, [0.0] * 3]


def test_writing_converts_the_dtype_of_the_value():
    x = torch.zeros(3, dtype=torch.int64)
    x[0] = 2.9
    x[1] = torch.tensor(3.9)
    x[2:] = torch.tensor([4.9], dtype=torch.float64)
    assert x.tolist() == [2, 3, 4]


def test_a_mask_may_be_made_of_the_tensor_itself():
    x = torch.tensor([-1.0, 2.0, -3.0])
    x[x < 0] = 0
    assert x.tolist() == [0.0, 2.0, 0.0]
    assert x[x > 0].tolist() == [2.0]


def test_uint8_masks_work_and_warn():
    x = torch.tensor([1, 2, 3])
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        assert x[torch.tensor([1, 0, 1], dtype=torch.uint8)].tolist() == [1, 3]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_indices_may_be_of_either_integer_width(dtype):
    assert torch.tensor([5, 6, 7])[torch.tensor([2, 0], dtype=dtype)].tolist() == [7, 5]


def test_a_0d_integer_tensor_selects_and_makes_a_view():
    x = torch.arange(6).view(2, 3)
    row = x[torch.tensor(1)]
    assert row.tolist() == [3, 4, 5]
    row.fill_(0)
    assert x.tolist() == [[0, 1, 2], [0, 0, 0]]


def test_basic_indexing_is_a_view_and_advanced_is_a_copy():
    x = torch.arange(6.0).view(2, 3).clone()
    x[0].fill_(9)
    x[[1]].fill_(9)
    assert x.tolist() == [[9.0] * 3, [3.0, 4.0, 5.0]]


def test_repeated_indices_add_up_in_the_gradient():
    x = torch.zeros(3, requires_grad=True)
    x[torch.tensor([1, 1, 1, 0])].sum().backward()
    assert x.grad.tolist() == [1.0, 3.0, 0.0]


def test_second_derivatives_pass_an_index():
    values = sample(3)
    x = torch.tensor(values, requires_grad=True)
    (first,) = torch.autograd.grad((x[[0, 0, 2]] ** 3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    counts = np.array([2, 0, 1])
    assert_tensor(first, 3 * counts * values**2)
    assert_tensor(second, 6 * counts * values)


@pytest.mark.filterwarnings("ignore:Using a non-tuple")  # said once in a process
def test_a_list_of_lists_stands_for_a_tuple():
    x = torch.tensor(sample(*SHAPE))
    assert torch.equal(x[[[0, 1], [2, 3]]], x[[0, 1], [2, 3]])


def test_augmented_assignment_by_index_writes_and_counts():
    x = torch.zeros(3)
    x[0] += 1
    x[1:] -= 2
    x[torch.tensor([0, 2])] *= 3
    assert x.tolist() == [3.0, -2.0, -6.0]
    assert x._version == 5


def test_iteration_indexes_the_first_dimension():
    x = torch.arange(6).view(3, 2)
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    assert [v.item() for v in torch.tensor([7, 8])] == [7, 8]
    _, middle, _ = x
    assert middle.tolist() == [2, 3]


def test_a_slice_that_is_filled_twice_counts_once_for_the_gradient_of_the_value():
    x, value = torch.zeros(3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    y = torch.index_fill(x, 0, torch.tensor([0, 0, 1]), value)
    by_x, by_value = torch.autograd.grad((y * y).sum(), (x, value), create_graph=True)
    assert (by_value.item(), by_x.tolist()) == (8.0, [0.0, 0.0, 0.0])
    assert by_x.grad_fn.name() == "IndexFillBackward0"


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int64, torch.float32, torch.complex64])
def test_numbers_of_every_type_are_added_at_their_places(dtype):
    x = torch.tensor([1, 0, 1, 1]).to(dtype)
    index, values = torch.tensor([0, -1, 0]), torch.tensor([1, 2, 3]).to(dtype)
    assert x.put(index, values, accumulate=True).tolist() == [5, 0, 1, 3]
    assert x.put_(index, values, accumulate=True).tolist() == [5, 0, 1, 3]


def test_truth_values_are_added_at_their_places_as_or():
    x, index = torch.tensor([True, False, False]), torch.tensor([0, 2])
    assert x.put(index, torch.tensor([False, True]), accumulate=True).tolist() == [True, False, True]


def test_a_dimension_that_is_moved_twice_is_refused_by_its_own_name():
    x = torch.ones(2, 3, 4, 5)
    with raises(RuntimeError, "movedim: repeated dim in `source` ([1, 0, -4])"):
        torch.movedim(x, (1, 0, -4), (0, 1, 2))
    with raises(RuntimeError, "movedim: repeated dim in `destination` ([1, 0, -4])"):
        torch.movedim(x, (0, 1, 2), (1, 0, -4))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_that_one_integer_of_any_type_selects(dtype):
    x = torch.arange(6).view(2, 3)
    row = torch.tensor(1, dtype=dtype)
    assert x[row].data_ptr() == x[1].data_ptr()
    x[row] = 7
    assert x.tolist() == [[0, 1, 2], [7, 7, 7]]


def test_that_one_value_for_a_mask_is_of_any_type():
    x = torch.arange(4)
    x[x > 1] = torch.tensor([9.0])
    assert x.tolist() == [0, 1, 9, 9]


def test_that_shapes_are_looked_at_before_types():
    x = torch.arange(4)
    with raises(RuntimeError, "shape mismatch: value tensor of shape [0] cannot be broadcast"):
        x[x > -1] = torch.tensor([])
    with raises(RuntimeError, "Index put requires the source and destination dtypes match"):
        x[torch.tensor([0, 1])] = torch.tensor([1.0, 2.0])


def test_a_source_of_one_element_has_a_gradient_of_its_shape():
    x, source = torch.tensor(2.0, requires_grad=True), torch.tensor([3.0], requires_grad=True)
    y = torch.index_copy(x, 0, torch.tensor([0]), source)
    gradients = torch.autograd.grad(y, [x, source])
    assert [gradient.tolist() for gradient in gradients] == [0.0, [1.0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64])
def test_one_number_where_a_mask_of_the_same_shape_says(dtype):
    base = (torch.arange(30 * 40) % 7).view(30, 40).to(dtype)
    mask = torch.arange(30 * 40).view(30, 40) % 3 == 0
    wanted = torch.where(mask, torch.tensor(1, dtype=dtype), base)
    for value in (1, torch.tensor(1), torch.tensor([1.0])):
        for given in (mask, mask.t().contiguous().t()):
            x = base.clone()
            x[given] = value
            assert torch.equal(x, wanted) and x._version == 1
    turned = base.t().clone().t()
    turned[mask] = 1
    assert torch.equal(turned, wanted)
    x = base.clone()
    assert torch.equal(x.index_put_((mask,), torch.ones(1, 1, 1, dtype=dtype)), wanted)
    leaf = torch.ones(2, 2, requires_grad=True)
    y = leaf * 2
    y[torch.tensor([[True, False], [False, True]])] = 5.0
    y.sum().backward()
    assert y.tolist() == [[5, 2], [2, 5]] and leaf.grad.tolist() == [[0, 2], [2, 0]]
    assert type(y.grad_fn).__name__ == "IndexPutBackward0"
