"""`utils.checkpoint_sequential`: sequences computed in segments."""

import pytest
import rushlight as torch
from checkpoint.parts import Counted, both, leaf
from rushlight.utils.checkpoint import checkpoint_sequential
from support import raises


@both
@pytest.mark.parametrize("segments", [1, 2, 3, 4])
def test_a_sequence_computes_the_same_in_segments(use_reentrant, segments):
    functions = [torch.sin, torch.exp, torch.cos, torch.tanh]
    x, y = leaf(), leaf()
    result = checkpoint_sequential(functions, segments, x, use_reentrant=use_reentrant)
    result.sum().backward()
    z = y
    for function in functions:
        z = function(z)
    z.sum().backward()
    assert torch.equal(result, z) and torch.allclose(x.grad, y.grad)


@both
def test_a_sequence_of_modules_computes_the_same_in_segments(use_reentrant):
    torch.manual_seed(0)
    module = torch.nn.Sequential(*[torch.nn.Linear(3, 3) for _ in range(5)])
    x = torch.randn(2, 3, requires_grad=True)
    y = checkpoint_sequential(module, 2, x, use_reentrant=use_reentrant)
    assert torch.equal(y, module(x))
    y.sum().backward()
    assert all(p.grad is not None for p in module.parameters())


def test_all_segments_but_the_last_run_again():
    functions = [Counted(torch.sin) for _ in range(5)]
    checkpoint_sequential(functions, 2, leaf(), use_reentrant=False).sum().backward()
    assert [function.calls for function in functions] == [2, 2, 1, 1, 1]


def test_what_is_wrong_with_a_sequence():
    functions = [torch.sin, torch.cos]
    with raises(ValueError, "Unexpected keyword arguments: a"):
        checkpoint_sequential(functions, 2, leaf(), use_reentrant=False, a=1)
    with raises(ValueError, "range() arg 3 must not be zero"):
        checkpoint_sequential(functions, 5, leaf(), use_reentrant=False)
    # What the interpreter says of it depends on its version.
    with pytest.raises(ZeroDivisionError):
        checkpoint_sequential(functions, 0, leaf(), use_reentrant=False)
    with pytest.warns(UserWarning) as caught:
        checkpoint_sequential(functions, 2, leaf())
    assert str(caught[0].message).startswith(
        "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version "
        "2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but"
    )
