"""Tensors without numbers, and what classes of them are made with."""

import copy

import numpy as np
import pytest
import rushlight as torch
from dispatch.tensors import Logged, Two
from rushlight.utils._mode_utils import no_dispatch
from rushlight.utils._python_dispatch import (
    BaseTorchDispatchMode,
    is_traceable_wrapper_subclass,
    is_traceable_wrapper_subclass_type,
    transform_subclass,
)
from support import raises

make = torch.Tensor._make_wrapper_subclass


class Plain(torch.Tensor):
    pass


def two(requires_grad=False):
    x = Two(torch.ones(2, 2), torch.full((2, 2), 2.0))
    return x.requires_grad_() if requires_grad else x


def test_a_wrapper_has_a_form():
    x = make(Logged, (2, 3), strides=(1, 2), storage_offset=5, dtype=torch.float64)
    assert type(x) is Logged and x.shape == (2, 3) and x.stride() == (1, 2) and x.storage_offset() == 5
    assert x.dtype is torch.float64 and x.layout is torch.strided and x.device.type == "cpu"
    assert not x.requires_grad and x.is_leaf and x.numel() == 6 and not x.is_contiguous()


def test_a_form_is_given_by_position_too():
    x = make(Logged, (2, 3), (1, 2), 0, None, torch.float64, torch.strided, torch.device("cpu"), False, True)
    assert (x.shape, x.stride(), x.dtype, x.requires_grad) == ((2, 3), (1, 2), torch.float64, True)


def test_a_wrapper_may_require_grad():
    assert make(Logged, (2,), requires_grad=True).requires_grad
    assert make(Logged, [2]).dtype is torch.get_default_dtype()


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: make(Plain, (2,)), TypeError, "Plain must define __torch_dispatch__"),
        (lambda: make(torch.Tensor, (2,)), TypeError, "Tensor must define __torch_dispatch__"),
        (
            lambda: make(int, (2,)),
            TypeError,
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make "
            "sure your class inherits from Tensor.",
        ),
        (
            lambda: make(Logged),
            TypeError,
            '_make_wrapper_subclass() missing 1 required positional arguments: "size"',
        ),
        (
            lambda: make(Logged, 3),
            TypeError,
            "_make_wrapper_subclass(): argument 'size' (position 2) must be tuple of ints, not int",
        ),
        (
            lambda: make(Logged, (2,), foo=1),
            TypeError,
            "_make_wrapper_subclass() got an unexpected keyword argument 'foo'",
        ),
        (
            lambda: make(Logged, (2,), "x"),
            TypeError,
            "_make_wrapper_subclass(): argument 'strides' (position 3) must be tuple of ints, not str",
        ),
        (
            lambda: make(Logged, (2,), (1,), strides=(1,)),
            TypeError,
            "_make_wrapper_subclass() got multiple values for argument 'strides'",
        ),
        (
            lambda: make(Logged, *[None] * 15),
            TypeError,
            "_make_wrapper_subclass() takes from 2 to 15 positional arguments but 16 were given",
        ),
        (lambda: make(Logged, (-2, 3)), RuntimeError, "numel: integer multiplication overflow"),
        (
            lambda: make(Logged, (2, 3), strides=(1,)),
            RuntimeError,
            "dimensionality of sizes (2) must match dimensionality of strides (1)",
        ),
        (
            lambda: make(Logged, (2,), dtype=torch.int64, requires_grad=True),
            RuntimeError,
            "Only Tensors of floating point and complex dtype can require gradients",
        ),
        (
            lambda: make(Logged, (2,), dispatch_sizes_strides_policy="other"),
            ValueError,
            "Unknown sizes_strides_policy: other; expected 'strides' or 'sizes'",
        ),
    ],
)
def test_what_is_no_wrapper_is_refused(call, kind, text):
    with raises(kind, text):
        call()


def test_there_are_no_numbers_to_show():
    x = Logged(torch.ones(3))
    with raises(RuntimeError, ".numpy() is not supported for tensor subclasses."):
        x.numpy()
    with raises(RuntimeError, ".numpy() is not supported for tensor subclasses."):
        np.asarray(x)
    with raises(RuntimeError, ".tolist() is not supported for tensor subclasses, got Logged"):
        x.tolist()
    with raises(RuntimeError, "Attempted to access the data pointer on an invalid python storage."):
        x.untyped_storage().data_ptr()
    assert x.data_ptr() == 0 and x.untyped_storage().nbytes() == 12


# torch raises the same, but has lost tangents and transforms from then on.
@pytest.mark.own
def test_without_a_text_of_its_own_there_is_nothing_to_print():
    class Silent(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with raises(TypeError, ""):
        repr(make(Silent, (2,)))


def test_a_subclass_is_made_on_the_memory_of_a_tensor():
    data = torch.ones(2)
    x = torch.Tensor._make_subclass(Plain, data, True)
    assert type(x) is Plain and x.requires_grad and x.data_ptr() == data.data_ptr()
    with raises(TypeError, "_make_subclass(): argument 'data' (position 2) must be Tensor, not int"):
        torch.Tensor._make_subclass(Plain, 3)


def test_a_wrapper_computes_with_two_tensors_at_once():
    x = two(requires_grad=True)
    y = (x * x).sum()
    y.backward()
    assert y.a.item() == 4 and y.b.item() == 16
    assert type(x.grad) is Two and torch.equal(x.grad.b, torch.full((2, 2), 4.0))


def test_writes_return_the_tensor_written_to():
    x = two()
    assert x.mul_(3) is x and torch.equal(x.b, torch.full((2, 2), 6.0)) and x._version == 1


def test_writes_to_views_are_recorded():
    x = two(requires_grad=True)
    y = x * 1
    y.view(-1)[0].mul_(5)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(gradient.a, torch.tensor([[5.0, 1.0], [1.0, 1.0]]))


def test_wrappers_may_lie_in_wrappers():
    x = Two(two(), two()) + 1
    assert type(x.a) is Two and torch.equal(x.b.b, torch.full((2, 2), 3.0))


def test_wrappers_that_can_be_taken_apart():
    x = two()
    assert is_traceable_wrapper_subclass(x) and is_traceable_wrapper_subclass_type(Two)
    assert not is_traceable_wrapper_subclass(torch.ones(2))
    assert not is_traceable_wrapper_subclass(Logged(torch.ones(2))) and not is_traceable_wrapper_subclass(3)
    doubled = transform_subclass(x, lambda name, part: part * 2)
    assert type(doubled) is Two and torch.equal(doubled.b, torch.full((2, 2), 4.0))


def test_the_mode_that_changes_nothing():
    with BaseTorchDispatchMode():
        assert torch.equal(torch.ones(2) + 1, torch.full((2,), 2.0))


def test_a_block_in_which_no_class_is_shown_anything():
    class Checked(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            with no_dispatch():
                result = func(*args, **(kwargs or {}))
                if result.isnan().any():
                    raise RuntimeError(f"not a number in {func}")
            return result.as_subclass(cls)

    x = torch.tensor([-1.0, 1.0]).as_subclass(Checked)
    assert type((x + 2).log()) is Checked
    with raises(RuntimeError, "not a number in aten.log.default"):
        x.log()


def test_a_copy_shares_what_is_inside_and_a_deep_copy_does_not():
    x = Logged(torch.ones(2))
    x.note = "here"
    copied = copy.copy(x)
    assert type(copied) is Logged and copied.elem is x.elem and copied.note == "here"
    deep = copy.deepcopy(x)
    assert type(deep) is Logged and torch.equal(deep.elem, x.elem) and deep.elem is not x.elem


def test_deep_copies_need_a_class_that_copies():
    class Bare(Logged):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*[arg.elem if isinstance(arg, Bare) else arg for arg in args])

    text = (
        "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types "
        "that implement clone() and for which cloning returns another instance of the same subclass."
    )
    with raises(RuntimeError, text):
        copy.deepcopy(Bare(torch.ones(2)))
