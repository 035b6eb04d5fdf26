"""The modes that a thread is in, one by one, and blocks in which nobody is shown calls."""

import rushlight as torch
from rushlight import _C
from rushlight.overrides import TorchFunctionMode
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
