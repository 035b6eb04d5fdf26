"""Policies of checkpointing: what is kept, what is computed again, and what goes wrong."""

import functools
import gc
import weakref
from collections import Counter

import pytest
import rushlight as torch
from rushlight.utils import checkpoint as module
from rushlight.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from rushlight.utils.checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    checkpoint,
    create_selective_checkpoint_contexts,
    noop_context_fn,
)
from support import raises

aten = torch.ops.aten


def matrix(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.rand(*(shape or (3, 3)), dtype=torch.float64, requires_grad=True)


def selectively(function, policy, *args, **options):
    contexts = functools.partial(create_selective_checkpoint_contexts, policy, **options)
    return checkpoint(function, *args, use_reentrant=False, context_fn=contexts)


def keeping(*kept):
    """A policy that keeps some operators and lists all that it is asked about."""

    def policy(ctx, op, *args, **kwargs):
        policy.asked.append(str(op))
        return CheckpointPolicy.MUST_SAVE if op in kept else CheckpointPolicy.PREFER_RECOMPUTE

    policy.asked = []
    return policy


class Runs:
    """A function's operators, counted where they really run: beneath the policy's modes."""

    def __init__(self, body):
        self.body, self.calls = body, 0

    def __call__(self, *args):
        self.calls += 1
        return self.body(*args)


def gradients(body, args, run):
    leaves = [x.detach().clone().requires_grad_(x.requires_grad) for x in args]
    run(body, *leaves).sum().backward()
    return [x.grad for x in leaves]


def plainly(body, *args):
    return body(*args)


BODIES = {
    "products": (lambda x, y: ((x @ y) @ y).sigmoid() * y, (aten.mm.default,)),
    "a view": (lambda x, y: (x.view(-1) * y.view(-1)).sin(), (aten.view.default,)),
    "a view of a kept value": (lambda x, y: (x.sin().t() @ y).cos(), (aten.sin.default, aten.t.default)),
    "several outputs": (
        lambda x, y: torch.var_mean(x * y)[0] * torch.var_mean(y)[1],
        (aten.var_mean.correction,),
    ),
    "values and indices": (
        lambda x, y: (x * y).max(0)[0].exp() + y.sort(1)[0][:, 0],
        (aten.max.dim, aten.sort.default),
    ),
    "parts": (lambda x, y: x.exp().split(1)[1] * y.unbind()[2] * y, (aten.split.Tensor, aten.unbind.int)),
    "a sum along": (
        lambda x, y: (x.sum(1, keepdim=True) * y).exp().mean(),
        (aten.sum.dim_IntList, aten.mean.default),
    ),
    "a write to what is not kept": (lambda x, y: (x.cos() * y).mul_(y).sin() * y, (aten.sin.default,)),
    "a joined tensor": (lambda x, y: torch.cat([x.sin(), y]).exp(), (aten.cat.default,)),
    "an index": (
        lambda x, y: x[0] * y[:, 1:].sum() * x[torch.tensor([0, 2])],
        (aten.select.int, aten.index.Tensor),
    ),
    "a linear layer": (lambda x, y: torch.nn.functional.linear(x, y, y[0]).tanh(), (aten.addmm.default,)),
    "one operator many times": (lambda x, y: x.sin().sin().sin() @ y.sin(), (aten.sin.default,)),
}


@pytest.mark.parametrize("name", BODIES)
def test_gradients_are_those_without_checkpointing(name):
    body, kept = BODIES[name]
    args = matrix(), matrix(seed=1)
    expected = gradients(body, args, plainly)
    for policy in (
        keeping(*kept),
        list(kept),
        lambda ctx, op, *args, **kwargs: CheckpointPolicy.PREFER_RECOMPUTE,
    ):
        got = gradients(body, args, lambda body, *leaves, policy=policy: selectively(body, policy, *leaves))
        for a, b in zip(got, expected, strict=True):
            assert torch.equal(a, b)


@pytest.mark.parametrize("name", ["products", "a view", "several outputs", "a sum along", "a joined tensor"])
def test_everything_may_be_kept(name):
    body, _ = BODIES[name]
    args = matrix(), matrix(seed=1)
    everything = lambda ctx, op, *args, **kwargs: CheckpointPolicy.MUST_SAVE  # noqa: E731
    got = gradients(body, args, lambda body, *leaves: selectively(body, everything, *leaves))
    for a, b in zip(got, gradients(body, args, plainly), strict=True):
        assert torch.equal(a, b)


def test_a_policy_is_asked_once_for_every_operator_of_the_first_computation():
    policy = keeping(aten.mm.default)
    x, y = matrix(), matrix(seed=1)
    out = selectively(lambda x, y: torch.sigmoid(x @ y @ y) * y + 1, policy, x, y)
    names = [
        "aten.mm.default",
        "aten.mm.default",
        "aten.sigmoid.default",
        "aten.mul.Tensor",
        "aten.add.Tensor",
    ]
    assert policy.asked == names
    out.sum().backward()
    assert policy.asked == names


def test_a_policy_sees_arguments_and_the_result():
    seen = []

    def policy(ctx, op, *args, **kwargs):
        assert isinstance(ctx, SelectiveCheckpointContext)
        assert ctx.is_recompute is False
        seen.append(
            (str(op), [tuple(arg.shape) if isinstance(arg, torch.Tensor) else arg for arg in args], kwargs)
        )
        seen.append(tuple(ctx.op_output.shape))
        return CheckpointPolicy.PREFER_SAVE

    x = matrix(2, 3)
    selectively(lambda x: x.sum(1, keepdim=True) * 2 + x.view(3, 2).t(), policy, x)
    assert seen == [
        ("aten.sum.dim_IntList", [(2, 3), [1], True], {}),
        (2, 1),
        ("aten.mul.Tensor", [(2, 1), 2], {}),
        (2, 1),
        ("aten.view.default", [(2, 3), [3, 2]], {}),
        (3, 2),
        ("aten.t.default", [(3, 2)], {}),
        (2, 3),
        ("aten.add.Tensor", [(2, 1), (2, 3)], {}),
        (2, 3),
    ]


def test_kept_operators_do_not_run_again():
    ran = Counter()

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            ran[str(func)] += 1
            return func(*args, **(kwargs or {}))

    x, y = matrix(), matrix(seed=1)
    out = selectively(lambda x, y: ((x @ y).sin() @ y).cos(), [aten.mm.default], x, y)
    with Counting():
        out.sum().backward()
    # The gradients of two products take three more, since those of x and of y are asked for.
    assert ran["aten.sin.default"] == 1 + 1
    assert ran["aten.mm.default"] == 4


@pytest.mark.parametrize("kept", [True, False])
def test_a_policy_may_answer_with_a_truth_value(kept):
    policy = lambda ctx, op, *args, **kwargs: kept  # noqa: E731
    x = matrix()
    selectively(lambda x: (x @ x).sin(), policy, x).sum().backward()
    x2 = x.detach().clone().requires_grad_()
    (x2 @ x2).sin().sum().backward()
    assert torch.equal(x.grad, x2.grad)


def test_a_value_that_was_kept_must_not_be_written_to():
    body = lambda x: x.sin().mul_(2).cos().exp()  # noqa: E731
    out = selectively(body, [aten.sin.default], matrix())
    with raises(RuntimeError, "Tensor cached during selective activation checkpoint has been mutated"):
        out.sum().backward()
    out = selectively(body, [aten.sin.default], matrix(), allow_cache_entry_mutation=True)
    out.sum().backward()


def test_backward_runs_once_only():
    out = selectively(lambda x: x.sin().exp(), [aten.sin.default], matrix())
    out.sum().backward(retain_graph=True)
    message = (
        "Trying to backward an extra time. You are only allowed to backward once on any region computed "
        "under selective activation checkpoint."
    )
    with raises(RuntimeError, message):
        out.sum().backward(retain_graph=True)


def test_what_is_not_kept_may_run_backward_again():
    x = matrix()
    out = selectively(lambda x: x.sin().exp(), [aten.mm.default], x)
    out.sum().backward(retain_graph=True)
    once = x.grad.clone()
    out.sum().backward()
    assert torch.equal(x.grad, 2 * once)


MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global "
    "state that changed between forward and backward."
)


def test_an_operator_that_did_not_run_before_is_named():
    runs = Runs(lambda x: x.sin().exp() if runs.calls == 1 else x.cos().exp())
    out = selectively(runs, [aten.sin.default], matrix())
    with raises(
        RuntimeError, f"aten.cos.default encountered during backward but not found in storage. {MISMATCH}"
    ):
        out.sum().backward()


def test_an_operator_that_runs_more_often_is_named():
    runs = Runs(lambda x: x.sin().exp().cos() if runs.calls == 1 else x.sin().sin().cos())
    out = selectively(runs, [aten.sin.default], matrix())
    with raises(
        RuntimeError,
        f"aten.sin.default invocation index 1 encountered during backward but not found in storage. {MISMATCH}",
    ):
        out.sum().backward()


def test_what_is_no_policy_is_refused():
    with raises(
        ValueError, "Expected op in `op_list` to be an OpOverload but got: 2 of type <class 'int'>. "
    ):
        create_selective_checkpoint_contexts([2])
    with raises(
        ValueError, "Expected op in `op_list` to be an OpOverload but got: aten.sin of type <class '"
    ) as caught:
        create_selective_checkpoint_contexts([torch.ops.aten.sin])
    assert str(caught.value).endswith(
        ". Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
        "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
    )
    with raises(TypeError, "policy_fn_or_list must be either a function or a list of ops."):
        create_selective_checkpoint_contexts(2)


def test_detaching_is_nothing_that_policies_are_asked_about():
    assert aten.detach.default in SAC_IGNORED_OPS
    policy = keeping()
    selectively(lambda x: x.detach() * x, policy, matrix())
    assert policy.asked == ["aten.mul.Tensor"]


def test_policies_have_numbers():
    assert [(policy.name, policy.value) for policy in CheckpointPolicy] == [
        ("MUST_SAVE", 0),
        ("PREFER_SAVE", 1),
        ("MUST_RECOMPUTE", 2),
        ("PREFER_RECOMPUTE", 3),
        ("MUST_CPU_OFFLOAD", 4),
        ("PREFER_CPU_OFFLOAD", 5),
    ]
    assert str(CheckpointPolicy.MUST_SAVE) == "CheckpointPolicy.MUST_SAVE"


def test_a_context_is_made_by_keywords():
    context = SelectiveCheckpointContext(is_recompute=True)
    assert (context.is_recompute, context.op_output) == (True, None)
    with pytest.raises(TypeError):
        SelectiveCheckpointContext(True)


def test_random_operators_that_are_kept_are_not_drawn_again():
    x = matrix()
    outs = []

    def body(x):
        y = torch.rand_like(x) * x.sin()
        outs.append(y.detach().clone())
        return y.exp().sin()

    selectively(body, [aten.rand_like.default, aten.sin.default], x).sum().backward()
    assert len(outs) == 2
    assert torch.equal(*outs)


def test_random_operators_draw_the_same_again():
    x = matrix()
    outs = []

    def body(x):
        y = torch.nn.functional.dropout(x.sin(), 0.5)
        outs.append(y.detach().clone())
        return y.exp().sin()

    selectively(body, [aten.sin.default], x).sum().backward()
    assert torch.equal(*outs)


@pytest.mark.parametrize("inner", ["selective", "plain", "reentrant"])
@pytest.mark.parametrize("outer", ["selective", "plain"])
def test_selective_parts_nest(inner, outer):
    body = lambda x: (x @ x).sin().exp()  # noqa: E731

    def nested(kind, function, x):
        if kind == "selective":
            return selectively(function, [aten.mm.default], x)
        return checkpoint(function, x, use_reentrant=kind == "reentrant")

    x, y = matrix(), matrix()
    nested(outer, lambda x: nested(inner, body, x.cos()).sum() * x, x).sum().backward()
    (body(y.cos()).sum() * y).sum().backward()
    assert torch.equal(x.grad, y.grad)


def test_second_derivatives_pass_a_selective_part():
    x = matrix()
    (gradient,) = torch.autograd.grad(
        selectively(lambda x: (x @ x).sin(), [aten.mm.default], x).sum(), x, create_graph=True
    )
    y = matrix()
    (expected,) = torch.autograd.grad((y @ y).sin().sum(), y, create_graph=True)
    assert torch.equal(gradient, expected)


def test_an_exception_in_the_part_comes_through_and_leaves_nothing_behind():
    def body(x):
        x.sin()
        raise KeyError("mine")

    with raises(KeyError, "'mine'"):
        selectively(body, [aten.sin.default], matrix())
    assert _get_current_dispatch_mode() is None


def test_an_exception_in_the_policy_comes_through():
    def policy(ctx, op, *args, **kwargs):
        raise KeyError("policy")

    with raises(KeyError, "'policy'"):
        selectively(lambda x: x.sin(), policy, matrix())
    assert _get_current_dispatch_mode() is None


def test_an_exception_in_the_second_computation_comes_through_and_leaves_nothing_behind():
    runs = Runs(lambda x: x.sin().exp() if runs.calls == 1 else {}["gone"])
    out = selectively(runs, [aten.sin.default], matrix())
    with raises(KeyError, "'gone'"):
        out.sum().backward()
    assert _get_current_dispatch_mode() is None


def test_without_recording_no_policy_is_asked():
    policy = keeping()
    with torch.no_grad():
        selectively(lambda x: x.sin(), policy, matrix())
    assert policy.asked == []


def test_what_was_kept_lives_as_long_as_the_graph_and_goes_when_it_is_used():
    references = []

    def body(x):
        mode = _get_current_dispatch_mode()
        assert isinstance(mode, (module._CachingTorchDispatchMode, module._CachedTorchDispatchMode))
        out = x.cos().exp()
        if isinstance(mode, module._CachingTorchDispatchMode):
            kept = mode.storage[aten.exp.default][0].val
            assert not kept.requires_grad
            references.append(weakref.ref(kept))
        return out.sin()

    policy = lambda ctx, op, *args, **kwargs: CheckpointPolicy.MUST_SAVE  # noqa: E731
    gc.disable()
    try:
        out = selectively(body, policy, matrix())
        assert references[-1]() is not None
        del out
        assert references[-1]() is None
        out = selectively(body, policy, matrix())
        assert references[-1]() is not None
        out.sum().backward(retain_graph=True)
        assert references[-1]() is None
    finally:
        gc.enable()


def test_the_default_contexts_do_nothing():
    first, second = noop_context_fn()
    with first as a, second as b:
        assert (a, b) == (None, None)


def test_a_policy_sees_how_random_numbers_are_drawn():
    policy = keeping()
    part = lambda x: torch.nn.functional.dropout(x, 0.5) * x.detach().bernoulli()  # noqa: E731
    selectively(part, policy, matrix())
    assert policy.asked == [
        "aten.empty_like.default",
        "aten.bernoulli_.float",
        "aten.div_.Scalar",
        "aten.mul.Tensor",
        "aten.bernoulli.default",
        "aten.mul.Tensor",
    ]


def test_policies_are_at_home_where_they_are_imported_from():
    parts = (CheckpointPolicy, SelectiveCheckpointContext, create_selective_checkpoint_contexts, checkpoint)
    assert {part.__module__ for part in parts} == {module.__name__}
