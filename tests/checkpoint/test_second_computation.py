"""`utils.checkpoint` where the second computation differs from the first."""

import pytest
import rushlight as torch
from checkpoint.parts import body, leaf
from rushlight.utils.checkpoint import CheckpointError, checkpoint
from support import raises


def changing(*bodies):
    """A function that computes something else at each call."""
    rest = iter(bodies)
    return lambda x: next(rest)(x)


def run(function, **given):
    checkpoint(function, leaf(), use_reentrant=False, **given).sum().backward()


@pytest.mark.parametrize("early_stop", [True, False])
def test_fewer_tensors_the_second_time_are_an_error(early_stop):
    function = changing(lambda x: x.sin().cos().exp(), lambda x: x.sin())
    with raises(
        CheckpointError,
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
        "Number of tensors saved during forward: 3\nNumber of tensors saved during recomputation: 1.\n\nTip: To see a more "
        "detailed error message, either pass `debug=True` to\n",
    ):
        run(function, early_stop=early_stop)


def test_more_tensors_the_second_time_are_an_error():
    bodies = lambda x: x.sin(), lambda x: x.sin().cos().exp()
    with raises(
        CheckpointError,
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n\n"
        "Tip: To see",
    ):
        run(changing(*bodies), early_stop=False)
    run(changing(*bodies))


def test_other_shapes_the_second_time_are_refused():
    function = changing(lambda x: x.sin().sum(), lambda x: torch.cat([x, x]).sin().sum())
    with raises(
        CheckpointError,
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
        "pass.\ntensor at position 0:\nsaved metadata: {'shape': torch.Size([3]), 'dtype': torch.float64, 'device': "
        "device(type='cpu')}\nrecomputed metadata: {'shape': torch.Size([6]), 'dtype': torch.float64, 'device': "
        "device(type='cpu')}\n.\n\nTip: To see",
    ):
        run(function)


def test_other_types_the_second_time_are_refused():
    function = changing(lambda x: x.sin().sum(), lambda x: x.float().sin().double().sum())
    with pytest.raises(CheckpointError, match="have different metadata"):
        run(function)


def test_the_check_may_be_left_out():
    bodies = lambda x: x.sin() * 1, lambda x: torch.cat([x, x])[:3].sin()
    run(changing(*bodies), determinism_check="none")


def test_other_checks_are_refused():
    with raises(ValueError, "determinism_check should be one of ['default', 'none'], but got exact"):
        run(body, determinism_check="exact")


def test_checkpoint_errors_are_runtime_errors():
    assert issubclass(CheckpointError, RuntimeError)
