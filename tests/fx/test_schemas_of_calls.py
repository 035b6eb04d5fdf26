"""Signatures of operators, calls with every argument by name, and functions rewritten before they are traced."""

import typing

import pytest
import rushlight as torch
from rushlight.fx import node, operator_schemas
from rushlight.fx.experimental.rewriter import RewritingTracer


def test_operators_have_signatures():
    signature = operator_schemas.get_signature_for_torch_op(torch.mm)[0]
    assert list(signature.parameters) == ["input", "mat2"]
    assert signature.return_annotation is torch.Tensor
    signatures, schemas = operator_schemas.get_signature_for_torch_op(torch.add, return_schemas=True)
    assert len(signatures) == len(schemas)
    alpha = signatures[0].parameters["alpha"]
    assert (alpha.default, alpha.kind) == (1, alpha.KEYWORD_ONLY)
    assert operator_schemas.get_signature_for_torch_op(len) is None


def test_a_call_is_given_every_argument_by_name():
    x, y = object(), object()
    types = (torch.Tensor, torch.Tensor)
    call = operator_schemas.normalize_function(
        torch.add, (x, y), arg_types=types, normalize_to_only_use_kwargs=True
    )
    assert call.args == ()
    assert call.kwargs == {"input": x, "other": y, "alpha": 1}
    call = operator_schemas.normalize_function(torch.nn.functional.relu, (x,))
    assert call == ((x,), {"inplace": False})
    assert operator_schemas.normalize_function(len, (x,)) is None


def test_a_call_of_a_module_is_given_every_argument():
    model = torch.nn.Sequential(torch.nn.Linear(1, 1))
    call = operator_schemas.normalize_module(model, "0", (3,), normalize_to_only_use_kwargs=True)
    assert call.kwargs == {"input": 3}
    with pytest.raises(RuntimeError, match="target 7 but root did not have that target"):
        operator_schemas.normalize_module(model, "7", ())


def test_types_fit_where_others_are_asked_for():
    fits = operator_schemas.type_matches
    assert fits(typing.Any, typing.Any)
    assert fits(operator_schemas.create_type_hint([int]), int)
    assert fits(list[int], int)
    assert fits(list[int], tuple[int, int])
    assert not fits(int, str)
    assert operator_schemas.create_type_hint([int, int]) == list[int]
    assert operator_schemas.create_type_hint((bool, int)) == tuple[int, ...]


def test_writes_are_found_before_they_are_traced():
    operator_schemas.check_for_mutable_operation(torch.mm, (1, 2), {})
    with pytest.raises(RuntimeError, match="Tried to trace mutable operation aten::mul_"):
        operator_schemas.check_for_mutable_operation(torch.ops.aten.mul_.Tensor, (1, 2), {})


class Checked(torch.nn.Module):
    """Asserts something of its input."""

    def forward(self, x):
        assert x.shape[0] == 2, "two rows"
        return torch.relu(x)


def test_assertions_are_traced_where_functions_are_rewritten():
    graph = RewritingTracer().trace(Checked())
    traced = torch.fx.GraphModule(Checked(), graph)
    assert torch.equal(traced(torch.ones(2, 1)), torch.ones(2, 1))
    with pytest.raises(AssertionError, match="two rows"):
        traced(torch.ones(3, 1))


def test_arguments_say_how_they_are_printed():
    class Pair:
        def _custom_fx_repr_fn(self):
            return "a pair"

    assert node._format_arg([Pair(), (1,), {"a": 2}]) == "[a pair, (1,), {a: 2}]"


def test_what_is_marked_is_noted():
    from rushlight.fx import _compatibility

    @_compatibility.compatibility(is_backward_compatible=True)
    def kept():
        pass

    @_compatibility.compatibility(is_backward_compatible=False)
    def changing():
        pass

    assert kept in _compatibility._BACK_COMPAT_OBJECTS
    assert changing not in _compatibility._BACK_COMPAT_OBJECTS
    assert changing in _compatibility._MARKED_WITH_COMPATIBILITY


@pytest.mark.filterwarnings("ignore:index_reduce")
def test_functions_without_operators_have_the_signatures_that_they_have():
    def shown(function):
        found = operator_schemas.get_signature_for_torch_op(function)
        return [[(one.name, one.default) for one in each.parameters.values()] for each in found]

    empty = torch.fx.operator_schemas.inspect.Parameter.empty
    assert [("input", empty)] in shown(torch.angle) and [("A", empty)] in shown(torch.linalg.inv)
    both = [("input", empty), ("source", empty), ("destination", empty)]
    assert shown(torch.movedim) == [both, both]
    found = operator_schemas.get_signature_for_torch_op(torch.index_reduce)
    signature = next(each for each in found if "out" not in each.parameters)
    assert signature.parameters["include_self"].kind is signature.parameters["include_self"].KEYWORD_ONLY
    called = signature.bind(torch.zeros(2), 0, torch.tensor([1]), torch.ones(1), "prod")
    called.apply_defaults()
    assert torch.index_reduce(*called.args, **called.kwargs).tolist() == [0, 0]
