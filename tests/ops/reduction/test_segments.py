"""`segment_reduce`: what neighbours come to in segments."""

import pytest
import rushlight as torch
from rushlight.autograd import gradcheck
from support import raises

X = torch.tensor([2.0, 2.0, 3.0, 1.0, 5.0, 0.5], dtype=torch.float64)
LENGTHS = torch.tensor([2, 0, 4])
nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("reduce", "plain", "with_initial"),
    [
        ("sum", [4.0, 0.0, 9.5], [4.5, 0.5, 10.0]),
        ("mean", [2.0, nan, 2.375], [2.25, 0.5, 2.5]),
        ("prod", [4.0, 1.0, 7.5], [2.0, 0.5, 3.75]),
        ("max", [2.0, -inf, 5.0], [2.0, 0.5, 5.0]),
        ("min", [2.0, inf, 0.5], [0.5, 0.5, 0.5]),
    ],
)
def test_segments_come_to_one_element_each(reduce, plain, with_initial):
    assert str(torch.segment_reduce(X, reduce, lengths=LENGTHS).tolist()) == str(plain)
    assert torch.segment_reduce(X, reduce, lengths=LENGTHS, initial=0.5).tolist() == with_initial
    ends = torch.tensor([0, 2, 2, 6])
    assert str(torch.segment_reduce(X, reduce, offsets=ends).tolist()) == str(plain)


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min"])
@pytest.mark.parametrize("initial", [None, 1.5])
def test_gradients_go_to_the_elements_of_a_segment(reduce, initial):
    x = torch.tensor([[2.0, 1.0], [3.0, 4.0], [5.0, 0.5]], dtype=torch.float64, requires_grad=True)

    def function(x):
        return torch.segment_reduce(x, reduce, lengths=torch.tensor([2, 1]), initial=initial)

    assert gradcheck(function, x)


def test_the_greatest_of_a_segment_share_its_gradient():
    x = X.clone().requires_grad_()
    torch.segment_reduce(x, "max", lengths=LENGTHS).sum().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("reduce", ["max", "min"])
@pytest.mark.parametrize("initial", [None, 1.5])
def test_what_is_no_number_is_the_greatest_and_the_least_and_has_the_gradient(reduce, initial):
    x = torch.tensor([1.0, nan, inf, nan, 4.0, 4.0], dtype=torch.float64, requires_grad=True)
    found = torch.segment_reduce(x, reduce, lengths=torch.tensor([4, 2]), initial=initial)
    last = 1.5 if (reduce, initial) == ("min", 1.5) else 4.0
    assert str(found.tolist()) == str([nan, last])
    found.sum().backward()
    share = 0.5 if last == 4.0 else 0.0
    assert x.grad.tolist() == [0.0, 0.5, 0.0, 0.5, share, share]


def test_what_is_no_number_is_a_factor_of_a_product():
    x = torch.tensor([nan, 3.0, 4.0, nan, nan, 2.0, 5.0], dtype=torch.float64, requires_grad=True)
    found = torch.segment_reduce(x, "prod", lengths=torch.tensor([2, 1, 3, 1]))
    assert str(found.tolist()) == str([nan, 4.0, nan, 5.0])
    found.sum().backward()
    assert str(x.grad.tolist()) == str([3.0, nan, 1.0, nan, nan, nan, 1.0])


def test_every_row_may_have_segments_of_its_own():
    x = torch.arange(6.0).reshape(2, 3)
    found = torch.segment_reduce(x, "sum", lengths=torch.tensor([[1, 2], [3, 0]]), axis=1)
    assert found.tolist() == [[0.0, 3.0], [12.0, 0.0]]
    found = torch.segment_reduce(x, "mean", lengths=torch.tensor([2]))
    assert found.tolist() == [[1.5, 2.5, 3.5]]


def test_the_node_shows_how_it_was_called():
    x = X.clone().requires_grad_()
    node = torch.segment_reduce(x, "sum", lengths=LENGTHS).grad_fn
    assert node.name() == "SegmentReduceBackward0"
    assert (node._saved_axis, node._saved_reduce, node._saved_initial) == (0, "sum", None)
    assert node._saved_offsets is None and node._saved_lengths.tolist() == [2, 0, 4]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_samples_are_reduced_each():
    found = torch.vmap(lambda x: torch.segment_reduce(x, "sum", lengths=LENGTHS))(torch.stack([X, X]))
    assert found.tolist() == [[4.0, 0.0, 9.5]] * 2


def test_lengths_have_to_cover_the_dimension_unless_they_are_not_checked():
    text = "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
    with raises(RuntimeError, text):
        torch.segment_reduce(X, "sum", lengths=torch.tensor([2, 2]))
    assert torch.segment_reduce(X, "sum", lengths=torch.tensor([2, 2]), unsafe=True).tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    ("kind", "text", "call"),
    [
        (
            RuntimeError,
            "reduce argument must be either sum, prod, mean, amax or amin, got all",
            lambda: torch.segment_reduce(X, "all", lengths=LENGTHS),
        ),
        (
            RuntimeError,
            "segment_reduce(): Either lengths or offsets must be defined.",
            lambda: torch.segment_reduce(X, "sum"),
        ),
        (
            RuntimeError,
            "segment_reduce(): indices based reduction is not supported yet.",
            lambda: torch.segment_reduce(X, "sum", indices=LENGTHS),
        ),
        (
            RuntimeError,
            "lengths contains negative value!",
            lambda: torch.segment_reduce(X, "sum", lengths=torch.tensor([-2, 8])),
        ),
        (
            RuntimeError,
            "segment_reduce(): Expected axis to be the last dimension of lengths but got 1.",
            lambda: torch.segment_reduce(X.reshape(3, 2), "sum", lengths=LENGTHS, axis=1),
        ),
        (
            NotImplementedError,
            "\"_segment_reduce_cpu\" not implemented for 'Long'",
            lambda: torch.segment_reduce(X.long(), "sum", lengths=LENGTHS),
        ),
    ],
)
def test_calls_that_make_no_sense_are_refused(kind, text, call):
    with raises(kind, text):
        call()


def test_lengths_are_a_tensor():
    words = r"^segment_reduce\(\): argument 'lengths' must be Tensor, not list$"
    with pytest.raises(TypeError, match=words):
        torch.segment_reduce(torch.ones(3), "sum", lengths=[1, 2])
    with pytest.raises(
        TypeError, match=r"^segment_reduce\(\): argument 'data' \(position 1\) must be Tensor, not list$"
    ):
        torch.segment_reduce([1.0], "sum", lengths=torch.tensor([1]))
