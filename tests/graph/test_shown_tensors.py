"""What nodes show of tensors: what an operation overwrote, what is calculated to be shown, what stays hidden."""

import pytest
import rushlight as torch
from support import leaf, raises

F = torch.nn.functional
FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed)"
)


def shown(node):
    """The attributes of a node that are tensors or could be."""
    names = [name for name in dir(node) if name.startswith("_raw_saved_")]
    values = ((name.removeprefix("_raw_saved_"), getattr(node, name.removeprefix("_raw"))) for name in names)
    return {name: None if value is None else value.tolist() for name, value in values}


OVERWRITING = {
    "sin_": lambda x: x.sin_(),
    "abs_": lambda x: x.abs_(),
    "mul_": lambda x: x.mul_(leaf(3.0, 4.0)),
    "pow_": lambda x: x.pow_(leaf(3.0, 4.0)),
    "clamp_": lambda x: x.clamp_(0, 5),
    "lerp_": lambda x: x.lerp_(x.detach(), leaf(0.5, 0.5)),
}


@pytest.mark.parametrize("name", OVERWRITING)
def test_what_was_overwritten_is_shown_as_a_clone_of_what_it_was(name):
    x = leaf(1.0, 2.0) * 1
    before = x.grad_fn
    node = OVERWRITING[name](x).grad_fn
    assert node.next_functions[0][0] is before
    kept = node._saved_self
    assert kept.tolist() == [1.0, 2.0]
    assert kept.grad_fn.name() == "CloneBackward0"
    assert kept.grad_fn.next_functions == ((before, 0),)


def test_what_was_overwritten_has_no_history_if_it_had_none():
    node = torch.ones(2, dtype=torch.float64).mul_(leaf(1.0, 2.0)).grad_fn
    assert node._saved_self.grad_fn is None
    assert not node._saved_self.requires_grad


def test_what_was_overwritten_is_shown_as_a_clone_without_grad_mode_too():
    node = (leaf(1.0, 2.0) * 1).sin_().grad_fn
    with torch.no_grad():
        assert node._saved_self.grad_fn.name() == "CloneBackward0"


def test_the_sign_of_a_tensor_with_a_gradient_shows_only_the_result():
    x = torch.tensor([1.0, -2.0], dtype=torch.float64)
    node = torch.copysign(x, leaf(-1.0, 1.0)).grad_fn
    assert shown(node) == {"result": [-1.0, 2.0], "self": None}


def test_both_operands_of_a_hypotenuse_are_shown_only_with_gradients_of_their_own():
    x, y = leaf(3.0), leaf(4.0)
    assert shown(torch.hypot(x, y).grad_fn) == {"other": [4.0], "result": [5.0], "self": [3.0]}
    assert shown(torch.hypot(x, y.detach()).grad_fn) == {"other": None, "result": [5.0], "self": [3.0]}
    assert shown(torch.hypot(x.detach(), y).grad_fn) == {"other": [4.0], "result": [5.0], "self": None}


def test_numbers_times_powers_of_two_show_exponents_and_results():
    x, y = leaf(3.0), leaf(2.0)
    assert shown(torch.ldexp(x, y).grad_fn) == {"other": [2.0], "result": [12.0]}
    assert shown(torch.ldexp(x.detach(), y).grad_fn) == {"other": None, "result": [12.0]}
    (once,) = torch.autograd.grad(torch.ldexp(x, y).sum(), y, create_graph=True)
    assert torch.allclose(torch.autograd.grad(once.sum(), x)[0] * 3, once)


def test_weighed_products_show_the_factors_that_gradients_need():
    x, a, b = leaf(1.0), leaf(2.0), leaf(3.0)
    node = torch.addcmul(x, a.detach(), b).grad_fn
    assert shown(node) == {"tensor1": [2.0], "tensor2": None}
    node = torch.addcdiv(x, a, b.detach()).grad_fn
    assert shown(node) == {"tensor1": None, "tensor2": [3.0]}


def test_what_no_gradient_needs_may_be_overwritten():
    x, a, b = leaf(1.0), torch.tensor([2.0], dtype=torch.float64), leaf(3.0)
    y = torch.addcmul(x, leaf(1.0), a) + torch.lerp(a.clone(), b, 0.5)
    z = torch.addcmul(x, torch.ones(1, dtype=torch.float64), a)
    a.add_(1)
    z.backward()
    assert x.grad.item() == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


STRIDES = {
    "both": (True, True, {"self": (4, 1), "mat2": (5, 1)}),
    "the first": (True, False, {"self": (4, 1), "mat2": ()}),
    "the second": (False, True, {"self": (), "mat2": (5, 1)}),
}


@pytest.mark.parametrize("which", STRIDES)
def test_products_of_matrices_show_the_sizes_of_both_and_strides_where_there_is_a_gradient(which):
    first, second, strides = STRIDES[which]
    a, b = torch.ones(3, 4, requires_grad=first), torch.ones(4, 5, requires_grad=second)
    node = (a @ b).grad_fn
    assert (node._saved_self_sym_sizes, node._saved_mat2_sym_sizes) == ((3, 4), (4, 5))
    assert node._saved_self_sym_strides == strides["self"]
    assert node._saved_mat2_sym_strides == strides["mat2"]
    node = torch.addmm(torch.ones(5), a, b).grad_fn
    assert (node._saved_mat1_sym_sizes, node._saved_mat2_sym_sizes) == ((3, 4), (4, 5))
    assert node._saved_mat1_sym_strides == strides["self"]
    assert node._saved_mat2_sym_strides == strides["mat2"]


def test_a_layer_on_data_shows_only_what_its_weight_needs():
    node = F.linear(torch.ones(3, 4), torch.ones(5, 4, requires_grad=True), torch.ones(5)).grad_fn
    assert node._saved_mat2 is None
    assert node._saved_mat1.shape == (3, 4)
    assert node._saved_mat1_sym_strides == ()
    assert node._saved_mat2_sym_strides == (1, 4)


RESULTS = {
    "power": lambda x: x ** torch.tensor([2.0], dtype=torch.float64),
    "product": lambda x: x.prod(),
    "exponential": lambda x: x.exp(),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_raw_forms(name):
    y = RESULTS[name](leaf(2.0))
    raw = y.grad_fn._raw_saved_result
    assert raw.data.tolist() == y.tolist()
    assert raw.data.grad_fn is None
    assert raw.unpack_hook is None
    with raises(
        RuntimeError,
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not "
        "supported, please use out-of-place `.detach()` instead",
    ):
        raw.unpack()


@pytest.mark.parametrize("name", RESULTS)
def test_results_can_be_packed(name):
    y = RESULTS[name](leaf(2.0))
    node, seen = y.grad_fn, []

    def pack(x):
        seen.append("pack")
        assert x.grad_fn is None
        return x * 10

    def unpack(x):
        seen.append("unpack")
        return x / 10

    node._raw_saved_result.register_hooks(pack, unpack)
    assert seen == ["pack"]
    kept = node._saved_result
    assert torch.allclose(kept, y)
    assert kept.grad_fn is node
    assert torch.allclose(node._raw_saved_result.data, y * 10)
    assert node._raw_saved_result.unpack_hook is unpack
    with raises(
        RuntimeError,
        "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of "
        "hooks is allowed at a time.",
    ):
        node._raw_saved_result.register_hooks(pack, unpack)
    y.sum().backward()
    assert seen == ["pack", "unpack", "unpack"]


@pytest.mark.parametrize("name", RESULTS)
def test_results_that_are_freed_cannot_be_packed(name):
    y = RESULTS[name](leaf(2.0))
    raw = y.grad_fn._raw_saved_result
    y.sum().backward()
    assert raw.data is None
    with raises(RuntimeError, FREED):
        raw.unpack()
    with raises(RuntimeError, "Calling register_hooks on a saved tensor after it has been freed."):
        raw.register_hooks(lambda x: x, lambda x: x)


@pytest.mark.parametrize("name", RESULTS)
def test_default_hooks_pack_results(name):
    seen = []

    def pack(x):
        seen.append(None if x.grad_fn is None else x.grad_fn.name())
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        y = RESULTS[name](leaf(2.0))
    assert seen[-1] == y.grad_fn.name()
    assert seen.count(y.grad_fn.name()) == 1


def test_numbers_that_stand_for_tensors_can_be_packed():
    node = (leaf(1.0) * 2).grad_fn
    raw = node._raw_saved_other
    assert raw.data.tolist() == raw.unpack().tolist() == 2
    raw.register_hooks(lambda x: x * 10, lambda x: x / 10)
    assert node._saved_other.item() == 2
    assert raw.data.item() == 20


def test_default_hooks_do_not_pack_numbers_that_stand_for_tensors():
    with torch.autograd.graph.saved_tensors_hooks(lambda x: pytest.fail("packed"), lambda x: x):
        y = leaf(1.0) * 2
    y.backward()


def test_positions_on_the_tape_can_be_said_anew():
    x = leaf(1.0)
    node, later = x.exp().grad_fn, x.sin().grad_fn
    assert later._sequence_nr() == node._sequence_nr() + 1
    node._set_sequence_nr(70)
    assert node._sequence_nr() == 70
    leaf_node = node.next_functions[0][0]
    leaf_node._set_sequence_nr(0)
    assert leaf_node._sequence_nr() == 0


UNCHANGEABLE = {
    "name": "'ExpBackward0' object attribute 'name' is read-only",
    "next_functions": "attribute 'next_functions' of 'ExpBackward0' objects is not writable",
    "metadata": "attribute 'metadata' of 'ExpBackward0' objects is not writable",
    "_saved_result": "attribute '_saved_result' of 'ExpBackward0' objects is not writable",
    "own": "'ExpBackward0' object has no attribute 'own'",
}


@pytest.mark.parametrize("name", UNCHANGEABLE)
def test_attributes_of_nodes_cannot_be_changed(name):
    node = leaf(1.0).exp().grad_fn
    with raises(AttributeError, UNCHANGEABLE[name]):
        setattr(node, name, 3)
    with raises(AttributeError, UNCHANGEABLE[name]):
        delattr(node, name)


def test_no_zeros_stand_for_gradients_of_constants_if_a_function_does_not_want_them():
    seen = []

    class Halves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, wanted):
            constant = x.clone()
            ctx.mark_non_differentiable(constant)
            assert ctx._materialize_non_diff_grads
            ctx._materialize_non_diff_grads = wanted
            return x.clone(), x.clone(), constant

        @staticmethod
        def backward(ctx, *gradients):
            seen.append([gradient is None for gradient in gradients])
            return gradients[0], None

    for wanted in (False, True):
        Halves.apply(leaf(1.0), wanted)[0].sum().backward()
    assert seen == [[False, False, True], [False, False, False]]
