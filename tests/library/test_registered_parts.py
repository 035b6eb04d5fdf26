"""What may be registered with operators of one's own: types in mixed precision, rules within modes, kernels."""

from itertools import count

import pytest
import rushlight as torch
from rushlight.utils._python_dispatch import TorchDispatchMode
from support import raises

numbers = count()


@pytest.fixture
def operator():
    """An operator that doubles, and the types of the tensors that it was given."""
    seen = []

    @torch.library.custom_op(f"registered::double{next(numbers)}", mutates_args=())
    def double(x: torch.Tensor, others: list[torch.Tensor]) -> torch.Tensor:
        seen.extend([x.dtype, *(other.dtype for other in others), torch.is_autocast_enabled("cpu")])
        return x * 2

    return double, seen


def test_in_mixed_precision_an_operator_gets_the_type_that_is_registered_first(operator):
    double, seen = operator
    torch.library.register_autocast(double, "cpu", torch.bfloat16)
    double.register_autocast("cpu", torch.float32)
    x = torch.ones(2)
    with torch.autocast("cpu", dtype=torch.float16):
        assert double(x, [x.half(), x.double(), x.int()]).dtype is torch.bfloat16
    assert seen == [torch.bfloat16, torch.bfloat16, torch.float64, torch.int32, False]
    assert double(x, []).dtype is torch.float32


def test_the_conversion_is_differentiated(operator):
    double, _ = operator
    double.register_autocast("cpu", torch.bfloat16)
    double.register_autograd(lambda ctx, gradient: (gradient * 2, []))
    x = torch.ones(2, requires_grad=True)
    with torch.autocast("cpu"):
        y = double(x, [])
    assert y.grad_fn.next_functions[0][0].name() == "ToCopyBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and x.grad.dtype is torch.float32


def test_types_are_registered_for_devices(operator):
    double, _ = operator
    with raises(ValueError, "Expected `device_type` of type `str`, got: `<class 'int'>`"):
        double.register_autocast(3, torch.bfloat16)
    with raises(ValueError, "register_autocast(3): got unexpected type for op: <class 'int'>"):
        torch.library.register_autocast(3, "cpu", torch.bfloat16)


class Mode(TorchDispatchMode):
    """A mode that lets everything pass."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Derived(Mode):
    """A mode of another class."""


def test_an_operator_has_an_answer_of_its_own_within_a_mode(operator):
    double, _ = operator
    x = torch.ones(1)

    @torch.library.register_torch_dispatch(double, Mode)
    def answer(mode, func, types, args, kwargs):
        assert type(mode) is Mode and func is double._opoverload and types == ()
        assert args == (x, []) and kwargs == {}
        return args[0] * 5

    with Mode():
        assert double(x, []).item() == 5.0
    with Derived():
        assert double(x, []).item() == 2.0
    assert double(x, []).item() == 2.0


def test_a_kernel_is_turned_off_in_a_block(operator):
    double, _ = operator
    double.register_kernel("cpu", lambda x, others: x * 3)
    x = torch.ones(1)
    with double.set_kernel_enabled("cpu", enabled=False):
        assert double(x, []).item() == 2.0
    assert double(x, []).item() == 3.0


def test_former_names_say_so_and_what_is_never_called_too():
    with pytest.warns(FutureWarning, match="was renamed to `torch.library.register_fake`"):
        torch.library.impl_abstract("registered::double0", lambda x, others: torch.empty_like(x))
    with raises(NotImplementedError, "fallthrough_kernel() should never be called."):
        torch.library.fallthrough_kernel()
    assert torch.library.get_ctx() is None


def test_kernels_can_come_before_their_operator_and_the_nearest_key_computes():
    kernels = {
        factor: lambda x, factor=factor: x * factor for factor in (2, 3, 5, 7)
    }  # One each, to tell them apart.
    torch.library.impl("registered::early", ["CPU"])(kernels[2])
    with raises(AttributeError, "'_OpNamespace' 'registered' object has no attribute 'early'"):
        torch.ops.registered.early  # noqa: B018
    torch.library.define("registered::early", "(Tensor x) -> Tensor")
    torch.library.impl("registered::early", "default")(kernels[3])
    torch.library.impl("registered::early", "CUDA")(kernels[5])
    assert torch.ops.registered.early(torch.ones(1)).item() == 2

    torch.library.define("registered::late", "(Tensor x) -> Tensor")
    torch.library.impl("registered::late", "default", kernels[3])
    assert torch.ops.registered.late(torch.ones(1)).item() == 3
    torch.library.impl("registered::late", ["cuda", "cpu"], kernels[7])
    assert torch.ops.registered.late(torch.ones(1)).item() == 7
