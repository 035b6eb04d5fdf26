"""`Tensor.backward`: values, accumulation, roots, retained graphs."""

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, leaf, raises, run_script, sample


def test_backward_fills_the_gradient_of_a_leaf():
    x = leaf(1.0, 2.0, 3.0)
    (x * x).sum().backward()
    assert_tensor(x.grad, [2.0, 4.0, 6.0], torch.float64)


def test_backward_returns_none():
    x = leaf(1.0)
    assert x.sum().backward() is None


def test_gradients_of_two_backwards_add_up():
    x = leaf(1.0, 2.0)
    for _ in range(3):
        (x * x).sum().backward()
    assert_tensor(x.grad, [6.0, 12.0])


def test_accumulation_without_create_graph_keeps_the_gradient_object_and_its_memory():
    x = leaf(1.0, 2.0)
    x.sum().backward()
    first, address = x.grad, x.grad.data_ptr()
    x.sum().backward()
    assert x.grad is first
    assert x.grad.data_ptr() == address
    assert_tensor(first, [2.0, 2.0])


@pytest.mark.filterwarnings("ignore:Using backward")  # said once in a process
def test_accumulation_with_create_graph_makes_a_new_gradient():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward(create_graph=True)
    first = x.grad
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert_tensor(first, [2.0, 4.0])
    assert_tensor(x.grad, [4.0, 8.0])


def test_a_tensor_used_many_times_receives_the_sum():
    x = leaf(2.0)
    (x * x * x + x).sum().backward()
    assert_tensor(x.grad, [13.0])


def test_a_diamond_receives_both_branches():
    x = leaf(0.3, 0.7)
    a = x.sin()
    b = x.cos()
    (a * b).sum().backward()
    assert_tensor(x.grad, np.cos(2 * np.array([0.3, 0.7])))


def test_a_vector_needs_a_gradient_and_takes_it():
    x = leaf(1.0, 2.0)
    y = x * 3
    y.backward(torch.tensor([1.0, 10.0], dtype=torch.float64))
    assert_tensor(x.grad, [3.0, 30.0])


def test_a_one_element_tensor_of_any_rank_needs_no_gradient():
    x = torch.ones(1, 1, 1, requires_grad=True)
    (x * 5).backward()
    assert_tensor(x.grad, [[[5.0]]])


def test_backward_of_a_leaf_itself_gives_ones():
    x = leaf(4.0)
    x.sum().backward()
    y = torch.tensor(4.0, requires_grad=True)
    y.backward()
    assert_tensor(y.grad, 1.0)


def test_several_roots_add_up():
    x = leaf(1.0, 2.0)
    torch.autograd.backward([(x * 2).sum(), (x * x).sum()])
    assert_tensor(x.grad, [4.0, 6.0])


def test_several_roots_take_several_gradients_and_none_means_one():
    x = leaf(1.0, 2.0)
    torch.autograd.backward(
        [x * 2, (x * x).sum()],
        [torch.tensor([1.0, 3.0], dtype=torch.float64), None],
    )
    assert_tensor(x.grad, [4.0, 10.0])


def test_one_root_may_lie_on_the_way_of_another():
    x = leaf(3.0)
    y = x * 2
    z = y * y
    torch.autograd.backward([z.sum(), y.sum()])
    assert_tensor(x.grad, [2 * 2 * 6.0 + 2.0])


def test_the_same_root_twice_counts_twice():
    x = leaf(3.0)
    y = (x * 2).sum()
    torch.autograd.backward([y, y])
    assert_tensor(x.grad, [4.0])


def test_a_single_tensor_stands_for_a_sequence_of_one():
    x = leaf(3.0, 4.0)
    torch.autograd.backward(x * 2, torch.ones(2, dtype=torch.float64))
    assert_tensor(x.grad, [2.0, 2.0])


def test_no_roots_are_a_silent_nothing():
    assert torch.autograd.backward([]) is None


def test_retain_graph_allows_a_second_backward():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert_tensor(x.grad, [4.0, 8.0])


def test_a_second_backward_through_freed_saved_values_is_refused():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    with raises(
        RuntimeError,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have "
        "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if "
        "you need to access saved tensors after calling backward.",
    ):
        y.backward()


def test_a_second_backward_is_allowed_where_nothing_was_saved():
    x = leaf(1.0, 2.0)
    y = (x + x).sum()
    y.backward()
    y.backward()
    assert_tensor(x.grad, [4.0, 4.0])


def test_create_graph_implies_retain_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(create_graph=True)
    y.backward()
    assert_tensor(x.grad, [4.0, 8.0])


def test_retain_graph_false_beats_create_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(create_graph=True, retain_graph=False)
    with raises(RuntimeError, "Trying to backward through the graph a second time"):
        y.backward()


def test_inputs_restrict_what_is_accumulated():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * w).sum().backward(inputs=[x])
    assert_tensor(x.grad, [3.0, 4.0])
    assert w.grad is None


def test_inputs_may_be_one_tensor():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * w).sum().backward(inputs=w)
    assert x.grad is None
    assert_tensor(w.grad, [1.0, 2.0])


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_inputs_may_be_inner_tensors_which_then_receive_a_gradient():
    x = leaf(1.0, 2.0)
    y = x * 3
    (y * y).sum().backward(inputs=[y])
    assert x.grad is None
    assert_tensor(y.grad, [6.0, 12.0])


def test_inputs_accumulate_too():
    x = leaf(1.0, 2.0)
    for _ in range(2):
        (x * x).sum().backward(inputs=[x])
    assert_tensor(x.grad, [4.0, 8.0])


def test_the_incoming_gradient_is_not_aliased_by_the_leaf_when_the_user_still_holds_it():
    x = leaf(1.0, 2.0)
    given = torch.ones(2, dtype=torch.float64)
    x.backward(given)
    given.fill_(7)
    assert_tensor(x.grad, [1.0, 1.0])


def test_one_gradient_for_two_leaves_is_not_shared_memory():
    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    (x + y).backward(torch.ones(2, dtype=torch.float64))
    x.grad.fill_(5)
    assert_tensor(y.grad, [1.0, 1.0])


def test_broadcast_operands_receive_gradients_of_their_own_shape():
    a = torch.tensor(sample(3, 1), requires_grad=True)
    b = torch.tensor(sample(4, seed=1), requires_grad=True)
    c = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (a * b * c).sum().backward()
    assert a.grad.shape == (3, 1)
    assert b.grad.shape == (4,)
    assert c.grad.shape == ()
    assert_tensor(a.grad, np.full((3, 1), 2 * sample(4, seed=1).sum()))
    assert_tensor(c.grad, (sample(3, 1) * sample(4, seed=1)).sum())


def test_a_gradient_has_the_dtype_of_its_tensor():
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2, dtype=torch.float64, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.dtype is torch.float32
    assert b.grad.dtype is torch.float64


def test_tensors_that_do_not_require_grad_stay_without():
    x, c = leaf(1.0), torch.ones(1, dtype=torch.float64)
    (x * c).sum().backward()
    assert c.grad is None


def test_empty_tensors_have_empty_gradients():
    x = torch.empty(0, 3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.shape == (0, 3)


def test_the_gradient_of_a_transposed_leaf_use_is_laid_out_like_the_leaf():
    x = torch.tensor(sample(2, 3), requires_grad=True)
    (x.t() * torch.tensor(sample(3, 2, seed=1))).sum().backward()
    assert x.grad.stride() == (3, 1)
    assert_tensor(x.grad, sample(3, 2, seed=1).T)


def test_a_run_that_is_refused_is_not_warned_of():
    run_script("""
        import warnings
        warnings.simplefilter("error")
        x = torch.ones(2, requires_grad=True)
        for begin in (lambda: x.backward(create_graph=True),
                      lambda: torch.autograd.backward([x.sum(), x], [torch.tensor(1.0), None], create_graph=True)):
            try:
                begin()
            except RuntimeError as error:
                assert str(error) == "grad can be implicitly created only for scalar outputs"
            else:
                raise AssertionError("it ran")
        try:
            x.sum().backward(create_graph=True)
        except UserWarning as warning:
            assert "reference cycle" in str(warning)
        else:
            raise AssertionError("no warning")
    """)
