"""Anomaly mode: tracebacks of the forward call, and gradients that are not numbers."""

import gc
import warnings
import weakref

import pytest
import rushlight as torch
from support import leaf, raises

ENABLED = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
    "debugging."
)


@pytest.fixture(autouse=True)
def _off_afterwards():
    yield
    torch.set_anomaly_enabled(False, True)


def told(function, kind=RuntimeError, text=""):
    """The warnings of a call that fails, and the failure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with raises(kind, text) as failure:
            function()
    return [str(warning.message) for warning in caught if warning.category is UserWarning], failure.value


def nan_in_backward():
    with torch.autograd.set_detect_anomaly(True):
        y = (leaf(0.0, 1.0) * 1).sqrt()  # the culprit
        (y * 0).sum().backward()


def test_a_gradient_that_is_not_a_number_is_a_failure():
    _, failure = told(nan_in_backward)
    assert str(failure) == "Function 'SqrtBackward0' returned nan values in its 0th output."


def test_the_warning_holds_the_traceback_of_the_forward_call():
    messages, _ = told(nan_in_backward)
    (message,) = messages
    assert message.startswith(
        "Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n  File "
    )
    assert "in nan_in_backward\n    y = (leaf(0.0, 1.0) * 1).sqrt()  # the culprit\n" in message
    assert "in told" in message, "callers are shown too"


@pytest.mark.own
def test_the_exception_holds_the_traceback_of_the_forward_call():
    _, failure = told(nan_in_backward)
    assert "# the culprit" in "\n".join(failure.__notes__)


def test_other_failures_are_told_of_as_well():
    def overwritten():
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            y = (leaf(1.0) * 1).exp()
            y.add_(1)
            y.sum().backward()

    messages, failure = told(overwritten)
    assert messages[0].startswith("Error detected in ExpBackward0. Traceback of forward call")
    assert str(failure).endswith(
        "Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
        "variable in question was changed in there or anywhere later. Good luck!"
    )


def test_a_hook_that_raises_is_told_of():
    def hooked():
        with torch.autograd.set_detect_anomaly(True):
            y = leaf(1.0) * 1
            y.register_hook(lambda gradient: 1 / 0)
            y.sum().backward()

    messages, _ = told(hooked, ZeroDivisionError, "division by zero")
    assert messages[0].startswith("Error detected in MulBackward0. Traceback of forward call")


def test_a_hook_of_a_leaf_that_raises_is_told_of():
    def hooked():
        with torch.autograd.set_detect_anomaly(True):
            x = leaf(1.0)
            x.register_hook(lambda gradient: 1 / 0)
            (x * 1).sum().backward()

    messages, _ = told(hooked, ZeroDivisionError, "division by zero")
    assert messages[0].startswith("Error detected in torch::autograd::AccumulateGrad. Traceback of forward")


def test_without_a_traceback_the_warning_says_how_to_get_one():
    y = (leaf(0.0) * 1).sqrt()

    def late():
        with torch.autograd.set_detect_anomaly(True):
            (y * 0).sum().backward()

    messages, _ = told(late, text="Function 'SqrtBackward0' returned nan values in its 0th output.")
    assert messages[0].startswith(
        "Error detected in SqrtBackward0. No forward pass information available. Enable detect anomaly during "
        "forward pass for more information."
    )


def test_not_looking_for_nan_lets_it_pass():
    x = leaf(0.0)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        ((x * 1).sqrt() * 0).sum().backward()
    assert x.grad.isnan().all()


def test_in_a_derivative_of_a_derivative_both_forward_calls_are_told_of():
    def twice():
        with torch.autograd.set_detect_anomaly(True):
            x = leaf(0.0, 1.0)
            y = (x * 1).pow(1.5)  # outer forward
            (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)  # inner forward
            (slope * 0).sum().backward()

    messages, _ = told(twice, text="Function 'PowBackward0' returned nan values in its 0th output.")
    first, second = messages
    assert "# inner forward" in first and "# outer forward" not in first
    assert second.startswith(
        "\n\nPrevious calculation was induced by PowBackward0. Traceback of forward call that induced the "
        "previous calculation:\n"
    )
    assert "# outer forward" in second


def test_metadata_holds_traceback_and_parent():
    x = leaf(1.0)
    with torch.autograd.set_detect_anomaly(True):
        y = x.exp()  # recorded here
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    traceback = y.grad_fn.metadata["traceback_"]
    assert isinstance(traceback, list) and "# recorded here" in traceback[-1]
    assert "parent_" not in y.grad_fn.metadata
    assert slope.grad_fn.metadata["parent_"] is y.grad_fn


def test_metadata_is_empty_otherwise():
    assert leaf(1.0).exp().grad_fn.metadata == {}


def test_the_flags_can_be_asked_for():
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (False, True)
    with torch.autograd.set_detect_anomaly(True, False):
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
        with torch.autograd.set_detect_anomaly(False):
            assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (False, True)
        assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (True, False)
    assert (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()) == (False, True)


def test_set_detect_anomaly_is_a_function_too():
    torch.autograd.set_detect_anomaly(True)
    assert torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()


def test_detect_anomaly_warns_when_it_is_made_and_is_on_inside():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled") as caught:
        mode = torch.autograd.detect_anomaly()
    assert str(caught[0].message) == ENABLED and caught[0].filename == __file__
    assert not torch.is_anomaly_enabled()
    with mode:
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()


def test_switching_takes_truth_values_only():
    with raises(TypeError, "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not int"):
        torch.set_anomaly_enabled(1)
    with raises(TypeError, "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not int"):
        torch.autograd.set_detect_anomaly(1)
    with raises(TypeError, 'set_anomaly_enabled() missing 1 required positional arguments: "enabled"'):
        torch.set_anomaly_enabled()


def test_the_mode_ends_with_an_exception():
    with pytest.raises(ZeroDivisionError), torch.autograd.set_detect_anomaly(True):
        raise ZeroDivisionError
    assert not torch.is_anomaly_enabled()


def test_a_warning_that_is_made_an_exception_does_not_hide_the_failure():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with raises(RuntimeError, "Function 'SqrtBackward0' returned nan values in its 0th output."):
            nan_in_backward()


def test_a_rule_of_ones_own_that_raises_is_told_of():
    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise RuntimeError("no way back")

    def run():
        with torch.autograd.set_detect_anomaly(True):
            Failing.apply(leaf(1.0)).sum().backward()  # applied here

    messages, _ = told(run, RuntimeError, "no way back")
    assert messages[0].startswith("Error detected in FailingBackward. Traceback of forward call")
    assert "# applied here" in messages[0]


@pytest.mark.own
def test_nodes_go_when_their_graph_goes():
    with torch.autograd.set_detect_anomaly(True):
        x = leaf(1.0)
        y = x.exp()
        (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        reference = weakref.ref(y.grad_fn)
        del y, slope
        gc.collect()
        assert reference() is None


@pytest.mark.own
def test_a_long_chain_of_derivatives_goes_without_recursion():
    with torch.autograd.set_detect_anomaly(True):
        x = leaf(1.0)
        g = x * 1
        first = weakref.ref(g.grad_fn)
        for _ in range(3000):
            (g,) = torch.autograd.grad((g * x).sum(), g, create_graph=True)
            g = g * x
        del g
    gc.collect()
    assert first() is None


class Doubtful(torch.autograd.Function):
    """The square, whose gradient is made by another function, which fails."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        return Failing.apply(gradient * ctx.saved_tensors[0])


class Failing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise ValueError("here")


def test_a_node_that_the_failed_one_was_recorded_by_is_named_without_a_traceback_of_its_own():
    x = torch.ones(2, requires_grad=True)
    y = Doubtful.apply(x)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
            with pytest.raises(ValueError, match="here"):
                slope.sum().backward()
    _, failed, recorded_by = [str(warning.message) for warning in told]
    assert failed.startswith(
        "Error detected in FailingBackward. Traceback of forward call that caused the error:\n"
    )
    assert recorded_by.startswith(
        "Error detected in DoubtfulBackward. No forward pass information available."
    )
