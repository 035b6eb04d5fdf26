"""Hooks of modules: before and after the forward, and on the gradients of what goes in and comes out."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.nn.modules import module as every
from support import raises


class Scaled(nn.Module):
    def forward(self, x, *, scale=1.0):
        return x * scale


class Two(nn.Module):
    def forward(self, x, y):
        return x * 2, y * 3, 5


class InPlace(nn.Module):
    def forward(self, x):
        return x.mul_(2)


class InDictionary(nn.Module):
    def forward(self, x):
        return {"a": x * 2}


def leaf(*sizes):
    return torch.ones(*(sizes or (2,)), requires_grad=True)


def layer():
    made = nn.Linear(2, 1, bias=False)
    nn.init.ones_(made.weight)
    return made


def test_a_full_backward_hook_sees_the_gradients_of_inputs_and_results():
    seen = []
    module = layer()
    handle = module.register_full_backward_hook(lambda *call: seen.append(call))
    x = leaf(3, 2)
    module(x).sum().backward()
    ((owner, inputs, outputs),) = seen
    assert owner is module
    assert [g.tolist() for g in inputs] == [[[1.0, 1.0]] * 3]
    assert [g.tolist() for g in outputs] == [[[1.0]] * 3]
    handle.remove()
    module(x).sum().backward()
    assert len(seen) == 1


def test_what_a_full_backward_hook_returns_takes_the_place_of_the_inputs_gradients():
    module, x = layer(), leaf(3, 2)
    module.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 2,))
    module(x).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0]] * 3


def test_a_full_backward_pre_hook_comes_first_and_replaces_the_results_gradients():
    log, module, x = [], layer(), leaf(3, 2)
    module.register_full_backward_hook(lambda module, inputs, outputs: log.append(outputs[0].tolist()))
    module.register_full_backward_pre_hook(
        lambda module, outputs: (log.append("before"), (outputs[0] * 2,))[1]
    )
    module(x).sum().backward()
    assert log == ["before", [[2.0]] * 3]
    assert x.grad.tolist() == [[2.0, 2.0]] * 3


def test_what_is_no_tensor_has_no_gradient():
    seen, module, x = [], Two(), leaf()
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append((inputs, outputs)))
    results = module(x, x)
    assert results[2] == 5
    results[0].sum().backward()
    (inputs, outputs) = seen[0]
    assert [g.tolist() for g in inputs] == [[2.0, 2.0], [0.0, 0.0]]
    assert outputs[0].tolist() == [1.0, 1.0]
    assert outputs[1:] == (None, None)


def test_the_node_of_a_watched_result_is_a_functions():
    module = layer()
    module.register_full_backward_hook(lambda *call: None)
    y = module(leaf(3, 2))
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    with raises(RuntimeError, "Output 0 of BackwardHookFunction is a view and is being modified inplace."):
        y.mul_(2)


@pytest.mark.parametrize("register", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_a_watched_module_cannot_write_to_its_input(register):
    module = InPlace()
    getattr(module, register)(lambda *call: None)
    with raises(RuntimeError, "Output 0 of BackwardHookFunction is a view and is being modified inplace."):
        module(leaf() * 1)


def test_nothing_is_watched_without_gradients():
    module = layer()
    module.register_full_backward_hook(lambda *call: 1 / 0)
    with torch.no_grad():
        assert module(leaf(3, 2)).grad_fn is None


def test_hooks_are_called_when_no_input_requires_grad():
    seen, module = [], layer()
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append(inputs))
    with pytest.warns(UserWarning, match="Full backward hook is firing when gradients are computed with "):
        module(torch.ones(3, 2)).sum().backward()
    assert seen == [(None,)]
    module.register_full_backward_hook(lambda module, inputs, outputs: outputs)
    text = (
        "Backward hook for Modules where no input requires gradient should always return None or None for "
        "all gradients."
    )
    with pytest.warns(UserWarning), raises(RuntimeError, text):
        module(torch.ones(3, 2)).sum().backward()


@pytest.mark.parametrize(
    ("register", "answer", "text"),
    [
        (
            "register_full_backward_hook",
            (None, None),
            "Backward hook returned an invalid number of grad_input, got 2, but expected 1",
        ),
        (
            "register_full_backward_pre_hook",
            (None, None, None),
            "Backward pre hook returned an invalid number of grad_output, got 3, but expected 1",
        ),
    ],
)
def test_a_hook_returns_as_many_gradients_as_there_are(register, answer, text):
    module = layer()
    getattr(module, register)(lambda *call: answer)
    with raises(RuntimeError, text):
        module(leaf(3, 2)).sum().backward()


def test_full_hooks_and_others_do_not_mix():
    text = (
        "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
        "one of them."
    )
    module = layer()
    module.register_backward_hook(lambda *call: None)
    with raises(RuntimeError, text):
        module.register_full_backward_hook(lambda *call: None)
    module = layer()
    module.register_full_backward_hook(lambda *call: None)
    with raises(RuntimeError, text):
        module.register_backward_hook(lambda *call: None)


def test_a_result_that_is_no_tuple_of_tensors_is_not_watched():
    module = InDictionary()
    module.register_full_backward_hook(lambda *call: None)
    text = (
        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
        "received <class 'dict'>"
    )
    with pytest.warns(UserWarning) as caught:
        module(leaf())
    assert str(caught[0].message) == text


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (
            nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Tanh()),
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated",
        ),
        (
            InDictionary(),
            "Using non-full backward hooks on a Module that does not return a single Tensor or a",
        ),
        (Two(), "Using non-full backward hooks on a Module that does not return a single Tensor or a"),
    ],
)
def test_a_hook_of_the_last_node_warns_of_the_gradients_that_it_does_not_see(module, text):
    module.register_backward_hook(lambda *call: None)
    inputs = [leaf(3, 2)] * (2 if isinstance(module, Two) else 1)
    with pytest.warns(FutureWarning) as caught:
        module(*inputs)
    assert str(caught[0].message)[: len(text)] == text


def test_a_hook_of_the_last_node_sees_its_gradients():
    seen = []
    module = nn.Tanh()
    module.register_backward_hook(lambda module, inputs, outputs: seen.append((inputs, outputs)))
    module(torch.zeros(2, requires_grad=True) * 1).sum().backward()
    ((inputs, outputs),) = seen
    assert [inputs[0].tolist(), outputs[0].tolist()] == [[1.0, 1.0], [1.0, 1.0]]


def test_hooks_with_keywords_see_and_replace_them():
    seen, module = [], Scaled()
    module.register_forward_pre_hook(lambda module, args, kwargs: (args, {"scale": 5.0}), with_kwargs=True)
    module.register_forward_hook(
        lambda module, args, kwargs, result: seen.append((args, kwargs, result)), with_kwargs=True
    )
    assert module(torch.ones(1), scale=2.0).tolist() == [5.0]
    assert seen == [((torch.ones(1),), {"scale": 5.0}, torch.full((1,), 5.0))]


def test_a_hook_may_be_put_before_the_others():
    log, module = [], Scaled()
    for number in range(4):
        module.register_forward_hook(lambda *call, number=number: log.append(number), prepend=number % 2 == 1)
    module(torch.ones(1))
    assert log == [3, 1, 0, 2]


def test_a_hook_that_is_always_called_is_called_once_whether_forward_raises_or_not():
    seen, module = [], Scaled()
    module.register_forward_hook(lambda module, args, result: seen.append(result), always_call=True)
    with pytest.raises(TypeError):
        module(torch.ones(1), scale="much")
    assert seen == [None]
    module(torch.ones(1))
    assert len(seen) == 2


def test_a_hook_that_raises_after_forward_did_is_a_warning():
    module = Scaled()
    module.register_forward_hook(lambda module, args, result: 1 / 0, always_call=True)
    text = (
        "module forward hook with ``always_call=True`` raised an exception that was silenced as another "
        "error was raised in forward: division by zero"
    )
    with pytest.warns(UserWarning) as caught, pytest.raises(TypeError):
        module(torch.ones(1), scale="much")
    assert str(caught[0].message) == text
    with pytest.raises(ZeroDivisionError):
        module(torch.ones(1))


def test_hooks_of_every_module_come_before_its_own():
    log, module, x = [], layer(), leaf(3, 2)
    module.register_forward_pre_hook(lambda *call: log.append("own before"))
    module.register_forward_hook(lambda *call: log.append("own after"))
    handles = [
        every.register_module_forward_pre_hook(lambda *call: log.append("before")),
        every.register_module_forward_hook(lambda *call: log.append("after")),
        every.register_module_full_backward_pre_hook(lambda *call: log.append("gradients of results")),
        every.register_module_full_backward_hook(lambda *call: log.append("gradients of inputs")),
    ]
    try:
        module(x).sum().backward()
        with raises(
            RuntimeError,
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please "
            "use only one of them.",
        ):
            every.register_module_backward_hook(lambda *call: None)
    finally:
        for handle in handles:
            handle.remove()
    assert log == [
        "before",
        "own before",
        "after",
        "own after",
        "gradients of results",
        "gradients of inputs",
    ]
    module(x)
    assert log[6:] == ["own before", "own after"]


def test_a_double_backward_does_not_call_hooks_where_no_gradient_of_a_result_came():
    calls, module, x = [], nn.Tanh(), torch.zeros(2, requires_grad=True)
    module.register_full_backward_hook(lambda *call: calls.append(1))
    (gradient,) = torch.autograd.grad(module(x).sum(), x, create_graph=True)
    (gradient.sum() + x.sum()).backward()
    assert 1 <= len(calls) <= 2


def test_hooks_of_the_state_are_called_around_it():
    log, module = [], layer()
    module.register_state_dict_pre_hook(lambda module, prefix, keep_vars: log.append(("before", prefix)))
    module.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.update(more=1))
    module.register_load_state_dict_pre_hook(lambda module, state, *rest: state.pop("more"))
    module.register_load_state_dict_post_hook(lambda module, keys: log.append(keys.missing_keys))
    state = module.state_dict()
    assert list(state) == ["weight", "more"]
    with pytest.raises(RuntimeError):
        module.load_state_dict({**state, "weight": torch.ones(3)})
    module.load_state_dict(state)
    assert log == [("before", ""), [], []]


def test_hooks_of_the_state_return_nothing():
    module = layer()
    module.register_state_dict_post_hook(lambda module, state, prefix, metadata: state)
    with raises(RuntimeError, "state_dict post-hook must return None"):
        module.state_dict()
    module = layer()
    module.register_load_state_dict_post_hook(lambda module, keys: keys)
    text = (
        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values"
    )
    with raises(AssertionError, text):
        module.load_state_dict(module.state_dict())


def test_hooks_see_what_modules_take_in_and_may_replace_it():
    log = []
    handles = [
        every.register_module_parameter_registration_hook(lambda module, name, it: log.append(name)),
        every.register_module_buffer_registration_hook(lambda module, name, it: it * 2),
        every.register_module_module_registration_hook(lambda module, name, it: log.append(name)),
    ]
    try:
        module = layer()
        module.register_buffer("b", torch.ones(1))
        module.child = nn.Identity()
        module.add_module("other", nn.Identity())
    finally:
        for handle in handles:
            handle.remove()
    layer()
    assert log == ["weight", "child", "other"]
    assert module.b.tolist() == [2.0]


@pytest.mark.parametrize("register", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_a_gradient_of_another_shape_is_told_of_by_name(register):
    module = nn.Linear(2, 2)
    getattr(module, register)(lambda *args: (torch.zeros(5),))
    with raises(RuntimeError, "hook 'hook' has changed the size of value"):
        module(torch.ones(1, 2, requires_grad=True)).sum().backward()
