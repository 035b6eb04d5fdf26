"""Small things that torch's own modules share: `_utils`, `_VF`, and the options of printing."""

import pytest
import rushlight as torch
import rushlight._tensor_str as printing
from rushlight import _utils
from support import raises


def test_tensors_are_put_into_one_block_and_taken_out():
    x = torch.ones(2, requires_grad=True)
    parts = [x, torch.zeros(3, 1)]
    flat = _utils._flatten_dense_tensors(parts)
    assert flat.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0] and flat.requires_grad
    taken = _utils._unflatten_dense_tensors(flat.detach(), parts)
    assert [part.shape for part in taken] == [(2,), (3, 1)]
    assert taken[1].data_ptr() == flat.data_ptr() + 8


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(1, [[2], [3], [9], [1], [2]]), (20, [[2, 3], [9], [1], [2]]), (99, [[2, 3, 9, 1], [2]])],
)
def test_tensors_are_taken_in_groups_of_one_type(limit, expected):
    other = torch.ones(2, dtype=torch.int64)
    tensors = [torch.ones(2), other, *map(torch.ones, (3, 9, 1))]
    groups = list(_utils._take_tensors(tensors, limit))
    assert [[tensor.numel() for tensor in group] for group in groups] == expected
    grouped = [tensor for group in groups for tensor in group]
    ordered = _utils._reorder_tensors_as(grouped, tensors)
    assert all(one is another for one, another in zip(ordered, tensors, strict=True))


class Odd(Exception):
    def __init__(self, one, another):
        super().__init__(one, another)


@pytest.mark.parametrize(
    ("failure", "kind"),
    [(ValueError("bad"), ValueError), (KeyError("k"), KeyError), (Odd(1, 2), RuntimeError)],
)
def test_a_failure_is_raised_again_elsewhere(failure, kind):
    try:
        raise failure
    except Exception:
        wrapped = _utils.ExceptionWrapper(where="in worker 1")
    with pytest.raises(kind) as caught:
        wrapped.reraise()
    assert str(caught.value).startswith(f"Caught {type(failure).__name__} in worker 1.\nOriginal Traceback")


def test_a_class_has_properties():
    class Known:
        number = 3

        @_utils.classproperty
        def twice(cls):
            return 2 * cls.number

    assert Known.twice == 6 and Known().twice == 6


def test_elements_have_sizes_and_functions_have_places():
    assert _utils._element_size(torch.float64) == 8
    assert _utils._import_dotted_name("collections.OrderedDict").__name__ == "OrderedDict"
    assert torch._VF.relu(torch.tensor([-1.0])).tolist() == [0.0]
    with pytest.raises(AttributeError):
        torch._VF.no_such_function  # noqa: B018


def test_tensors_are_printed_otherwise_in_a_block():
    before = printing.get_printoptions()
    assert before == {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
    with printing.printoptions(precision=2):
        assert str(torch.tensor([1.23456])) == "tensor([1.23])"
        assert printing.PRINT_OPTS.precision == 2
    printing.PRINT_OPTS.edgeitems = 1
    try:
        assert printing.get_printoptions()["edgeitems"] == 1
    finally:
        printing.PRINT_OPTS.edgeitems = 3
    assert printing.get_printoptions() == before
    x = torch.ones(2, requires_grad=True)
    assert printing._str(x) == repr(x)
    with raises(AttributeError, ""):
        printing.PRINT_OPTS.no_such_option  # noqa: B018


def test_what_cannot_be_compared_says_where_it_is():
    with pytest.raises(
        TypeError, match=r"of type <class 'object'> and <class 'int'>.\n\nThe failure occurred for i"
    ):
        torch.testing.assert_close([object()], [1])
