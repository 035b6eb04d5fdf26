"""`no_grad`, `enable_grad`, `set_grad_enabled`: as blocks, as decorators, per thread."""

import threading

import pytest
import rushlight as torch
from support import raises


def recorded():
    """Does an operation on a leaf get a history now?"""
    return (torch.ones(1, requires_grad=True) * 2).requires_grad


def test_recording_is_on_at_the_start():
    assert torch.is_grad_enabled() and recorded()


@pytest.mark.parametrize(
    ("mode", "enabled"),
    [
        (lambda: torch.no_grad(), False),
        (lambda: torch.enable_grad(), True),
        (lambda: torch.set_grad_enabled(False), False),
        (lambda: torch.set_grad_enabled(True), True),
    ],
    ids=["no_grad", "enable_grad", "set_grad_enabled(False)", "set_grad_enabled(True)"],
)
@pytest.mark.parametrize("before", [True, False])
def test_a_block_sets_the_mode_and_puts_it_back(mode, enabled, before):
    torch.set_grad_enabled(before)
    with mode():
        assert torch.is_grad_enabled() is enabled
        assert recorded() is enabled
    assert torch.is_grad_enabled() is before


def test_set_grad_enabled_works_at_once_without_a_block():
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    assert torch.is_grad_enabled()


def test_a_block_of_set_grad_enabled_puts_back_what_was_before_its_creation():
    mode = torch.set_grad_enabled(False)
    with mode:
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_modes_nest():
    with torch.no_grad():
        with torch.enable_grad():
            assert torch.is_grad_enabled()
            with torch.no_grad():
                assert not torch.is_grad_enabled()
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_one_object_can_be_entered_again():
    mode = torch.no_grad()
    for _ in range(2):
        with mode:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()


def test_an_exception_puts_the_mode_back_and_passes_through():
    with raises(KeyError, "'x'"):
        with torch.no_grad():
            raise KeyError("x")
    assert torch.is_grad_enabled()


def test_the_block_gives_none():
    with torch.no_grad() as value:
        assert value is None


@pytest.mark.parametrize("decorate", [torch.no_grad(), torch.no_grad], ids=["with-parentheses", "without"])
def test_no_grad_decorates_a_function(decorate):
    @decorate
    def function(a, *, b):
        """Its own text."""
        return torch.is_grad_enabled(), a, b

    assert function(1, b=2) == (False, 1, 2)
    assert function.__name__ == "function" and function.__doc__ == "Its own text."
    assert torch.is_grad_enabled()


def test_enable_grad_decorates_a_function():
    @torch.enable_grad()
    def function():
        return torch.is_grad_enabled()

    with torch.no_grad():
        assert function()
        assert not torch.is_grad_enabled()


def test_set_grad_enabled_decorates_a_function_and_is_not_in_force_meanwhile():
    @torch.set_grad_enabled(False)
    def function():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()
    assert function() is False
    assert torch.is_grad_enabled()


def test_a_decorated_function_that_raises_puts_the_mode_back():
    @torch.no_grad()
    def function():
        raise ValueError("no")

    with raises(ValueError, "no"):
        function()
    assert torch.is_grad_enabled()


def test_a_decorated_method_receives_its_object():
    class Thing:
        @torch.no_grad()
        def method(self):
            return self, torch.is_grad_enabled()

    thing = Thing()
    assert thing.method() == (thing, False)


def test_a_decorated_generator_has_the_mode_inside_only():
    @torch.no_grad()
    def generate():
        for i in range(3):
            yield i, torch.is_grad_enabled()

    results = []
    for pair in generate():
        assert torch.is_grad_enabled()
        results.append(pair)
    assert results == [(0, False), (1, False), (2, False)]


def test_a_decorated_generator_passes_values_exceptions_and_its_return():
    @torch.no_grad()
    def generate():
        received = yield torch.is_grad_enabled()
        try:
            yield received
        except KeyError:
            yield ("caught", torch.is_grad_enabled())
        return "end"

    generator = generate()
    assert next(generator) is False
    assert generator.send("value") == "value"
    assert generator.throw(KeyError("x")) == ("caught", False)
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "end"
    assert torch.is_grad_enabled()


def test_a_decorated_generator_closes_with_the_mode():
    seen = []

    @torch.no_grad()
    def generate():
        try:
            yield 1
        finally:
            seen.append(torch.is_grad_enabled())

    generator = generate()
    next(generator)
    generator.close()
    assert seen == [False]


def test_every_thread_has_its_own_mode():
    inside, go = threading.Event(), threading.Event()
    seen = []

    def work():
        seen.append(torch.is_grad_enabled())
        with torch.no_grad():
            inside.set()
            go.wait(10)

    with torch.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        inside.wait(10)
    assert torch.is_grad_enabled()
    go.set()
    thread.join()
    assert seen == [True]


def test_without_recording_results_are_leaves():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
    assert y.is_leaf and not y.requires_grad and y.grad_fn is None


def test_without_recording_new_leaves_may_still_require_grad():
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
    assert x.requires_grad
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_without_recording_a_leaf_may_be_changed_in_place():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        x -= 0.5
        x[0] = 7
    assert x.requires_grad and x.is_leaf
    assert x.tolist() == [7.0, 0.5]


def test_a_view_made_without_recording_is_a_view_without_history():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        v = x.view(2, 1)
    assert v.grad_fn is None and v.data_ptr() == x.data_ptr()


def test_a_view_of_a_result_made_without_recording_must_not_be_changed_with_recording():
    y = torch.ones(2, requires_grad=True) * 1
    with torch.no_grad():
        v = y.view(2, 1)
    with raises(
        RuntimeError,
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use "
        "case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
        "inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if "
        "you want the inplace to be tracked).",
    ):
        v.add_(1)


def test_a_view_of_a_result_made_without_recording_may_be_changed_without_recording():
    y = torch.ones(2, requires_grad=True) * 1
    with torch.no_grad():
        y.view(2, 1).add_(1)
    assert y.tolist() == [2.0, 2.0]
    assert y.grad_fn.name() == "MulBackward0"


def test_the_modes_answer_to_their_names():
    assert isinstance(torch.no_grad(), torch.autograd.grad_mode.no_grad)
    assert torch.autograd.no_grad is torch.no_grad
    assert torch.autograd.set_grad_enabled is torch.set_grad_enabled


class FixedMode(torch.no_grad):
    """A mode of somebody's own."""


def test_a_class_derived_from_a_mode_is_one():
    with FixedMode() as value:
        assert value is None and not torch.is_grad_enabled()

    @FixedMode
    def function():
        return torch.is_grad_enabled()

    assert isinstance(FixedMode(), FixedMode) and not function()
    assert torch.is_grad_enabled()


def test_a_mode_knows_what_it_found():
    mode = torch.no_grad()
    assert mode.prev is False
    with mode:
        assert mode.prev is True


@pytest.mark.parametrize("mode", [torch.no_grad(), torch.inference_mode(), torch.set_grad_enabled(True)])
def test_decorating_a_class_warns_and_wraps_its_construction(mode):
    torch.set_grad_enabled(True)
    text = (
        "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
        "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
        "and nothing else."
    )

    class Thing:
        def __init__(self):
            self.enabled = torch.is_grad_enabled()

        def method(self):
            return torch.is_grad_enabled()

    with pytest.warns(FutureWarning) as caught:
        decorated = mode(Thing)
    assert [str(warning.message) for warning in caught] == [text]
    if not isinstance(mode, torch.set_grad_enabled):
        assert caught[0].filename == __file__
    assert not isinstance(decorated, type)
    thing = decorated()
    assert type(thing) is Thing and thing.method()
    assert thing.enabled is isinstance(mode, torch.set_grad_enabled)


def test_a_coroutine_function_is_decorated_as_a_function_is():
    @torch.no_grad()
    async def function():
        return torch.is_grad_enabled()

    coroutine = function()
    with pytest.raises(StopIteration) as stop:
        coroutine.send(None)
    assert stop.value.value is True


def test_a_generator_that_sets_the_mode_itself_keeps_it_to_itself():
    @torch.no_grad()
    def generate():
        torch.set_grad_enabled(True)
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    generator = generate()
    assert next(generator) is True and torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert next(generator) is False
    assert not torch.is_grad_enabled()


def test_the_generator_of_an_enabled_mode_is_suspended_outside_of_it():
    @torch.enable_grad()
    def generate():
        while True:
            received = yield torch.is_grad_enabled()
            if received == "raise":
                raise LookupError("inside")

    with torch.no_grad():
        generator = generate()
        for _ in range(3):
            assert next(generator) is True
            assert not torch.is_grad_enabled()
        with raises(LookupError, "inside"):
            generator.send("raise")
        assert not torch.is_grad_enabled()


def test_an_undecorated_generator_leaks_its_mode_until_it_goes_on():
    def generate():
        with torch.no_grad():
            yield
        yield

    generator = generate()
    next(generator)
    assert not torch.is_grad_enabled()
    next(generator)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize(("argument", "name"), [("a", "str"), (1, "int"), (None, "NoneType")])
def test_the_mode_is_a_bool(argument, name):
    with raises(TypeError, f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {name}"):
        torch.set_grad_enabled(argument)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("create", [True, False])
def test_hooks_run_with_recording_exactly_when_the_run_is_recorded(before, create):
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.grad_fn.register_hook(lambda *_: seen.append(torch.is_grad_enabled()))
    y.grad_fn.register_prehook(lambda *_: seen.append(torch.is_grad_enabled()))
    x.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    with torch.set_grad_enabled(before):
        torch.autograd.grad(y, x, create_graph=create)
        assert torch.is_grad_enabled() is before
    assert seen == [create] * 3


def test_a_hook_that_changes_the_mode_does_not_change_the_callers():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.register_hook(lambda g: torch.set_grad_enabled(True) and None)
    y.backward()
    assert torch.is_grad_enabled()
    with torch.no_grad():
        y = (x * x).sum()
    assert not y.requires_grad


def test_a_run_within_a_hook_has_a_mode_of_its_own():
    seen = []
    x = torch.ones(2, requires_grad=True)

    def hook(g):
        with torch.enable_grad():
            z = (x * x).sum()
        z.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
        torch.autograd.grad(z, x, create_graph=True)
        seen.append(torch.is_grad_enabled())

    y = (x * 2).sum()
    y.register_hook(hook)
    y.backward()
    assert seen == [True, False]


@pytest.mark.parametrize(
    "flag",
    ["set_grad_enabled", "autograd.set_multithreading_enabled", "autograd.forward_ad._set_fwd_grad_enabled"],
)
def test_a_flag_that_is_called_wrongly_tells_of_its_own_name(flag):
    import operator

    kind, name = operator.attrgetter(flag)(torch), flag.rpartition(".")[2]
    with raises(TypeError, f"{name}.__init__() missing 1 required positional argument: 'mode'"):
        kind()
    with raises(TypeError, f"{name}.__init__() got an unexpected keyword argument 'other'"):
        kind(other=True)


def test_the_flag_of_forward_mode_is_a_boolean():
    with raises(TypeError, "enabled must be a bool (got str)"):
        torch.autograd.forward_ad._set_fwd_grad_enabled("on")
