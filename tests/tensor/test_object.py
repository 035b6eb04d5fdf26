"""A tensor as a Python object: properties, conversions, copies, identity, life and death."""

import copy
import gc
import math
import pickle
import warnings
import weakref

import numpy as np
import pytest
import rushlight as torch


def test_a_tensor_tells_its_shape():
    x = torch.zeros(2, 3, 4)
    assert isinstance(x.shape, torch.Size) and x.shape == (2, 3, 4) and x.size() == x.shape
    assert x.size(1) == 3 and x.size(-1) == 4
    assert x.dim() == x.ndim == x.ndimension() == 3
    assert x.numel() == x.nelement() == 24 and x.shape.numel() == 24
    assert len(x) == 2 and x.stride() == (12, 4, 1) and x.storage_offset() == 0
    assert x.itemsize == 4 and x.nbytes == 96 and x.element_size() == 4


def test_a_size_is_a_tuple_that_shows_itself():
    s = torch.zeros(2, 3).shape
    assert (
        isinstance(s, tuple) and repr(s) == "torch.Size([2, 3])" and str(torch.Size([])) == "torch.Size([])"
    )
    four = (4,)
    assert type(s[:1]) is torch.Size and type(s + four) is torch.Size and hash(s) == hash((2, 3))
    a, b = s
    assert (a, b) == (2, 3) and pickle.loads(pickle.dumps(s)) == s


def test_a_tensor_tells_where_it_is():
    x = torch.zeros(2)
    assert (
        x.device == torch.device("cpu") and str(x.device) == "cpu" and repr(x.device) == "device(type='cpu')"
    )
    assert x.device.type == "cpu" and x.device.index is None
    assert x.is_cpu and not x.is_cuda and x.layout is torch.strided and repr(x.layout) == "torch.strided"
    assert x.cpu() is x and not x.is_sparse and not x.is_complex()


def test_kinds_of_tensors_are_recognised():
    assert torch.is_tensor(torch.ones(1)) and not torch.is_tensor([1.0])
    assert isinstance(torch.ones(1), torch.Tensor) and type(torch.ones(1)) is torch.Tensor
    assert torch.ones(1).is_floating_point() and torch.is_floating_point(torch.ones(1))
    assert torch.numel(torch.ones(2, 3)) == 6


@pytest.mark.parametrize(
    ("value", "dtype", "kind"),
    [
        (3, torch.int64, int),
        (3, torch.uint8, int),
        (2.5, torch.float32, float),
        (2.5, torch.float64, float),
        (True, torch.bool, bool),
    ],
)
def test_item_gives_a_python_number(value, dtype, kind):
    x = torch.tensor(value, dtype=dtype)
    assert type(x.item()) is kind and x.item() == value
    assert torch.tensor([[value]], dtype=dtype).item() == value


def test_tolist_nests_like_the_shape():
    assert torch.arange(6).view(2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (
        torch.tensor(5).tolist() == 5
        and torch.empty(0).tolist() == []
        and torch.empty(2, 0).tolist() == [[], []]
    )
    assert torch.tensor([True]).tolist() == [True] and torch.arange(6).view(2, 3).t().tolist() == [
        [0, 3],
        [1, 4],
        [2, 5],
    ]


def test_single_elements_convert_to_python_numbers():
    x = torch.tensor(2.7)
    assert float(x) == pytest.approx(2.7) and int(x) == 2 and bool(x) is True and round(x.item(), 1) == 2.7
    assert int(torch.tensor([[5]])) == 5 and bool(torch.tensor([0])) is False
    assert math.sqrt(torch.tensor(4.0)) == 2.0 and complex(torch.tensor(2.0)) == 2 + 0j


def test_integer_tensors_are_indices():
    assert list(range(torch.tensor(3))) == [0, 1, 2] and "abc"[torch.tensor(1)] == "b"
    assert hex(torch.tensor(255)) == "0xff"


@pytest.mark.parametrize(
    ("spec", "value", "expected"),
    [
        (".2f", 3.14159, "3.14"),
        ("d", 7, "7"),
        ("", 1.5, "1.5"),
        ("5.1f", 2.0, "  2.0"),
        ("e", 12.5, "1.250000e+01"),
    ],
)
def test_format_of_a_0d_tensor_formats_its_number(spec, value, expected):
    assert format(torch.tensor(value), spec) == expected
    assert f"{torch.tensor([1.0, 2.0])}" == "tensor([1., 2.])"


def test_hash_is_identity():
    x, y = torch.ones(1), torch.ones(1)
    assert hash(x) == id(x) and len({x, y}) == 2 and {x: 1}[x] == 1


def test_clone_copy_zero_and_fill_write_where_they_say():
    x = torch.arange(4.0)
    y = x.clone()
    assert y.zero_() is y and y.tolist() == [0.0] * 4 and x.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert y.fill_(2).tolist() == [2.0] * 4 and y.fill_(torch.tensor(3.0)).tolist() == [3.0] * 4
    assert y.copy_(torch.tensor([1])).tolist() == [1.0] * 4
    assert y.copy_(x).tolist() == x.tolist()
    z = torch.zeros(2, 2)
    z.t().copy_(x.view(2, 2))
    assert z.tolist() == [[0.0, 2.0], [1.0, 3.0]]


def test_overlapping_copies_do_not_smear():
    x = torch.arange(5)
    x[1:] = x[:-1].clone()
    assert x.tolist() == [0, 0, 1, 2, 3]


def test_equal_compares_shape_and_values():
    assert torch.equal(torch.ones(2), torch.ones(2)) and not torch.equal(torch.ones(2), torch.ones(1, 2))
    assert not torch.equal(torch.tensor([math.nan]), torch.tensor([math.nan]))
    assert torch.allclose(torch.ones(2), torch.ones(2) + 1e-7) and not torch.allclose(
        torch.ones(2), torch.zeros(2)
    )


@pytest.mark.parametrize(
    "through", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"]
)
def test_copies_keep_values_dtype_flags_and_do_not_share(through):
    for x in (
        torch.ones(2, 3),
        torch.arange(3),
        torch.tensor(True),
        torch.ones(2, requires_grad=True),
        torch.empty(0, 2),
        torch.ones(2, 3).t(),
    ):
        y = through(x)
        assert y is not x and torch.equal(x, y) and y.dtype is x.dtype and y.requires_grad == x.requires_grad
        assert y.stride() == x.stride() and (x.numel() == 0 or y.data_ptr() != x.data_ptr())


def test_deepcopy_keeps_the_gradient_and_shared_references():
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    a, b = copy.deepcopy([x, x])
    assert a is b and a.grad is not x.grad and a.grad.tolist() == [3.0, 3.0]
    assert copy.copy(x) is not x


def test_attributes_of_ones_own_stay_and_are_copied_deeply():
    x = torch.ones(1)
    x.tag = {"a": 1}
    assert x.tag == {"a": 1} and x.__dict__ == {"tag": {"a": 1}}
    assert copy.deepcopy(x).tag == {"a": 1}
    del x.tag
    assert not hasattr(x, "tag")


def test_a_gradient_keeps_its_identity_and_attributes_when_out_of_reach():
    x = torch.ones(1, requires_grad=True)
    x.sum().backward()
    x.grad.tag = 1
    for _ in range(3):
        gc.collect()
        junk = [torch.zeros(1) for _ in range(100)]
        assert x.grad.tag == 1 and len(junk) == 100
    assert x.grad is x.grad


def test_a_tensor_held_only_by_the_graph_keeps_its_identity():
    w = torch.ones(2, requires_grad=True)
    w.tag = "leaf"
    y = w * 2
    del w
    gc.collect()
    assert y.grad_fn.next_functions[0][0].variable.tag == "leaf"


def test_a_base_held_only_by_its_view_keeps_its_attributes():
    base = torch.ones(4)
    base.tag = "base"
    view = base[1:]
    del base
    gc.collect()
    assert view._base.tag == "base"


def test_weak_references_live_and_die_with_the_object():
    x = torch.ones(1)
    seen = []
    reference = weakref.ref(x, lambda r: seen.append("gone"))
    assert reference() is x
    del x
    gc.collect()
    assert reference() is None and seen == ["gone"]


def test_results_die_at_once_without_the_collector():
    gc.disable()
    try:
        x = torch.ones(2, requires_grad=True)
        y = x * 2
        reference = weakref.ref(y)
        z = y + 1
        del y, z
        assert reference() is None
    finally:
        gc.enable()


def test_cycles_through_attributes_are_collected():
    x = torch.ones(1)
    x.myself = x
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None


def test_cycles_through_a_gradient_with_history_are_collected():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.ones(1, requires_grad=True)
        (x**3).sum().backward(create_graph=True)
    reference = weakref.ref(x)
    x.grad.note = x
    x.grad = None
    del x
    gc.collect()
    assert reference() is None


def test_subclasses_are_kept_where_python_keeps_them():
    class Special(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Special)
    assert type(x) is Special and isinstance(x, torch.Tensor)
    x.grad = torch.ones(2).as_subclass(Special)
    assert type(x.grad) is Special
    assert type(torch.nn.Parameter(torch.ones(1))) is torch.nn.Parameter


def test_a_parameter_is_a_tensor_that_requires_grad():
    p = torch.nn.Parameter(torch.ones(2))
    assert p.requires_grad and p.is_leaf and isinstance(p, torch.Tensor)
    assert type(p * 2) is torch.Tensor and type(p.data) is torch.Tensor and type(p.detach()) is torch.Tensor
    assert not torch.nn.Parameter(torch.ones(2), requires_grad=False).requires_grad


@pytest.mark.filterwarnings("ignore:__array__ implementation")
def test_numpy_functions_accept_tensors():
    x = torch.arange(4.0)
    assert np.array(x).tolist() == [0.0, 1.0, 2.0, 3.0] and np.float64(x[1]) == 1.0
    assert np.asarray([torch.tensor(1), torch.tensor(2)]).tolist() == [1, 2]


@pytest.mark.parametrize("dim", [-2, -1, 0, 3])
def test_a_number_has_no_dimension_to_ask_for(dim):
    x = torch.tensor(1.0)
    for ask in (x.size, x.stride):
        with pytest.raises(IndexError, match=f"Dimension specified as {dim} but tensor has no dimensions"):
            ask(dim)


class Behind:
    def __radd__(self, other):
        return "behind", other


def test_what_can_add_itself_to_a_size_does():
    assert torch.Size([1]) + Behind() == ("behind", torch.Size([1]))
    more = (2,)
    assert torch.Size([1]) + more == (1, 2)
    for other, name in (([1], "list"), (3, "int"), (None, "NoneType")):
        with pytest.raises(TypeError, match=rf"can only concatenate tuple \(not {name}\) to torch.Size"):
            torch.Size([1]) + other
