"""What tensors tell of their hooks, and what becomes of hooks when tensors are copied."""

import copy
import io
import pickle
import warnings
from collections import OrderedDict

import pytest
import rushlight as torch
from rushlight.utils.hooks import RemovableHandle, unserializable_hook


def leaf():
    return torch.ones(2, requires_grad=True)


def test_hooks_are_listed_under_the_numbers_of_their_handles():
    x = leaf()
    assert x._backward_hooks is None
    handles = [x.register_hook(lambda gradient: None) for _ in range(2)]
    assert list(x._backward_hooks) == [handle.id for handle in handles]
    handles[0].remove()
    assert list(x._backward_hooks) == [handles[1].id]
    handles[1].remove()
    assert x._backward_hooks == OrderedDict()


def test_hooks_after_accumulation_are_listed_too():
    x = leaf()
    assert x._post_accumulate_grad_hooks is None
    handle = x.register_post_accumulate_grad_hook(lambda tensor: None)
    assert list(x._post_accumulate_grad_hooks) == [handle.id]


def test_hooks_of_a_leaf_are_forgotten_by_assignment():
    x = leaf()
    x.register_hook(lambda gradient: gradient * 2)
    x._backward_hooks = None
    assert x._backward_hooks is None
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_hooks_that_are_left_behind_by_pickling_are_warned_of():
    x = leaf()
    x.register_hook(max)
    with pytest.warns(UserWarning, match="backward hook <built-in function max> on tensor will not be"):
        pickle.dumps(x)
    y = leaf()
    y.register_hook(unserializable_hook(lambda gradient: gradient))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not pickle.loads(pickle.dumps(y))._backward_hooks


def test_a_handle_wants_a_dictionary_that_can_be_forgotten():
    with pytest.raises(TypeError, match="cannot create weak reference to 'dict' object"):
        RemovableHandle({})


def test_the_node_of_a_leaf_accumulates_when_it_is_called():
    x = leaf()
    seen = []
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append(tensor.grad.tolist()))
    node = torch.autograd.graph.get_gradient_edge(x).node
    assert node(torch.ones(2)) == ()
    assert node(torch.ones(2)) == ()
    assert seen == [[1.0, 1.0], [2.0, 2.0]]
    assert node._sequence_nr() == 2**64 - 1


def test_what_is_changed_in_a_dictionary_changes_the_hooks():
    x = torch.ones(2, requires_grad=True)
    handle = x.register_hook(lambda gradient: gradient * 2)
    hooks = x._backward_hooks
    hooks[handle.id + 1] = lambda gradient: gradient * 10
    x.sum().backward()
    assert x.grad.tolist() == [20, 20] and len(x._backward_hooks) == 2
    hooks.clear()
    x.grad = None
    x.sum().backward()
    assert x.grad.tolist() == [1, 1] and not x._backward_hooks
    handle.remove()


def test_hooks_after_accumulation_can_be_changed_in_their_dictionary():
    seen = []
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append("first"))
    hooks = x._post_accumulate_grad_hooks
    hooks.pop(next(iter(hooks)))
    hooks[3] = lambda tensor: seen.append(tensor.grad.tolist())
    x.sum().backward()
    assert seen == [[1, 1]]


def test_a_copied_handle_removes_from_the_copied_dictionary():
    import copy

    called = []
    module = torch.nn.Linear(2, 2)
    module.handle = module.register_forward_hook(lambda *args: called.append("hook"))
    other = copy.deepcopy(module)
    assert other.handle.id == module.handle.id
    other.handle.remove()
    other(torch.ones(1, 2))
    assert called == []
    module(torch.ones(1, 2))
    assert called == ["hook"]
    copy.deepcopy(torch.ones(2, requires_grad=True).register_hook(print)).remove()


def test_saving_a_tensor_warns_once_of_its_hooks():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(print)
    with pytest.warns(UserWarning) as told:
        torch.save([x], io.BytesIO())
    assert [str(warning.message)[:45] for warning in told] == [
        "backward hook <built-in function print> on te"
    ]
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.register_hook(print)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.save(parameter, io.BytesIO())


def test_a_handle_tells_its_dictionaries_and_its_number():
    hooks, further = OrderedDict(), OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=further)
    first, number, extra = handle.__getstate__()
    assert first is hooks
    assert number == handle.id
    assert len(extra) == 1
    assert extra[0] is further
    del hooks, first
    assert handle.__getstate__()[0] is None


def test_a_handle_of_several_hooks_tells_theirs():
    tensors = [leaf(), leaf()]
    handle = torch.autograd.graph.register_multi_grad_hook(tensors, lambda gradients: None)
    assert handle.__getstate__() is handle.handles
    again = copy.copy(handle)
    assert type(again) is type(handle)
    assert again.handles is handle.handles
    again.remove()
    assert not tensors[0]._backward_hooks


def test_writes_are_counted_up_to_what_is_no_tensor():
    x = torch.ones(2)
    with pytest.raises(
        RuntimeError, match="increment_version expects each element of the iterable to be a t"
    ):
        torch.autograd.graph.increment_version([x, 3])
    assert x._version == 1


@pytest.mark.parametrize("name", ["register_hook", "register_post_accumulate_grad_hook"])
def test_hooks_are_registered_by_the_word_too(name):
    seen, x = [], leaf()
    getattr(x, name)(hook=seen.append)
    x.sum().backward()
    assert len(seen) == 1


@pytest.mark.parametrize("name", ["register_hook", "register_post_accumulate_grad_hook"])
@pytest.mark.parametrize(
    ("args", "kwargs", "text"),
    [
        ((), {}, "missing 1 required positional argument: 'hook'"),
        ((print, print), {}, "takes 2 positional arguments but 3 were given"),
        ((), {"function": print}, "got an unexpected keyword argument 'function'"),
        ((print,), {"hook": print}, "got multiple values for argument 'hook'"),
    ],
)
def test_a_hook_is_the_only_argument(name, args, kwargs, text):
    with pytest.raises(TypeError, match=rf"^Tensor.{name}\(\) {text}$"):
        getattr(leaf(), name)(*args, **kwargs)


def test_hooks_on_saved_tensors_that_are_there_may_stay():
    graph = torch._C._autograd
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        with pytest.raises(RuntimeError, match=r"^no$"):
            graph._saved_tensors_hooks_disable("no")
        graph._saved_tensors_hooks_disable("no", fail_if_non_empty=False)
        x = leaf()
        (x * x).sum().backward()
        graph._saved_tensors_hooks_enable()
    assert x.grad.tolist() == [2.0, 2.0]
