"""Views: shape, strides, shared memory, written through; against numpy's own views."""

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, check_gradient, raises, sample

# name: (the view, the same in numpy, shape of the base)
VIEWS = {
    "view": (lambda x: x.view(3, 8), lambda a: a.reshape(3, 8), (2, 3, 4)),
    "view with -1": (lambda x: x.view(-1, 6), lambda a: a.reshape(-1, 6), (2, 3, 4)),
    "view of a tuple": (lambda x: x.view((4, 6)), lambda a: a.reshape(4, 6), (2, 3, 4)),
    "view to a scalar": (lambda x: x.view(()), lambda a: a.reshape(()), (1, 1)),
    "view of a transposed part": (
        lambda x: x.transpose(0, 1).view(3, 2, 2, 2),
        lambda a: a.swapaxes(0, 1).reshape(3, 2, 2, 2),
        (2, 3, 4),
    ),
    "view_as": (lambda x: x.view_as(torch.ones(6, 4)), lambda a: a.reshape(6, 4), (2, 3, 4)),
    "reshape": (lambda x: x.reshape(4, 6), lambda a: a.reshape(4, 6), (2, 3, 4)),
    "reshape -1": (lambda x: x.reshape(-1), lambda a: a.reshape(-1), (2, 3, 4)),
    "flatten": (lambda x: x.flatten(), lambda a: a.reshape(-1), (2, 3, 4)),
    "flatten some": (lambda x: x.flatten(1), lambda a: a.reshape(2, 12), (2, 3, 4)),
    "t": (lambda x: x.t(), lambda a: a.T, (2, 3)),
    "t of a vector": (lambda x: x.t(), lambda a: a, (3,)),
    "T": (lambda x: x.T, lambda a: a.T, (2, 3)),
    "mT": (lambda x: x.mT, lambda a: a.swapaxes(-1, -2), (2, 3, 4)),
    "transpose": (lambda x: x.transpose(0, 2), lambda a: a.swapaxes(0, 2), (2, 3, 4)),
    "transpose negative": (lambda x: x.transpose(-1, -2), lambda a: a.swapaxes(-1, -2), (2, 3, 4)),
    "transpose of a scalar": (lambda x: x.transpose(0, -1), lambda a: a, ()),
    "permute": (lambda x: x.permute(2, 0, 1), lambda a: a.transpose(2, 0, 1), (2, 3, 4)),
    "permute tuple": (lambda x: x.permute((-1, 0, 1)), lambda a: a.transpose(2, 0, 1), (2, 3, 4)),
    "permute nothing": (lambda x: x.permute(()), lambda a: a, ()),
    "squeeze": (lambda x: x.squeeze(), lambda a: a.squeeze(), (1, 3, 1)),
    "squeeze one": (lambda x: x.squeeze(0), lambda a: a.squeeze(0), (1, 3, 1)),
    "squeeze a real dimension": (lambda x: x.squeeze(1), lambda a: a, (1, 3, 1)),
    "squeeze several": (lambda x: x.squeeze((0, 1, -1)), lambda a: a.squeeze((0, 2)), (1, 3, 1)),
    "unsqueeze": (lambda x: x.unsqueeze(1), lambda a: a[:, None], (2, 3)),
    "unsqueeze last": (lambda x: x.unsqueeze(-1), lambda a: a[..., None], (2, 3)),
    "unsqueeze a scalar": (lambda x: x.unsqueeze(0), lambda a: a[None], ()),
    "narrow": (lambda x: x.narrow(1, 1, 2), lambda a: a[:, 1:3], (2, 3)),
    "narrow negative": (lambda x: x.narrow(-1, -2, 1), lambda a: a[:, -2:-1], (2, 3)),
    "narrow to nothing": (lambda x: x.narrow(0, 2, 0), lambda a: a[2:], (2, 3)),
    "select": (lambda x: x.select(1, 2), lambda a: a[:, 2], (2, 3)),
    "select negative": (lambda x: x.select(-1, -1), lambda a: a[:, -1], (2, 3)),
    "integer": (lambda x: x[1], lambda a: a[1], (2, 3)),
    "slice": (lambda x: x[:, 1:], lambda a: a[:, 1:], (2, 3)),
    "slice step": (lambda x: x[::2, 1::2], lambda a: a[::2, 1::2], (5, 6)),
    "slice beyond": (lambda x: x[1:100, -100:2], lambda a: a[1:100, -100:2], (5, 6)),
    "slice empty": (lambda x: x[3:1], lambda a: a[3:1], (5, 6)),
    "ellipsis": (lambda x: x[..., 0], lambda a: a[..., 0], (2, 3, 4)),
    "ellipsis alone": (lambda x: x[...], lambda a: a[...], (2, 3)),
    "None": (lambda x: x[None, :, None], lambda a: a[None, :, None], (2, 3)),
    "mixed": (lambda x: x[0, ..., None, 1:3], lambda a: a[0, ..., None, 1:3], (2, 3, 4)),
    "diagonal": (lambda x: x.diagonal(), lambda a: a.diagonal(), (3, 4)),
    "diagonal above": (lambda x: x.diagonal(1), lambda a: a.diagonal(1), (3, 4)),
    "diagonal below": (lambda x: x.diagonal(-2), lambda a: a.diagonal(-2), (3, 4)),
    "diagonal outside": (lambda x: x.diagonal(7), lambda a: a.diagonal(7), (3, 4)),
    "diagonal of dims": (lambda x: x.diagonal(0, 0, 2), lambda a: a.diagonal(0, 0, 2), (3, 4, 5)),
    "unbind": (lambda x: x.unbind()[1], lambda a: a[1], (2, 3)),
    "unbind dim": (lambda x: x.unbind(-1)[2], lambda a: a[:, 2], (2, 3)),
    "detach": (lambda x: x.detach(), lambda a: a, (2, 3)),
}


def base(shape):
    return torch.arange(int(np.prod(shape)), dtype=torch.float64).reshape(shape)


@pytest.mark.parametrize(("view", "same", "shape"), VIEWS.values(), ids=VIEWS)
def test_the_view_has_the_shape_values_and_strides_of_numpy(view, same, shape):
    x = base(shape)
    expected = same(x.numpy())
    result = view(x)
    assert tuple(result.shape) == expected.shape
    assert_tensor(result, expected)
    if expected.size > 1 and 1 not in expected.shape:
        assert result.stride() == tuple(s // 8 for s in expected.strides)
    assert result.is_contiguous() == expected.flags.c_contiguous


@pytest.mark.parametrize(("view", "same", "shape"), VIEWS.values(), ids=VIEWS)
def test_a_write_through_the_view_is_seen_in_the_base_and_back(view, same, shape):
    x = base(shape)
    array = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)
    v = view(x)
    v += 100
    places = same(array).astype(int)
    array.flat[places.ravel()] += 100
    assert_tensor(x, array)
    x.fill_(5)
    assert_tensor(v, np.full(places.shape, 5.0))


@pytest.mark.parametrize(("view", "same", "shape"), VIEWS.values(), ids=VIEWS)
def test_the_address_of_the_view_is_that_of_its_first_element(view, same, shape):
    x = base(shape)
    v = view(x)
    if v.numel():
        assert v.data_ptr() == x.data_ptr() + 8 * v.storage_offset()
        assert v.storage_offset() == int(same(x.numpy().copy()).flat[0])


@pytest.mark.parametrize(
    ("view", "same", "shape"),
    [row for name, row in VIEWS.items() if name != "detach"],
    ids=[n for n in VIEWS if n != "detach"],
)
def test_the_gradient_flows_through_the_view(view, same, shape):
    if view(base(shape)).numel():
        check_gradient(lambda x: view(x) * 2, sample(*shape))


@pytest.mark.parametrize(
    ("view", "same", "shape"),
    [row for name, row in VIEWS.items() if name != "detach"],
    ids=[n for n in VIEWS if n != "detach"],
)
def test_the_view_knows_its_base(view, same, shape):
    x = base(shape).clone()
    v = view(x)
    assert v._is_view()
    assert v._base is x
    assert not x._is_view() and x._base is None


def test_a_view_of_a_view_has_the_first_base():
    x = torch.arange(24.0).view(4, 6).clone()
    assert x[1:].t()[2].view(-1)._base is x


def test_a_detached_tensor_shares_memory_but_does_not_count_as_a_view():
    x = torch.ones(2, 3, requires_grad=True)
    assert x.detach().data_ptr() == x.data_ptr()
    assert not x.detach()._is_view() and x.detach()._base is None


def test_reshape_copies_when_it_must():
    x = base((2, 3))
    r = x.t().reshape(6)
    assert r.data_ptr() != x.data_ptr()
    assert r.tolist() == [0, 3, 1, 4, 2, 5]
    r.fill_(9)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_expand_repeats_without_memory():
    x = torch.tensor([[1.0], [2.0]])
    e = x.expand(2, 3)
    assert e.stride() == (1, 0)
    assert e.data_ptr() == x.data_ptr()
    assert e.tolist() == [[1.0] * 3, [2.0] * 3]
    assert not e.is_contiguous()


@pytest.mark.parametrize(
    ("shape", "target", "expected", "strides"),
    [
        ((3,), (2, 3), (2, 3), (0, 1)),
        ((3, 1), (3, 4), (3, 4), (1, 0)),
        ((3, 1), (-1, 4), (3, 4), (1, 0)),
        ((1, 3), (2, -1, -1), (2, 1, 3), (0, 3, 1)),
        ((), (2, 2), (2, 2), (0, 0)),
        ((1,), (0,), (0,), (0,)),
        ((2, 3), (2, 3), (2, 3), (3, 1)),
    ],
)
def test_expand_repeats_by_strides_of_zero(shape, target, expected, strides):
    e = base(shape).expand(target)
    assert tuple(e.shape) == expected and e.stride() == strides
    assert base(shape).expand(*target).shape == e.shape


def test_expand_as_passes_its_gradient():
    check_gradient(lambda x: x.expand_as(torch.ones(4, 2, 3)) * 2, sample(2, 1))


def test_contiguous_returns_the_same_object_or_a_copy():
    x = base((2, 3))
    assert x.contiguous() is x
    c = x.t().contiguous()
    assert c.is_contiguous() and c.data_ptr() != x.data_ptr()
    assert c.tolist() == x.t().tolist()


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: torch.ones(2, 3), True),
        (lambda: torch.ones(2, 3).t(), False),
        (lambda: torch.ones(1, 3).t(), True),
        (lambda: torch.ones(2, 3)[:, :1], False),
        (lambda: torch.ones(2, 3)[:1, :2], True),
        (lambda: torch.ones(0, 3).t(), True),
        (lambda: torch.ones(()), True),
        (lambda: torch.ones(3).expand(1, 3), True),
        (lambda: torch.ones(1).expand(3), False),
        (lambda: torch.ones(4)[::2], False),
    ],
    ids=[
        "plain",
        "t",
        "t of row",
        "column",
        "part of row",
        "empty",
        "scalar",
        "expanded by one",
        "expanded",
        "step",
    ],
)
def test_contiguous_is_what_lies_in_row_major_order(make, expected):
    assert make().is_contiguous() is expected


@pytest.mark.parametrize(
    ("shape", "strides"),
    [((), ()), ((3,), (1,)), ((2, 3), (3, 1)), ((2, 0, 3), (3, 3, 1)), ((0,), (1,)), ((1, 1, 5), (5, 5, 1))],
)
def test_new_tensors_have_these_strides(shape, strides):
    assert torch.ones(shape).stride() == strides
    if shape:
        assert torch.ones(shape).stride(-1) == strides[-1]


def test_results_of_dense_operands_keep_their_order_in_memory():
    x = torch.ones(2, 3).t()
    assert (x * 2).stride() == (1, 3)
    assert x.exp().stride() == (1, 3)
    assert (x + x).stride() == (1, 3)
    assert x.clone().stride() == (1, 3)
    assert torch.zeros_like(x).stride() == (1, 3)
    assert (x + torch.ones(3, 2)).stride() == (1, 3)
    assert torch.ones(1).expand(3).clone().stride() == (1,)
    assert torch.ones(4, 2)[:, ::2].clone().stride() == (1, 1)


def test_a_view_keeps_the_memory_alive():
    v = torch.arange(5.0)[2:]
    assert v.tolist() == [2.0, 3.0, 4.0]


def test_of_several_dimensions_that_do_not_fit_the_innermost_is_told_of():
    a, b = torch.ones(2, 3), torch.ones(3, 2)
    told = "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1"
    for operation in (torch.add, torch.mul, torch.Tensor.add_, torch.Tensor.copy_):
        with raises(RuntimeError, told):
            operation(a, b)
    with raises(
        RuntimeError, "The expanded size of the tensor (2) must match the existing size (3) at non-s"
    ):
        a.expand(3, 2)


def test_a_transposition_in_place_is_named_as_such():
    with raises(RuntimeError, "t_() expects a tensor with <= 2 dimensions, but self is 3D"):
        torch.ones(1, 1, 1).t_()


@pytest.mark.parametrize(
    ("make", "strides"),
    [
        (lambda: torch.ones(2, 3).expand(1, 2, 3), (6, 3, 1)),
        (lambda: torch.ones(2, 3).expand(4, 1, 2, 3), (0, 6, 3, 1)),
        (lambda: torch.ones(3, 2).t().expand(1, 2, 3), (2, 1, 2)),
        (lambda: torch.ones(1, 3).expand(1, 1, 3), (3, 3, 1)),
        (lambda: torch.ones(()).expand(1, 1), (0, 0)),
        (lambda: torch.broadcast_to(torch.ones(3), (1, 3)), (3, 1)),
    ],
)
def test_a_dimension_in_front_that_repeats_nothing_has_the_stride_of_all_that_follows(make, strides):
    assert make().stride() == strides


def test_a_view_may_be_assigned_what_it_shows_already():
    x = torch.ones(2, 3, requires_grad=True) * 1
    x[None][...] = x
    assert x._version == 1 and x.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize(
    ("view", "offset"),
    [
        (lambda x: x[3:], 12),
        (lambda x: x[:, 4:], 4),
        (lambda x: x[2:1], 8),
        (lambda x: x[3:][:, 1], 13),
        (lambda x: x[1:][2:], 12),
        (lambda x: x.narrow(1, 2, 0), 2),
        (lambda x: x.split([1, 0, 2])[1], 4),
        (lambda x: x.tensor_split([1, 1])[1], 4),
        (lambda x: x.diagonal(5), 0),
    ],
)
def test_a_view_of_nothing_begins_where_its_first_element_would_be(view, offset):
    x = torch.arange(12.0).reshape(3, 4)
    empty = view(x)
    assert (empty.numel(), empty.storage_offset()) == (0, offset)
    empty.add_(1).clone().sum()
    assert x.tolist() == torch.arange(12.0).reshape(3, 4).tolist()


def test_a_gradient_passes_a_view_of_nothing():
    x = torch.ones(3, 4, requires_grad=True)
    (x[3:].sum() + (x[:, 4:] * 2).sum() + x[3:][:, 1].exp().sum() + x.sum()).backward()
    assert x.grad.tolist() == [[1.0] * 4] * 3


def test_one_tensor_broadcasts_to_itself():
    x = torch.ones(2, 3)
    (alone,) = torch.broadcast_tensors(x)
    assert alone.shape == x.shape and alone.data_ptr() == x.data_ptr()
    assert torch.broadcast_tensors() == ()
    with raises(TypeError, "expected Tensor as element 0 in argument 0, but got list"):
        torch.broadcast_tensors([x, x])
