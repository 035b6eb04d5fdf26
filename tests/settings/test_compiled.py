"""`compile`: functions and modules that do what the ones given do."""

import pytest
import rushlight as torch
from support import raises

compiling = {"backend": "eager"}


def test_a_function_does_the_same():
    @torch.compile(**compiling)
    def double(x, *, more=0):
        """Says what it does."""
        return x * 2 + more

    x = torch.ones(2, requires_grad=True)
    double(x, more=1).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and double.__doc__ == "Says what it does."
    assert double.__name__ == "double"


def test_a_module_is_wrapped():
    layer = torch.nn.Linear(2, 1)
    compiled = torch.compile(layer, **compiling)
    x = torch.ones(1, 2)
    assert torch.equal(compiled(x), layer(x))
    assert compiled._orig_mod is layer and compiled.weight is layer.weight and compiled.out_features == 1
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    assert (
        repr(compiled)
        == "OptimizedModule(\n  (_orig_mod): Linear(in_features=2, out_features=1, bias=True)\n)"
    )
    assert isinstance(compiled, torch._dynamo.OptimizedModule)
    compiled.eval()
    assert not layer.training


def test_a_module_can_be_compiled_where_it_is():
    layer = torch.nn.Linear(2, 1)
    before = layer(torch.ones(1, 2))
    assert layer.compile(**compiling) is None
    assert torch.equal(layer(torch.ones(1, 2)), before) and list(layer.state_dict()) == ["weight", "bias"]


def test_what_is_disabled_is_returned():
    layer = torch.nn.Linear(2, 1)
    assert torch.compile(layer, disable=True) is layer
    assert torch.compile(disable=True)(layer) is layer


def test_arguments_have_to_make_sense():
    layer = torch.nn.Linear(2, 1)
    with raises(
        RuntimeError, "Either mode or options can be specified, but both can't be specified at the same"
    ):
        torch.compile(layer, mode="default", options={})
    text = "Unrecognized mode=x, should be one of: default, lite, reduce-overhead, max-autotune-no-cudagraphs, max-autotune"
    with raises(RuntimeError, text):
        torch.compile(layer, mode="x")


@pytest.mark.own
def test_only_what_can_be_called_is_compiled():
    with raises(AssertionError, "A callable function is expected, but <class 'int'> is provided."):
        torch.compile(3)
