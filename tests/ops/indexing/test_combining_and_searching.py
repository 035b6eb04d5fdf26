"""Elements combined by index, what is different among them, and where values belong."""

import math

import pytest
import rushlight as torch
from support import raises


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize(
    "reduce, included, expected",
    [
        ("sum", True, [6.0, 5.0, 3.0]),
        ("sum", False, [5.0, 3.0, 3.0]),
        ("prod", True, [4.0, 6.0, 3.0]),
        ("mean", True, [2.0, 2.5, 3.0]),
        ("mean", False, [2.5, 3.0, 3.0]),
        ("amax", True, [4.0, 3.0, 3.0]),
        ("amin", False, [1.0, 3.0, 3.0]),
    ],
)
def test_elements_are_combined_where_the_index_says(reduce, included, expected):
    x, source = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 4.0, 3.0])
    index = torch.tensor([0, 0, 1])
    assert x.scatter_reduce(0, index, source, reduce, include_self=included).tolist() == expected
    if reduce != "sum":
        assert x.index_reduce(0, index, source, reduce, include_self=included).tolist() == expected
    y = x.clone()
    assert y.scatter_reduce_(0, index, source, reduce, include_self=included) is y
    assert y.tolist() == expected


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.uint8])
@pytest.mark.parametrize(
    "shape, dim", [((30, 90), 0), ((30, 90), 1), ((6, 9, 4), 1), ((40,), 0), ((0, 5), 1)]
)
@pytest.mark.parametrize("reduce", ["prod", "mean", "amax", "amin"])
def test_slices_are_combined_as_their_elements_are(dtype, shape, dim, reduce):
    x = (torch.arange(math.prod(shape)) * 7 % 5 + 1).view(shape).to(dtype)
    index = torch.arange(shape[dim]) * 3 % max(1, shape[dim] // 2)
    source = (x.flip(dim) % 3 + 1).to(dtype)
    line = [1] * len(shape)
    line[dim] = -1
    everywhere = index.view(line).expand(shape)
    for included in (True, False):
        found = x.index_reduce(dim, index, source, reduce, include_self=included)
        wanted = x.scatter_reduce(dim, everywhere, source, reduce, include_self=included)
        assert torch.equal(found, wanted)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_gradients_pass_to_what_was_combined(reduce):
    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]], dtype=torch.float64, requires_grad=True)
    source = torch.tensor([[2.0, 4.0], [-1.5, 0.7]], dtype=torch.float64, requires_grad=True)
    index = torch.tensor([[0, 1], [0, 0]])
    for included in (True, False):
        assert torch.autograd.gradcheck(
            lambda x, s, i=included: x.scatter_reduce(0, index, s, reduce, include_self=i), (x, source)
        )


def test_equal_extremes_share_the_gradient():
    x = torch.tensor([2.0], requires_grad=True)
    source = torch.tensor([2.0, 2.0, 1.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([0, 0, 0]), source, "amax").backward()
    assert x.grad.tolist() == pytest.approx([1 / 3])
    assert source.grad.tolist() == pytest.approx([1 / 3, 1 / 3, 0])


def test_the_node_shows_how_elements_were_combined():
    x = torch.zeros(3, requires_grad=True)
    node = x.scatter_reduce(0, torch.tensor([0]), torch.ones(1), "amax").grad_fn
    assert type(node).__name__ == "ScatterReduceBackward0"
    assert (node._saved_dim, node._saved_reduce, node._saved_include_self) == (0, "amax", True)


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize(
    "call, kind, text",
    [
        (
            lambda x, i: x.scatter_reduce(0, i, x, "foo"),
            RuntimeError,
            "reduce argument must be either sum, prod, mean, amax or amin, got foo",
        ),
        (
            lambda x, i: x.index_reduce(0, i, x, "sum"),
            RuntimeError,
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got sum.",
        ),
        (lambda x, i: x.index_reduce(0, i + 9, x, "prod"), IndexError, "index out of range in self"),
        (
            lambda x, i: torch.put(x, i + 50, x),
            IndexError,
            "out of range: tried to access index 50 on a tensor of 3 elements.",
        ),
        (
            lambda x, i: torch.searchsorted(x, x, right=True, side="left"),
            RuntimeError,
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True",
        ),
    ],
)
def test_misuse_is_refused_in_words(call, kind, text):
    with raises(kind, text):
        call(torch.ones(3), torch.tensor([0, 1, 2]))


def test_put_writes_by_number_and_passes_gradients():
    x = torch.zeros(2, 2, requires_grad=True)
    source = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.put(x, torch.tensor([3, -4]), source)
    assert y.tolist() == [[2.0, 0.0], [0.0, 1.0]]
    y.sum().backward()
    assert (x.grad.tolist(), source.grad.tolist()) == ([[0.0, 1.0], [1.0, 0.0]], [1.0, 1.0])


def test_different_elements_are_listed_in_order_with_places_and_counts():
    values, places, counts = torch.unique(torch.tensor([3, 1, 3]), return_inverse=True, return_counts=True)
    assert (values.tolist(), places.tolist(), counts.tolist()) == ([1, 3], [1, 0, 1], [1, 2])
    rows = torch.tensor([[2, 1], [0, 5], [2, 1]])
    assert torch.unique(rows, dim=0).tolist() == [[0, 5], [2, 1]]
    assert torch.tensor([1, 1, 2, 1]).unique_consecutive().tolist() == [1, 2, 1]


def test_values_belong_before_or_behind_their_equals():
    bounds = torch.tensor([1, 3, 3, 5])
    assert torch.searchsorted(bounds, torch.tensor([3, 6])).tolist() == [1, 4]
    assert torch.searchsorted(bounds, torch.tensor([3, 6]), right=True).tolist() == [3, 4]
    assert torch.bucketize(torch.tensor([0.5, 2.0]), torch.tensor([1.0, 2.0])).tolist() == [0, 1]
    rows = torch.tensor([[1, 3], [2, 4]])
    assert torch.searchsorted(rows, torch.tensor([[2], [2]])).tolist() == [[1], [0]]


def test_elements_are_counted_by_range():
    assert torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3).tolist() == [0, 2, 1, 0]
    hist, edges = torch.histogram(torch.tensor([1.0, 2.0, 1.0]), 2)
    assert (hist.tolist(), edges.tolist()) == ([2, 1], [1, 1.5, 2])


@pytest.mark.parametrize("bins", [1, 7, 700])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_lies_in_no_range_is_not_counted(bins, dtype):
    x = torch.linspace(-1, 2, 3001, dtype=dtype)
    x[::10] = torch.tensor([float("nan"), float("inf"), -float("inf")], dtype=dtype).repeat(101)[:301]
    edges = torch.linspace(0, 1, bins + 1, dtype=dtype)
    counts = torch.histogram(x, edges)[0]
    inside = x[(x >= 0) & (x <= 1)]
    places = torch.bucketize(inside, edges[1:-1], right=True)
    assert counts.tolist() == torch.bincount(places, minlength=bins).tolist()
    assert torch.histc(x.flip(0), bins, 0, 1).sum() == len(inside)


@pytest.mark.parametrize("shape", [(300, 7), (300, 16), (40, 100), (3, 50, 21)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_the_first_in_order_of_columns_are_those_of_rows(shape, dtype):
    x = torch.arange(torch.Size(shape).numel()).mul(7919).remainder(251).reshape(shape).to(dtype)
    for find in (
        lambda x, dim: x.topk(5, dim),
        lambda x, dim: x.sort(dim=dim, stable=True),
        lambda x, dim: x.median(dim),
    ):
        values, places = find(x, -2)
        expected, _ = find(x.mT.contiguous(), -1)
        if values.ndim == x.ndim:
            assert torch.equal(values, expected.mT) and torch.equal(x.gather(-2, places), values)
        else:
            assert torch.equal(values, expected)


def test_slopes_are_estimated_from_neighbours():
    x = torch.tensor([1.0, 4.0, 9.0], requires_grad=True)
    (slope,) = torch.gradient(x)
    assert slope.tolist() == [3, 4, 5]
    (slope,) = torch.gradient(x, edge_order=2)
    assert slope.tolist() == [2, 4, 6]
    with raises(RuntimeError, "torch.gradient expected each dimension size to be at least edge_order+1"):
        torch.gradient(torch.ones(1))


def test_diagonals_are_filled_in_place():
    assert torch.zeros(5, 2).fill_diagonal_(1, wrap=True).tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]
    with raises(RuntimeError, "dimensions must larger than 1"):
        torch.ones(3).fill_diagonal_(1)


def test_parts_lie_side_by_side_below_or_behind():
    x = torch.arange(8).view(2, 2, 2)
    assert [len(parts) for parts in (torch.hsplit(x, 2), torch.vsplit(x, 2), torch.dsplit(x, [1]))] == [
        2,
        2,
        2,
    ]
    with raises(
        RuntimeError,
        "torch.hsplit attempted to split along dimension 0, but the size of the dimension 3 is not divisible "
        "by the split_size 2!",
    ):
        torch.hsplit(torch.ones(3), 2)


def test_probabilities_of_normal_numbers_are_known_and_undone():
    x = torch.tensor([-3.0, 0.0, 1.5], dtype=torch.float64, requires_grad=True)
    special = torch.special
    assert torch.allclose(special.ndtri(special.ndtr(x)), x)
    assert torch.allclose(special.log_ndtr(x), special.ndtr(x).log())
    assert float(special.log_ndtr(torch.tensor(-40.0, dtype=torch.float64))) == pytest.approx(-804.608442)
    for function in (special.ndtr, special.log_ndtr):
        assert torch.autograd.gradcheck(function, (x,))


AMONG = {
    "floats": (
        torch.tensor([0.0, -0.0, 1.5, 3.0, 7.0, float("inf")]),
        torch.tensor([-0.0, 1.5, 2.5, float("inf")]),
    ),
    "nan": (torch.tensor([1.0, float("nan"), 2.0]), torch.tensor([float("nan"), 1.0])),
    "integers": (torch.tensor([[-5, 0], [3, 127]]), torch.tensor([3, -5, 9])),
    "promoted": (torch.tensor([16777217, 16777216, 5]), torch.tensor([16777216.0, 5.0])),
    "bytes": (torch.tensor([0, 200, 255], dtype=torch.uint8), torch.tensor([-56, 255])),
    "truth": (torch.tensor([True, False]), torch.tensor([True])),
    "halves": (torch.tensor([0.1, 0.5, 2.0]).half(), torch.tensor([0.1, 2.0]).half()),
    "nothing": (torch.zeros(0, 3), torch.tensor([1.0])),
    "a number": (torch.tensor(3.0), torch.tensor([1.0, 3.0])),
}


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.own) if name == "truth" else name for name in AMONG]
)
def test_elements_are_found_among_few_as_among_many(name, inverted):
    x, few = AMONG[name]
    found = torch.isin(x, few, invert=inverted)
    wanted = (x.unsqueeze(-1) == few).any(-1)
    assert (found.dtype, found.tolist()) == (torch.bool, (wanted ^ inverted).tolist())
    # What is searched rather than compared: the same elements, many times over and in another order.
    many = few.flip(0).repeat(30).reshape(-1, few.numel())
    assert torch.isin(x, many, invert=inverted).tolist() == found.tolist()


def test_elements_are_found_among_a_hundred_thousand():
    even = torch.arange(0, 200_000, 2)
    x = torch.arange(0, 200_000).reshape(400, 500)
    assert torch.equal(torch.isin(x, even.flip(0)), x % 2 == 0)
    assert not torch.isin(x, torch.empty(0, dtype=torch.int64)).any()


def test_blocks_stand_on_the_diagonal_however_many_and_of_whatever_shape():
    found = torch.block_diag(
        torch.tensor(1), torch.tensor([2.0, 3.0]), torch.ones(0, 2), torch.tensor([[4], [5]])
    )
    assert found.tolist() == [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 2.0, 3.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 4.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 5.0],
    ]
    many = [torch.tensor([[float(number)]], requires_grad=True) for number in range(80)]
    whole = torch.block_diag(*many)
    assert torch.equal(whole, torch.diag(torch.arange(80.0)))
    (whole * whole).sum().backward()
    assert [x.grad.item() for x in many] == [2.0 * number for number in range(80)]
    assert torch.block_diag().shape == (1, 0)


def test_blocks_pass_gradients_tangents_and_samples():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([5.0, 6.0], dtype=torch.float64, requires_grad=True)
    z = torch.tensor(7.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(torch.block_diag, (x, y, z), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(torch.block_diag, (x, y, z))
    rows = torch.arange(6.0).reshape(3, 2)
    found = torch.func.vmap(lambda row: torch.block_diag(row, torch.ones(1, 1), row[0]))(rows)
    assert torch.equal(found[2], torch.block_diag(rows[2], torch.ones(1, 1), rows[2, 0]))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            lambda: torch.histc(torch.tensor([1.0, float("nan")])),
            "torch.histc: range of [nan, nan] is not finite",
        ),
        (
            lambda: torch.histc(torch.ones(2), 2, 0, float("inf")),
            "torch.histc: range of [0, inf] is not finite",
        ),
        (lambda: torch.histc(torch.ones(2), 2, 3, 1), "torch.histc: max must be larger than min"),
        (
            lambda: torch.histc(torch.ones(2), 2, 0, 1e300),
            "value cannot be converted to type float without overflow",
        ),
    ],
)
@pytest.mark.own  # What torch says of NaN depends on its sign.
def test_bounds_that_bound_nothing_are_refused(given, text):
    with raises(RuntimeError, text):
        given()


def test_counts_of_ranges_have_the_type_of_what_is_counted():
    x = torch.tensor([0.5, 0.25, 1.0, 0.75], dtype=torch.bfloat16)
    assert torch.histc(x, 3).dtype == torch.bfloat16
    assert torch.histc(x, 3).tolist() == [1.0, 1.0, 2.0]
    assert torch.histc(torch.full((4,), 2.0), 4).tolist() == [0.0, 0.0, 4.0, 0.0]
    assert torch.histc(torch.empty(0), 2).tolist() == [0.0, 0.0]
    assert torch.histc(torch.arange(10.0)[::3], 3, 0, 9).tolist() == [1.0, 1.0, 2.0]
    assert torch.histc(torch.arange(10.0).reshape(2, 5), 2, 2, 6).tolist() == [2.0, 3.0]
    with raises(NotImplementedError, "\"histogram_cpu\" not implemented for 'Long'"):
        torch.histc(torch.tensor([1, 2]), 2)
