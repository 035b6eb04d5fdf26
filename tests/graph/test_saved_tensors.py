"""What nodes keep for backward: seen, packed, freed, overwritten."""

import numpy as np
import pytest
import rushlight as torch
from custom_functions.square import Square
from rushlight.autograd import graph
from support import raises
from support import single_leaf as leaf

FREED = "Trying to backward through the graph a second time (or directly access saved tensors after they"


def test_a_node_shows_the_tensors_that_it_saved():
    x = leaf()
    y = x.exp()
    z = x * y
    assert y.grad_fn._saved_result.tolist() == y.tolist()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    assert z.grad_fn._saved_self is x
    assert z.grad_fn._saved_other.grad_fn is y.grad_fn
    assert (x * 3).grad_fn._saved_self is None
    assert (x * 3).grad_fn._saved_other.item() == 3
    (indices,) = x[torch.tensor([1])].grad_fn._saved_indices
    assert indices.tolist() == [1]
    with raises(AttributeError, "'MulBackward0' object has no attribute '_saved_nothing'"):
        _ = z.grad_fn._saved_nothing


def test_what_was_saved_is_freed_after_backward():
    x = leaf()
    y = x * x
    raw = y.grad_fn._raw_saved_self
    y.sum().backward()
    with raises(RuntimeError, FREED):
        _ = y.grad_fn._saved_self
    with raises(RuntimeError, "Calling register_hooks on a saved tensor after it has been freed."):
        raw.register_hooks(lambda t: t, lambda t: t)


def test_one_saved_tensor_can_be_packed():
    x = leaf(3)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.item(), lambda value: torch.tensor([value]))
    y.backward()
    assert x.grad.tolist() == [6.0]


def test_a_saved_tensor_is_packed_once():
    x = leaf(3)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    with raises(RuntimeError, "Calling register_hooks on a saved tensor whose hooks have already been set."):
        y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    with raises(RuntimeError, "A saved tensor pack hook is modifying its input in place."):
        y.grad_fn._raw_saved_other.register_hooks(lambda t: t.mul_(2), lambda t: t)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: 1, lambda t: t)
    with raises(
        TypeError, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type"
    ):
        y.backward()


def test_everything_saved_in_a_block_is_packed():
    packed, unpacked = [], []

    def pack(tensor):
        packed.append(tensor)
        return tensor.tolist()

    def unpack(values):
        unpacked.append(values)
        return torch.tensor(values)

    x = leaf(1, 2)
    with graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    assert any(tensor is x for tensor in packed)
    y.sum().backward()
    assert len(packed) == len(unpacked) == 3
    assert torch.allclose(x.grad, (x.detach() + 1) * x.detach().exp())


def test_packing_keeps_the_history():
    x = leaf(3)
    with graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = x**3
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert second.item() == 18.0


def test_the_innermost_pair_of_hooks_counts():
    log = []
    x = leaf()
    with (
        graph.saved_tensors_hooks(lambda t: (log.append("outer"), t)[1], lambda t: t),
        graph.saved_tensors_hooks(lambda t: (log.append("inner"), t)[1], lambda t: t),
    ):
        _ = x.sin()
    assert log == ["inner"]


def test_hooks_that_raise_leave_nothing_behind():
    x = leaf()
    with pytest.raises(ZeroDivisionError), graph.saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
        _ = x.exp()
    x.exp().sum().backward()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 1 / 0):
        y = x.exp()
    with raises(ZeroDivisionError, "division by zero"):
        y.sum().backward()


def test_hooks_can_be_forbidden():
    with (
        raises(RuntimeError, "not here"),
        graph.disable_saved_tensors_hooks("not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
    ):
        pass
    with (
        raises(RuntimeError, "not here"),
        graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        graph.disable_saved_tensors_hooks("not here"),
    ):
        pass
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


def test_functions_of_ones_own_pack_what_they_save():
    x = leaf(3)
    with graph.saved_tensors_hooks(lambda t: t.item(), lambda value: torch.tensor([value + 1])):
        y = Square.apply(x)
    y.backward()
    assert x.grad.tolist() == [8.0]
    y = Square.apply(x)
    y.grad_fn._raw_saved_tensors[0].register_hooks(lambda t: t * 2, lambda t: t)
    assert y.grad_fn.saved_tensors[0].tolist() == [6.0]


def test_saved_tensors_may_be_overwritten_where_that_is_allowed():
    x = leaf(3)
    with graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y * y
        y.zero_()
        z.backward()
        with (
            raises(RuntimeError, "allow_mutation_on_saved_tensors contexts cannot be nested"),
            graph.allow_mutation_on_saved_tensors(),
        ):
            pass
    assert x.grad.tolist() == [6.0]


def test_backward_outside_of_such_a_block_is_refused():
    x = leaf(3)
    with graph.allow_mutation_on_saved_tensors():
        y = x * x
    with raises(
        AssertionError, "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    ):
        y.backward()


def test_versions_can_be_counted_up_and_put_back():
    x = torch.zeros(2)
    graph.increment_version(x)
    graph.increment_version([x, x])
    assert x._version == 3
    y = leaf() * 1
    z = y * y
    with torch.autograd._unsafe_preserve_version_counter(y):
        y.mul_(1)
    z.sum().backward()


def test_a_number_that_a_node_keeps_as_a_tensor_is_freed_like_one():
    x = leaf()
    y = x * 2
    y.sum().backward()
    with raises(RuntimeError, FREED):
        _ = y.grad_fn._saved_other
    with raises(RuntimeError, FREED):
        y.sum().backward()


def test_a_node_that_keeps_nothing_runs_again():
    x = leaf()
    y = x + 2
    y.sum().backward()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_what_is_not_a_tensor_has_no_version():
    with raises(RuntimeError, "increment_version expect a Iterable[Tensor] as input"):
        graph.increment_version(3)
    with raises(RuntimeError, "increment_version expects each element of the iterable to be a tensor"):
        graph.increment_version([3])


def test_clearing_forgets_saved_tensors_that_were_copied_before_a_write():
    with graph.allow_mutation_on_saved_tensors() as context:
        y = leaf().clone()
        z = y * y
        y.mul_(3)
        context.clear()
        with raises(AssertionError, "Trying to backward outside of the 'allow_mutation_on_saved_tensors'"):
            z.sum().backward()


def test_the_context_of_mutations_tells_what_it_copied():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:

        def counts():
            return len(context.cloned), len(context.original), len(context.tid_to_weakhandle)

        a = x.clone()
        out = (a * a).sum()
        assert counts() == (0, 1, 1)
        a.sin_()
        assert counts()[0] == 1
        out.backward()
        assert x.grad.tolist() == [2.0, 2.0]
        assert counts()[0] == 0
        b = x.clone() * x
        b.sum().backward()
    assert counts() == (0, 0, 0)


def test_the_object_of_a_saved_tensor_is_made_by_its_node_and_packed_by_two_functions():
    x = torch.ones(2, requires_grad=True)
    saved = (x * x).grad_fn._raw_saved_self
    assert saved.data is x
    with raises(RuntimeError, "Trying to create a SavedTensor object from Python is forbidden."):
        type(saved)()
    with raises(TypeError, "register_hooks(): incompatible function arguments."):
        saved.register_hooks(max)


def test_functions_that_pack_what_they_compute_for_packing_go_round_in_a_circle():
    x = torch.ones(2, requires_grad=True)

    def pack(tensor):
        with torch.enable_grad():
            tensor * tensor
        return tensor

    with graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        with pytest.raises(RecursionError, match="maximum recursion depth exceeded"):
            x * x
    assert torch.autograd.grad((x * x).sum(), x)[0].tolist() == [2.0, 2.0]


def test_an_input_that_was_detached_in_place_since_cannot_be_used():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    z = y * y
    y.detach_()
    with raises(
        RuntimeError,
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
        "supported, please use out-of-place `.detach()` instead",
    ):
        z.sum().backward()
    assert z.grad_fn._saved_self.tolist() == [1.0, 2.0]
    y = x.exp()
    z = y.sum()
    y.detach_()
    z.backward()
    assert x.grad.tolist() == x.exp().tolist()


def test_an_output_that_was_detached_in_place_is_saved_all_the_same():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    node = y.grad_fn
    y.detach_()
    assert node(torch.ones(2)).tolist() == x.exp().tolist()
    y = x.clone()
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
        z = y * y
    y.detach_()
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("found", [3, None, [torch.ones(3)], np.ones(3)])
def test_what_is_unpacked_is_a_tensor_and_nothing_else(found):
    x = leaf(3)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: found):
        y = x * x
    name = {np.ndarray: "numpy.ndarray"}.get(type(found), type(found).__name__)
    for ask in (y.sum().backward, lambda: y.grad_fn._saved_self, lambda: y.grad_fn(torch.ones(3))):
        with raises(
            TypeError,
            f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {name}",
        ):
            ask()


def test_what_was_overwritten_may_be_packed_as_it_is_now():
    factor = torch.ones(2)
    x = leaf(1.0, 2.0)
    y = x * factor
    factor.mul_(5)
    with raises(RuntimeError, "one of the variables needed for gradient computation has been modified"):
        y.sum().backward(retain_graph=True)
    packed = []
    y.grad_fn._raw_saved_other.register_hooks(
        lambda tensor: packed.append(tensor) or tensor, lambda tensor: tensor
    )
    y.sum().backward()
    assert [tensor.tolist() for tensor in packed] == [[5.0, 5.0]]
    assert x.grad.tolist() == [5.0, 5.0]


def test_an_overwritten_result_may_be_packed_too():
    y = leaf(0.0, 0.0).exp()
    node = y.grad_fn
    y.add_(1)
    node._raw_saved_result.register_hooks(lambda tensor: tensor.clone(), lambda tensor: tensor)
    assert node._saved_result.tolist() == [2.0, 2.0]
    assert node._saved_result.grad_fn is node


def test_words_that_refuse_hooks_are_text():
    form = "(): incompatible function arguments. The following argument types are supported:\n    1. (error_message"
    with raises(TypeError, f"_saved_tensors_hooks_disable{form}"), graph.disable_saved_tensors_hooks(3):
        pass
