"""Calls of modules: forward alone where there are no hooks, and what classes and instances may do about it."""

from collections import OrderedDict

import pytest
import rushlight as torch
from rushlight import nn


class Adding(nn.Module):
    def forward(self, x, *more, by=1):
        return x + by + sum(more)


def test_arguments_by_place_and_by_name_arrive():
    module = Adding()
    assert module(1) == 2
    assert module(1, 10, 20) == 32
    assert module(1, by=5) == 6
    assert module(x=1, by=5) == 6
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        module()
    with pytest.raises(TypeError, match="unexpected keyword argument 'to'"):
        module(1, to=2)


def test_a_hook_is_called_from_its_registration_to_its_removal():
    module, seen = Adding(), []
    module(1)
    before = module.register_forward_pre_hook(lambda module, args: seen.append(args))
    after = module.register_forward_hook(lambda module, args, result: result * 10)
    assert module(1) == 20
    before.remove()
    after.remove()
    assert module(1) == 2
    assert seen == [(1,)]


@pytest.mark.parametrize("register", ["forward_pre_hook", "forward_hook"])
def test_a_hook_of_every_module_is_called(register):
    module, seen = Adding(), []
    register = getattr(nn.modules.module, f"register_module_{register}")
    handle = register(lambda *args: seen.append(args[0]))
    try:
        module(1)
    finally:
        handle.remove()
    module(1)
    assert seen == [module]


def test_backward_hooks_are_called():
    module, seen = Adding(), []
    handle = module.register_full_backward_hook(lambda module, inputs, outputs: seen.append(outputs))
    x = torch.ones(2, requires_grad=True)
    module(x).sum().backward()
    handle.remove()
    module(x).sum().backward()
    assert len(seen) == 1


def test_tables_of_hooks_may_be_replaced():
    module = Adding()
    module(1)
    module._forward_hooks = OrderedDict({1: lambda module, args, result: -result})
    assert module(1) == -2
    module._forward_hooks = OrderedDict()
    assert module(1) == 2
    module._forward_hooks = None
    assert module(1) == 2


def test_a_module_without_tables_says_so():
    class Unmade(nn.Module):
        def __init__(self):
            pass

        def forward(self):
            return 1

    with pytest.raises(AttributeError, match="'Unmade' object has no attribute '_forward_pre_hooks'"):
        Unmade()()


def test_forward_may_be_one_of_the_instance():
    module = Adding()
    module.forward = lambda x: ("own", x)
    assert module(3) == ("own", 3)


def test_a_class_without_forward_says_so():
    class Idle(nn.Module):
        pass

    with pytest.raises(NotImplementedError, match=r'Module \[Idle\] is missing the required "forward"'):
        Idle()(1)


def test_a_class_may_be_called_in_its_own_way():
    class Twice(Adding):
        def __call__(self, *args):
            return super().__call__(super().__call__(*args))

    class Below(Twice):
        pass

    assert Twice()(1) == Below()(1) == 3


def test_a_class_may_be_called_by_a_call_impl_of_its_own():
    class Own(Adding):
        def _call_impl(self, *args, **kwargs):
            return "own", self._slow_forward(*args, **kwargs)

    class Below(Own):
        def forward(self, x):
            return 2 * x

    class Again(Own):
        def __call__(self, x):
            return "again", self._call_impl(x)

    assert Own()(1, by=3) == ("own", 4)
    assert Below()(4) == ("own", 8)
    assert Again()(1) == ("again", ("own", 2))
    assert Adding()(1) == Adding()._call_impl(1) == Adding()._wrapped_call_impl(1) == 2


def test_what_is_assigned_to_a_class_is_called_for_those_below_it(monkeypatch):
    class Below(Adding):
        pass

    module = Below()
    assert module(1) == 2
    plain = nn.Module.__call__
    with monkeypatch.context() as patch:
        patch.setattr(nn.Module, "__call__", lambda self, *args: ("seen", plain(self, *args)))
        assert module(1) == ("seen", 2)

        class Made(Adding):
            pass

        assert Made()(1) == ("seen", 2)
    assert module(1) == Made()(1) == 2


@pytest.mark.parametrize(
    ("module", "sizes", "called"),
    [
        (nn.ReLU(), (2, 4), ["relu"]),
        (nn.Sigmoid(), (2, 4), []),
        (nn.Tanh(), (2, 4), []),
        (nn.MaxPool1d(2), (2, 4, 8), ["max_pool1d"]),
        (nn.MaxPool2d(2, return_indices=True), (2, 4, 8, 8), ["max_pool2d"]),
        (nn.MaxPool3d(2), (2, 4, 4, 4, 4), ["max_pool3d"]),
        (nn.AvgPool1d(2), (2, 4, 8), ["avg_pool1d"]),
        (nn.AvgPool2d(2), (2, 4, 8, 8), ["avg_pool2d"]),
        (nn.AvgPool3d(2), (2, 4, 4, 4, 4), ["avg_pool3d"]),
        (nn.AdaptiveAvgPool1d(2), (2, 4, 8), ["adaptive_avg_pool1d"]),
        (nn.AdaptiveAvgPool2d(2), (2, 4, 8, 8), ["adaptive_avg_pool2d"]),
        (nn.AdaptiveMaxPool2d(2), (2, 4, 8, 8), ["adaptive_max_pool2d"]),
        (nn.FractionalMaxPool2d(2, output_size=2), (2, 4, 8, 8), ["fractional_max_pool2d"]),
        (nn.ConvTranspose2d(4, 4, 2), (2, 4, 8, 8), ["conv_transpose2d"]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_modules_call_what_is_in_functional_then(module, sizes, called, monkeypatch):
    seen = []

    def counted(name):
        function = getattr(nn.functional, name)

        def counting(*args, **kwargs):
            seen.append(name)
            return function(*args, **kwargs)

        monkeypatch.setattr(nn.functional, name, counting)

    for name in {"relu", "sigmoid", "tanh", *called}:
        counted(name)
    module(torch.randn(sizes))
    assert seen == called


def test_attention_calls_what_is_in_functional_then(monkeypatch):
    monkeypatch.setattr(nn.functional, "multi_head_attention_forward", lambda *args, **kwargs: ("seen", None))
    x = torch.randn(2, 3, 4)
    assert nn.MultiheadAttention(4, 2)(x, x, x)[0] == "seen"


def test_exceptions_pass_through():
    class Failing(nn.Module):
        def forward(self):
            raise KeyError("of forward")

    with pytest.raises(KeyError, match="of forward"):
        Failing()()


def test_a_module_that_calls_itself_for_ever_raises():
    class Endless(nn.Module):
        def forward(self):
            return self()

    with pytest.raises(RecursionError):
        Endless()()


def test_arguments_are_given_back():
    class Kept:
        pass

    import weakref

    value, module = Kept(), nn.Identity()
    there = weakref.ref(value)
    assert module(value) is value
    assert module(input=value) is value
    del value
    assert there() is None


@pytest.mark.own
def test_only_classes_written_in_python_are_called_so():
    with pytest.raises(TypeError, match="only instances of classes written in Python have hooks"):
        torch._rushlight._call_forward_natively(int)
