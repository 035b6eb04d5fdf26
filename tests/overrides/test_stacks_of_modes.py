"""The modes that a thread is in, one by one, and blocks in which nobody is shown calls."""

import rushlight as torch
from rushlight import _C, overrides
from rushlight.overrides import TorchFunctionMode
from rushlight.utils import _python_dispatch as dispatch
from rushlight.utils._python_dispatch import TorchDispatchMode
from support import raises


class Seeing(TorchFunctionMode):
    def __init__(self):
        self.seen = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__)
        return func(*args, **(kwargs or {}))


class SeeingOperations(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Minding(torch.Tensor):
    seen = []  # noqa: RUF012

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


def test_modes_that_see_calls_are_pushed_and_popped():
    mode = Seeing()
    assert _C._len_torch_function_stack() == 0
    _C._push_on_torch_function_stack(mode)
    assert _C._len_torch_function_stack() == 1 and _C._get_function_stack_at(0) is mode
    torch.ones(1) + 1
    assert _C._pop_torch_function_stack() is mode
    torch.ones(1) + 1
    assert mode.seen == ["ones", "add"]
    with raises(RuntimeError, "trying to pop from empty mode stack"):
        _C._pop_torch_function_stack()
    with raises(RuntimeError, "Tried to get stack at idx that's too big"):
        _C._get_function_stack_at(0)


def test_modes_that_see_operations_are_pushed_and_popped():
    mode = SeeingOperations()
    _C._push_on_torch_dispatch_stack(mode)
    assert _C._len_torch_dispatch_stack() == 1 and _C._get_dispatch_stack_at(0) is mode
    torch.ones(1)
    assert _C._pop_torch_dispatch_stack(None) is mode
    assert mode.seen == ["aten.ones.default"]
    with raises(RuntimeError, "trying to pop from empty mode stack"):
        _C._pop_torch_dispatch_stack(None)


def test_nobody_is_shown_calls_in_a_block_that_disables_them():
    x = torch.ones(2).as_subclass(Minding)
    Minding.seen.clear()
    with Seeing() as mode, _C.DisableTorchFunction():
        x + 1
        torch.nn.functional.dropout(x, 0.0)
        assert _C._is_torch_function_all_disabled() and not _C._is_torch_function_enabled()
        assert not _C._is_torch_function_mode_enabled() and _C._len_torch_function_stack() == 1
        with _C._EnableTorchFunction():
            x - 1
    assert mode.seen == ["sub"] and Minding.seen == ["sub"]
    assert _C._is_torch_function_enabled()


def test_modes_are_shown_calls_where_classes_are_not():
    x = torch.ones(2).as_subclass(Minding)
    Minding.seen.clear()
    with Seeing() as mode, _C.DisableTorchFunctionSubclass():
        x + 1
        torch.nn.functional.dropout(x, 0.0)
        assert _C._is_torch_function_mode_enabled() and not _C._is_torch_function_enabled()
        assert _C._get_torch_function_state() == _C._TorchFunctionState.SUBCLASSES_DISABLED
    assert mode.seen[:2] == ["add", "dropout"] and Minding.seen == []


def test_arguments_are_asked_whether_they_want_to_see_calls():
    x = torch.ones(2).as_subclass(Minding)
    assert _C._has_torch_function((x,)) and _C._has_torch_function_unary(x)
    assert _C._has_torch_function_variadic(1, x) and not _C._has_torch_function_variadic()
    with _C.DisableTorchFunctionSubclass():
        assert not _C._has_torch_function_unary(x)


def test_modes_are_known_to_the_module_of_overrides():
    outer, inner = Seeing(), Seeing()
    assert overrides._get_current_function_mode() is None
    with outer:
        overrides._push_mode(inner)
        assert overrides._get_current_function_mode_stack() == [outer, inner]
        with overrides._pop_mode_temporarily() as taken:
            assert taken is inner and overrides._get_current_function_mode() is outer
        assert overrides._pop_mode() is inner
    with raises(RuntimeError, "trying to pop from empty mode stack"):
        overrides._pop_mode()


def test_modes_are_known_to_the_module_of_dispatch():
    outer, inner = SeeingOperations(), SeeingOperations()
    assert not dispatch.is_in_torch_dispatch_mode()
    with outer:
        dispatch._push_mode(inner)
        assert dispatch._get_current_dispatch_mode_stack() == [outer, inner]
        with dispatch._pop_mode_temporarily() as taken:
            assert taken is inner and dispatch._get_current_dispatch_mode() is outer
        assert dispatch._pop_mode() is inner
        assert dispatch.is_in_torch_dispatch_mode(include_infra_modes=False)
        assert dispatch.any_torch_dispatch_mode_on_stack()
    with raises(RuntimeError, "trying to pop from empty mode stack"):
        dispatch._pop_mode()


def test_arguments_are_asked_in_order_of_their_classes():
    x, minding = torch.ones(1), torch.ones(1).as_subclass(Minding)
    asked = overrides._get_overloaded_args((x, 3, minding, minding))
    assert len(asked) == 2 and asked[0] is minding and asked[1] is x


def test_functions_that_can_be_overridden_have_names():
    functions, names = overrides._get_overridable_functions()
    assert torch.add in functions[torch] and names[torch.add] == "torch.add"
    assert torch.Tensor.add in overrides._get_tensor_methods()
