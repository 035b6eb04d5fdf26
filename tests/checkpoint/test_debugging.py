"""`utils.checkpoint` with `debug`: what ran each time, and where."""

import logging

import pytest
import rushlight as torch
from checkpoint.parts import body, leaf
from rushlight.utils.checkpoint import CheckpointError, checkpoint, set_checkpoint_debug_enabled
from support import raises


@pytest.fixture
def own_logger():
    """The reference writes its log through a logger, which pytest must not look into."""
    yield
    logging.getLogger("LoggingTensor").propagate = True


debugging = pytest.mark.usefixtures("own_logger")


def non_deterministic(x):
    non_deterministic.calls += 1
    y = x.exp() * 2
    y = y.sin() if non_deterministic.calls == 1 else y.sin().cos().cos()
    return y.view(-1)[1:]


def debug_error(early_stop=False):
    non_deterministic.calls = 0
    out = checkpoint(non_deterministic, leaf(), use_reentrant=False, debug=True, early_stop=early_stop)
    with pytest.raises(CheckpointError) as caught:
        out.sum().backward()
    return caught.value


@debugging
def test_debugging_tells_which_operators_ran_each_time():
    error = debug_error()
    text = str(error)
    first, second = text.split("Operations executed during the original forward:\n\n")[1].split(
        "\n\nOperations executed during recomputation:\n\n"
    )
    assert first.splitlines() == [
        "$1: f64[3] = torch._ops.aten.exp.default($0)",
        "$2: f64[3] = torch._ops.aten.mul.Tensor($1, 2)",
        "$3: f64[3] = torch._ops.aten.sin.default($2)",
        "$4: f64[3] = torch._ops.aten.view.default($3, ['-1'])",
        "$5: f64[2] = torch._ops.aten.slice.Tensor($4, 0, 1, 9223372036854775807)",
    ]
    assert "torch._ops.aten.sin.default(" in second
    assert isinstance(error.__cause__, CheckpointError)
    assert str(error.__cause__).startswith(
        "torch.utils.checkpoint: trying to save more tensors during recomputation"
    )


@debugging
def test_debugging_says_how_to_read_the_logs():
    text = str(debug_error())
    assert text.startswith(
        " An error happened while unpacking tensors; dumping logs of latest computation\n"
        "because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.\n"
        "Scroll all the way down for guidance on how to navigate these logs.\n"
        "\n"
        f"+{'~' * 78}+\n"
        "|        1. Stack traces of the operators that ran in the original forward     |\n"
        f"+{'-' * 78}+\n"
        "\n"
        "$1: f64[3] = torch._ops.aten.exp.default($0)   (1 of 5 in original)\n"
        "\n"
    )
    assert f"{__file__}:{non_deterministic.__code__.co_firstlineno + 2}:non_deterministic\n" in text
    assert "(1 of" in text.split("2. Stack traces of the operators that ran during recomputation")[1]
    assert text.endswith(
        " 4. Error message                                             <--- You are here\n" + "-" * 80 + "\n"
    )


@debugging
def test_debugging_can_be_enabled_for_all():
    non_deterministic.calls = 0
    with set_checkpoint_debug_enabled(True):
        out = checkpoint(non_deterministic, leaf(), use_reentrant=False, early_stop=False)
    with raises(CheckpointError, " An error happened while unpacking tensors"):
        out.sum().backward()
    non_deterministic.calls = 0
    with set_checkpoint_debug_enabled(False):
        out = checkpoint(non_deterministic, leaf(), use_reentrant=False, debug=True, early_stop=False)
    with raises(CheckpointError, "torch.utils.checkpoint: trying to save more tensors"):
        out.sum().backward()


@debugging
def test_debugging_leaves_what_agrees_alone():
    x = leaf()
    checkpoint(body, x, use_reentrant=False, debug=True).sum().backward()
    y = leaf()
    body(y).sum().backward()
    assert torch.equal(x.grad, y.grad)
