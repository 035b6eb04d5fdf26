"""Inference tensors: what is made in inference mode, and what may be done with it later."""

import copy
import pickle

import numpy as np
import pytest
import rushlight as torch
from support import raises

MODIFIED = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor "
    "before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)
SAVED = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
    "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`."
)
CLARIFY = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the "
    "view and the inplace either both inside the inference_mode block (if you don't want the inplace to be tracked) or "
    "both outside (if you want the inplace to be tracked)."
)
VIEW_MODIFIED = (
    "A view was created in inference mode and is being modified inplace in normal mode. " + CLARIFY
)
VIEW_STALE = (
    "A view was created in inference mode and its base or another view of its base has been modified inplace in normal "
    "mode. " + CLARIFY
)


def inference(make):
    """What `make` makes in inference mode."""
    with torch.inference_mode():
        return make()


def made():
    """A fresh inference tensor of two ones."""
    return inference(lambda: torch.ones(2))


def leaf():
    """A normal leaf of two ones."""
    return torch.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2),
        lambda: torch.tensor([1.0]),
        lambda: torch.zeros(2, requires_grad=True),
        lambda: torch.randn(3),
        lambda: torch.arange(3),
        lambda: torch.from_numpy(np.ones(2)),
        lambda: torch.ones(2) + 1,
        lambda: torch.ones(2, 3).sum(0),
        lambda: torch.ones(2, 3).t(),
        lambda: torch.cat([torch.ones(1), torch.ones(1)]),
    ],
)
def test_whatever_is_made_in_the_mode_is_an_inference_tensor(make):
    tensor = inference(make)
    assert tensor.is_inference() and torch.is_inference(tensor)


def test_results_of_normal_tensors_in_the_mode_are_inference_tensors_without_history():
    x = leaf()
    y = inference(lambda: x * 2)
    assert y.is_inference() and not y.requires_grad and y.grad_fn is None and y.is_leaf
    assert inference(lambda: x.detach().clone()).is_inference()


def test_what_is_made_outside_is_normal():
    assert not torch.ones(2).is_inference()
    assert not torch.is_inference(leaf() * 2)


def test_an_inference_tensor_has_no_version():
    tensor = made()
    with raises(RuntimeError, "Inference tensors do not track version counter."):
        _ = tensor._version
    with torch.inference_mode(), raises(RuntimeError, "Inference tensors do not track version counter."):
        _ = tensor._version


def test_in_place_operations_work_in_the_mode():
    def make():
        tensor = torch.ones(2)
        tensor.add_(1)
        tensor[0] = 5
        tensor.view(2, 1).mul_(2)
        return tensor

    assert inference(make).tolist() == [10.0, 4.0]


@pytest.mark.parametrize(
    "modify",
    [
        lambda x: x.add_(1),
        lambda x: x.exp_(),
        lambda x: x.zero_(),
        lambda x: x.fill_(2),
        lambda x: x.copy_(torch.zeros(2)),
        lambda x: x.__setitem__(0, 5),
        lambda x: x.view(2, 1).mul_(3),
        lambda x: x[:1].add_(1),
        lambda x: x.unsqueeze_(0),
        lambda x: x.uniform_(),
        lambda x: x.clamp_(0, 1),
        lambda x: torch.add(torch.ones(2), 1, out=x),
    ],
)
@pytest.mark.parametrize("recording", [True, False])
def test_in_place_operations_outside_of_the_mode_are_refused(modify, recording):
    tensor = made()
    with torch.set_grad_enabled(recording), raises(RuntimeError, MODIFIED):
        modify(tensor)


def test_a_normal_tensor_may_be_modified_in_the_mode_and_counts():
    x = torch.ones(2)
    with torch.inference_mode():
        x.add_(1)
        x.mul_(torch.ones(2))
    assert x._version == 2 and not x.is_inference() and x.tolist() == [2.0, 2.0]


def test_a_leaf_may_be_modified_in_the_mode():
    x = leaf()
    with torch.inference_mode():
        x.sub_(0.5)
    assert x.requires_grad and x.is_leaf and x.tolist() == [0.5, 0.5]


def test_a_tensor_saved_before_it_was_modified_in_the_mode_is_noticed():
    x, y = leaf(), torch.ones(2)
    z = (x * y).sum()
    with torch.inference_mode():
        y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_requires_grad_cannot_be_switched_on_outside():
    text = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
    tensor = made()
    with raises(RuntimeError, text):
        tensor.requires_grad_()
    with raises(RuntimeError, text):
        tensor.requires_grad = True
    assert tensor.requires_grad_(False) is tensor


def test_requires_grad_can_be_switched_on_in_the_mode():
    tensor = inference(lambda: torch.ones(2).requires_grad_())
    assert tensor.requires_grad and tensor.is_leaf and tensor.is_inference()


def test_a_parameter_is_not_made_of_an_inference_tensor_outside():
    with raises(
        RuntimeError, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
    ):
        torch.nn.Parameter(made())


@pytest.mark.parametrize(
    "use",
    [
        lambda w, i: w * i,
        lambda w, i: (w * 1).mul_(i),
        lambda w, i: w / i,
        lambda w, i: torch.ones(2, 2, requires_grad=True) @ i,
        lambda w, i: torch.where(i > 0, w, w * i),
        lambda w, i: torch.nn.functional.linear(i, torch.ones(3, 2, requires_grad=True)),
        lambda w, i: torch.nn.functional.mse_loss(i, w),
    ],
)
def test_backward_may_not_need_an_inference_tensor(use):
    with raises(RuntimeError, SAVED):
        use(leaf(), made())


@pytest.mark.parametrize(
    "use",
    [
        lambda w, i: w + i,
        lambda w, i: w - i,
        lambda w, i: torch.cat([w, i]),
        lambda w, i: (w * 1).add_(i),
        lambda w, i: (w * 1).copy_(i) + w,
    ],
)
def test_an_inference_tensor_may_take_part_where_backward_does_not_need_it(use):
    w = leaf()
    use(w, made()).sum().backward()
    assert w.grad is not None


def test_without_recording_an_inference_tensor_may_be_used_everywhere():
    w, i = leaf(), made()
    with torch.no_grad():
        product = w * i
    assert not product.is_inference() and not (i * i).is_inference() and not (i * i).requires_grad


def test_a_clone_made_outside_is_normal():
    tensor = made().clone()
    assert not tensor.is_inference()
    tensor.add_(1)
    w = leaf()
    (w * tensor).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]
    assert tensor.requires_grad_().requires_grad


def test_a_clone_made_in_the_mode_is_not():
    assert inference(lambda: torch.ones(2).clone()).is_inference()


def test_copies_made_outside_are_normal():
    tensor = made()
    assert not copy.deepcopy(tensor).is_inference()
    assert not pickle.loads(pickle.dumps(tensor)).is_inference()


def test_views_of_inference_tensors_are_inference_tensors_and_have_no_base():
    tensor = inference(lambda: torch.ones(2, 2))
    views = [tensor.view(4), tensor[0], tensor.t(), tensor.detach(), *tensor.unbind(), *tensor.chunk(2)]
    views += inference(lambda: [tensor.view(4), tensor[0]])
    assert all(view.is_inference() and not view._is_view() and view._base is None for view in views)
    assert views[0].data_ptr() == tensor.data_ptr()


def test_the_same_memory_through_data_and_detach_stays_what_it_is():
    i, w = made(), leaf()
    assert i.data.is_inference() and i.detach().is_inference()
    with torch.inference_mode():
        assert not w.data.is_inference() and not w.detach().is_inference()
        assert w.detach()._version == 0


def test_views_of_normal_tensors_made_in_the_mode_are_normal_views():
    x = leaf()
    view = inference(lambda: x.view(2, 1))
    assert not view.is_inference() and view._is_view() and view._base is x
    assert view.grad_fn is None and view._version == 0


def test_a_view_made_in_the_mode_of_what_requires_no_grad_may_be_modified_outside():
    x = torch.ones(2)
    view = inference(lambda: x.view(2, 1))
    view.add_(1)
    assert x.tolist() == [2.0, 2.0] and x._version == 1


@pytest.mark.parametrize("make", [leaf, lambda: leaf() * 1])
def test_a_view_made_in_the_mode_of_what_requires_grad_may_not_be_modified_outside(make):
    x = make()
    view = inference(lambda: x.view(2, 1))
    with raises(RuntimeError, VIEW_MODIFIED):
        view.add_(1)


def test_a_view_made_in_the_mode_may_be_modified_in_it():
    x = leaf() * 1
    with torch.inference_mode():
        x.view(2, 1).add_(1)
    assert x.tolist() == [2.0, 2.0] and x.grad_fn.name() == "MulBackward0"


def test_a_view_made_in_the_mode_may_not_be_used_after_its_base_was_modified_outside():
    x = leaf() * 1
    view = inference(lambda: x.view(2, 1))
    x.add_(1)
    with raises(RuntimeError, VIEW_STALE):
        _ = view * 2
    with raises(RuntimeError, VIEW_STALE):
        _ = view.grad_fn


def test_a_leaf_made_in_the_mode_can_be_differentiated_where_it_is_not_kept():
    tensor = inference(lambda: torch.ones(2, requires_grad=True))
    (tensor + 2).sum().backward()
    assert tensor.grad.tolist() == [1.0, 1.0]


def test_backward_in_the_mode_gives_gradients_that_are_inference_tensors():
    x = leaf()
    y = (x * x).sum()
    seen = []
    y.register_hook(lambda g: seen.append((torch.is_inference_mode_enabled(), g.is_inference())))
    with torch.inference_mode():
        y.backward(retain_graph=True)
        (again,) = torch.autograd.grad(y, x, create_graph=True, retain_graph=True)
    assert seen == [(True, True)] * 2
    assert x.grad.is_inference() and again.is_inference() and again.grad_fn is None
    with raises(RuntimeError, MODIFIED):
        y.backward()


def test_writing_to_a_normal_tensor_what_is_an_inference_tensor_leaves_it_normal():
    x, i = torch.ones(2), made()
    x.copy_(i)
    x.mul_(i)
    x[0] = i[0]
    assert not x.is_inference() and x._version == 3


def test_a_tensor_is_what_the_data_is_that_it_is_assigned():
    x = torch.zeros(2)
    x.data = made()
    assert x.is_inference() and x.tolist() == [1.0, 1.0]
    i = made()
    i.data = torch.zeros(2)
    assert not i.is_inference()


def test_large_results_in_the_mode_are_inference_tensors_too():
    x = torch.ones(300, 300, requires_grad=True)
    y = inference(lambda: (x @ x).exp().sum(0))
    assert y.is_inference()


@pytest.mark.own
def test_random_state_taken_in_the_mode_can_be_put_back_anywhere():
    with torch.inference_mode():
        state = torch.get_rng_state()
    first = torch.randn(3)
    torch.set_rng_state(state)
    assert torch.equal(first, torch.randn(3))


def test_operations_on_inference_tensors_alone_are_not_recorded_even_if_they_require_grad():
    with torch.inference_mode():
        frozen = torch.ones(2, requires_grad=True)
    for y in (frozen * frozen, frozen + frozen, frozen.sin(), frozen.sum(), torch.stack([frozen, frozen])):
        assert (y.requires_grad, y.grad_fn, y.is_inference()) == (False, None, False)


def test_a_number_or_another_tensor_has_them_recorded():
    with torch.inference_mode():
        frozen = torch.ones(2, requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    assert (frozen * 2).grad_fn.name() == "MulBackward0"
    (frozen + other).sum().backward()
    assert frozen.grad.tolist() == [1.0, 1.0]
    with raises(RuntimeError, "Inference tensors cannot be saved for backward."):
        frozen * other


@pytest.mark.parametrize("apart", [False, True])
def test_a_function_of_ones_own_cannot_keep_an_inference_tensor(apart):
    class Together(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

    class Apart(torch.autograd.Function):
        @staticmethod
        def forward(a, b):
            return a * b

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

    function = Apart if apart else Together
    with torch.inference_mode():
        frozen = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    with raises(RuntimeError, "Inference tensors cannot be saved for backward."):
        function.apply(x, frozen)
    assert function.apply(x, frozen.clone()).requires_grad
    assert not function.apply(x.detach(), frozen).requires_grad


@pytest.mark.parametrize("apart", [lambda x: x.detach(), lambda x: x.data], ids=["detach", "data"])
def test_writes_to_what_is_taken_from_one_later_are_allowed_and_counted(apart):
    with torch.inference_mode():
        made = torch.ones(2, 3)
    taken = apart(made)
    taken.add_(1)
    assert (taken._version, taken.is_inference(), made.tolist()) == (1, True, [[2.0] * 3] * 2)
    with raises(RuntimeError, MODIFIED):
        made.add_(1)
    w = torch.ones(2, 3, requires_grad=True)
    with raises(RuntimeError, "Inference tensors cannot be saved for backward."):
        w * taken
    with raises(
        RuntimeError, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
    ):
        taken.requires_grad_()
    (w + taken).sum().backward()
    assert w.grad.tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("apart", [lambda x: x.detach(), lambda x: x.data], ids=["detach", "data"])
def test_what_is_taken_from_one_within_the_mode_is_as_it_is(apart):
    with torch.inference_mode():
        taken = apart(torch.ones(2))
    with raises(RuntimeError, MODIFIED):
        taken.add_(1)


def test_a_parameter_given_data_in_inference_mode_is_trained_on():
    weight = torch.nn.Parameter(torch.ones(2, 2))
    with torch.inference_mode():
        weight.data = weight.data * 0.5
    (weight * 2).sum().backward()
    torch.optim.SGD([weight], lr=0.125).step()
    assert (weight.tolist(), weight.is_inference(), weight._version) == ([[0.25] * 2] * 2, True, 1)
    assert not (weight * weight).requires_grad
    with raises(RuntimeError, "Inference tensors cannot be saved for backward."):
        weight * torch.ones(2, 2, requires_grad=True)


def test_a_count_that_is_not_there_is_not_set():
    with torch.inference_mode():
        made = torch.ones(2)
    torch._C._autograd._unsafe_set_version_counter((made.detach(),), (3,))
    with raises(
        RuntimeError, "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have"
    ):
        torch._C._autograd._unsafe_set_version_counter((made,), (3,))


def test_a_leaf_is_resized_in_inference_mode_only():
    x = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad(), raises(RuntimeError, "cannot resize variables that require grad"):
        x.resize_(3)
    with torch.inference_mode():
        x.resize_(3)
    assert x.shape == (3,) and not x.is_inference()
