"""Transforms and mappings that a program opens and closes itself, and the list of those that it is inside of."""

import pytest
import rushlight as torch
import rushlight._functorch.autograd_function as functions
import rushlight._functorch.pyfunctorch as pyfunctorch
from rushlight._C import _functorch
from rushlight._functorch import eager_transforms as steps
from rushlight.autograd import forward_ad
from support import raises

kinds = _functorch.TransformType


def test_a_derivative_is_taken_by_hand():
    outside = torch.tensor([3.0, 4.0], requires_grad=True)
    given = torch.tensor([1.0, 2.0])
    with steps.grad_increment_nesting() as level:
        x = steps._wrap_all_tensors({"x": given}, level)["x"]
        assert not x.requires_grad and x.is_leaf and _functorch.maybe_get_level(x) == level
        x = steps._create_differentiable(x, level)
        y = (x * x * outside).sum()
        (slope,) = steps._autograd_grad([y], [x])
        y, slope = steps._undo_create_differentiable((y, slope), level)
    assert slope.tolist() == [6.0, 16.0] and y.item() == 19.0
    assert not _functorch.is_gradtrackingtensor(slope) and _functorch.is_dead_tensor_wrapper(x)
    assert torch.autograd.grad(slope.sum(), outside)[0].tolist() == [2.0, 4.0]


def test_derivatives_nest_by_hand():
    given = torch.tensor([1.0, 2.0])
    with steps.grad_increment_nesting() as outer:
        x = steps._create_differentiable(_functorch._wrap_for_grad(given, outer))
        with steps.grad_increment_nesting() as inner:
            assert (outer, inner) == (1, 2)
            inside = steps._create_differentiable(_functorch._wrap_for_grad(x, inner))
            (slope,) = steps._autograd_grad([(inside**3).sum()], [inside])
            slope = _functorch._unwrap_for_grad(slope, inner)
        (curve,) = steps._autograd_grad([slope.sum()], [x])
        curve = _functorch._unwrap_for_grad(curve, outer)
    assert curve.tolist() == [6.0, 12.0]


def test_a_level_ends_with_a_failure_inside():
    with pytest.raises(ValueError, match="no"), steps.grad_increment_nesting():
        raise ValueError("no")
    assert _functorch.maybe_current_level() is None


def test_directional_derivatives_are_taken_by_hand_also_nested():
    given = torch.tensor([1.0, 2.0], requires_grad=True)
    along = torch.ones(2)
    with steps.jvp_increment_nesting() as outer, forward_ad.dual_level():
        x = forward_ad.make_dual(given, along)
        with steps.jvp_increment_nesting() as inner:
            assert (outer, inner) == (1, 2)
            inside = forward_ad.make_dual(x, along)
            assert _functorch.maybe_get_level(inside) == inner
            value, slope = steps.safe_unpack_dual(inside**3, strict=True)
            value, slope = steps._undo_create_differentiable((value, slope), inner)
        slope, curve = steps.safe_unpack_dual(slope, strict=True)
        slope, curve = steps._undo_create_differentiable((slope, curve), outer)
    assert slope.tolist() == [3.0, 12.0] and curve.tolist() == [6.0, 12.0]
    assert torch.autograd.grad(curve.sum(), given)[0].tolist() == [6.0, 6.0]


def test_a_directional_derivative_by_hand_needs_a_level_of_dual_tensors():
    level = _functorch._jvp_increment_nesting()
    try:
        with raises(RuntimeError, "Trying to create a dual Tensor for forward AD but no level exists"):
            forward_ad.make_dual(torch.ones(2), torch.ones(2))
        with forward_ad.dual_level():
            _, slope = steps.safe_unpack_dual(torch.ones(2), strict=False)
            assert slope.tolist() == [0.0, 0.0]
            with raises(
                RuntimeError, "jvp(f, primals, tangents, strict=True): The output of f is independent"
            ):
                steps.safe_unpack_dual(torch.ones(2), strict=True)
    finally:
        assert _functorch._jvp_decrement_nesting() == level


def test_a_transform_forward_knows_whether_tangents_passed_outside():
    def state():
        return pyfunctorch.retrieve_current_functorch_interpreter().get_state()

    with forward_ad._set_fwd_grad_enabled(False), steps.jvp_increment_nesting():
        assert state() == ("Jvp", 1, False)
        with forward_ad._set_fwd_grad_enabled(True), steps.jvp_increment_nesting():
            assert state() == ("Jvp", 2, True)
    with steps.jvp_increment_nesting():
        found = _functorch.CJvpInterpreterPtr(_functorch.peek_interpreter_stack())
        assert found.prevFwdGradMode() and state() == ("Jvp", 1, True)


class Doubling:
    """What functions do that double."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Double(Doubling, torch.autograd.Function):
    """Doubles."""


class Single(Doubling, torch.autograd.function._SingleLevelFunction):
    """Doubles, and knows nothing of transforms."""


def test_functions_of_a_single_level_are_called_within_transforms_where_that_is_allowed():
    x = torch.ones(2, requires_grad=True)
    Single.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    for transform in (torch.func.grad(lambda x: Single.apply(x).sum()), torch.vmap(Single.apply)):
        with pytest.raises(RuntimeError, match="incorrectly used with torch"):
            transform(torch.ones(2))

    def allowed(x):
        with functions.enable_single_level_autograd_function():
            assert _functorch.get_single_level_autograd_function_allowed()
            return Single.apply(x).sum()

    assert torch.func.grad(allowed)(torch.ones(2)).tolist() == [2.0, 2.0]
    assert not _functorch.get_single_level_autograd_function_allowed()


def test_samples_enter_and_leave_by_hand():
    x = torch.arange(6.0).reshape(2, 3)
    level = _functorch._vmap_increment_nesting(2, "error")
    try:
        batched = _functorch._add_batch_dim(x, 0, level)
        assert batched.shape == (3,) and _functorch.maybe_get_bdim(batched) == 0
        value, dim = _functorch._unwrap_batched(batched, level)
        assert value is x and dim == 0
        doubled = _functorch._remove_batch_dim(batched * 2, level, 2, 0)
        alike = _functorch._remove_batch_dim(x, level, 2, 0)
    finally:
        assert _functorch._vmap_decrement_nesting() == level
    assert torch.equal(doubled, x * 2) and alike.shape == (2, 2, 3)
    with raises(RuntimeError, "randomness argument must be error, same, or different."):
        _functorch._vmap_increment_nesting(2, "some")


def test_samples_within_a_derivative_have_the_number_of_both():
    def inside(x):
        level = _functorch._vmap_increment_nesting(2, "error")
        try:
            assert level == 2
            batched = _functorch._add_batch_dim(x, 0, level)
            assert _functorch.maybe_get_level(batched) == 2 and _functorch.maybe_get_bdim(batched) == 0
            return _functorch._remove_batch_dim(batched.exp(), level, 2, 0).sum()
        finally:
            _functorch._vmap_decrement_nesting()

    assert torch.func.grad(inside)(torch.zeros(2, 3)).tolist() == [[1.0] * 3] * 2


@pytest.mark.own
def test_what_was_not_opened_is_refused():
    with pytest.raises(RuntimeError):
        _functorch._grad_decrement_nesting()
    with pytest.raises(RuntimeError):
        _functorch._jvp_decrement_nesting()
    with pytest.raises(RuntimeError):
        _functorch._vmap_decrement_nesting()
    with pytest.raises(RuntimeError):
        _functorch._wrap_for_grad(torch.ones(2), 1)

    def inside(x):
        with pytest.raises(RuntimeError):
            _functorch._grad_decrement_nesting()
        return x.sum()

    assert torch.func.grad(inside)(torch.ones(2)).tolist() == [1.0, 1.0]


def states(transform):
    seen = []

    def look(x):
        seen.append([one.get_state()[:2] for one in pyfunctorch.retrieve_all_functorch_interpreters()])
        return x.sum()

    transform(look)
    return seen[0]


X = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (lambda f: f(X), []),
        (lambda f: torch.vmap(f)(X), [("Vmap", 1)]),
        (lambda f: torch.func.jvp(f, (X,), (X,)), [("Jvp", 1)]),
        (lambda f: torch.vmap(torch.func.grad(f))(X), [("Vmap", 1), ("Grad", 2)]),
        (lambda f: torch.func.grad(lambda x: torch.vmap(f)(x).sum())(X), [("Grad", 1), ("Vmap", 2)]),
    ],
)
def test_transforms_are_listed_from_the_outermost(transform, expected):
    assert states(transform) == expected


def test_the_innermost_transform_knows_how_it_was_opened():
    seen = []

    def look(x):
        found = pyfunctorch.retrieve_current_functorch_interpreter()
        seen.append((type(found).__name__, found.key(), found.get_state()))
        seen.append(pyfunctorch.compare_functorch_state([found.get_state()]))
        if found.key() == kinds.Vmap:
            seen.append((found.batch_size(), found.randomness()))
        return x.sum()

    torch.vmap(look, randomness="same")(X)
    with torch.no_grad():
        torch.func.grad(look)(X)
    assert seen == [
        ("VmapInterpreter", kinds.Vmap, ("Vmap", 1, "same")),
        True,
        (2, "same"),
        ("GradInterpreter", kinds.Grad, ("Grad", 1, False)),
        True,
    ]
    with raises(AssertionError, "interpreter must not be None"):
        pyfunctorch.retrieve_current_functorch_interpreter()
    assert _functorch.peek_interpreter_stack() is None and _functorch.get_interpreter_stack() is None
    assert str(kinds.Vmap) == "TransformType.Vmap"


def test_an_interpreter_is_of_one_kind():
    level = _functorch._vmap_increment_nesting(2, "different")
    try:
        found = _functorch.peek_interpreter_stack()
        mapping = _functorch.CVmapInterpreterPtr(found)
        assert (found.level(), mapping.batchSize()) == (level, 2)
        assert mapping.randomness() == _functorch.RandomnessType.Different
        with raises(RuntimeError, "base->key() == TransformType::Grad INTERNAL ASSERT FAILED"):
            _functorch.CGradInterpreterPtr(found)
    finally:
        _functorch._vmap_decrement_nesting()


def test_a_transformed_function_may_be_allowed_to_ask_for_gradients():
    def inside(x):
        own = torch.ones(2)
        with raises(RuntimeError, "You are attempting to call Tensor.requires_grad_()"):
            own.requires_grad_()
        with steps.enable_inplace_requires_grad(True):
            own.requires_grad_()
        assert not _functorch.get_inplace_requires_grad_allowed()
        return (x * own).sum()

    assert torch.func.grad(inside)(torch.ones(2)).tolist() == [1.0, 1.0]


def test_a_function_with_its_own_rule_is_called_inside_of_transforms():
    def call(x):
        return functions.custom_function_call(Double, x)

    assert call(torch.ones(2)).tolist() == [2.0, 2.0]
    assert torch.func.grad(lambda x: call(x).sum())(torch.ones(2)).tolist() == [2.0, 2.0]
    assert str(functions.custom_function_call) == "custom_function_call"
    assert not functions.has_overridden_vmap_rule(Double)
    with raises(RuntimeError, "Expected the vmap staticmethod to have two returns"):
        functions.validate_vmap_returns_tuple_of_two_elements(3)
