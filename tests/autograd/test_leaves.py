"""Leaf rules, the `.grad` attribute and its checks, the warning of inner tensors."""

import gc
import warnings

import pytest
import rushlight as torch
from support import assert_tensor, leaf, raises, run_script


def test_grad_is_none_before_the_first_backward():
    assert leaf(1.0).grad is None
    assert torch.ones(2).grad is None


def test_grad_is_one_object():
    x = leaf(1.0)
    x.sum().backward()
    assert x.grad is x.grad
    x.grad.tag = "kept"
    gc.collect()
    assert x.grad.tag == "kept"


def test_a_fresh_gradient_requires_no_grad_and_is_a_leaf():
    x = leaf(1.0)
    (x * x).sum().backward()
    assert not x.grad.requires_grad and x.grad.is_leaf and x.grad.grad_fn is None


def test_grad_can_be_assigned_and_is_the_assigned_object():
    x = leaf(1.0, 2.0)
    given = torch.ones(2, dtype=torch.float64)
    x.grad = given
    assert x.grad is given
    x.sum().backward()
    assert x.grad is given
    assert_tensor(given, [2.0, 2.0])


def test_grad_can_be_cleared_by_none_and_by_del():
    x = leaf(1.0)
    x.sum().backward()
    x.grad = None
    assert x.grad is None
    x.sum().backward()
    del x.grad
    assert x.grad is None


def test_grad_may_be_assigned_to_a_tensor_that_requires_none():
    x = torch.ones(2)
    x.grad = torch.ones(2)
    assert_tensor(x.grad, [1.0, 1.0])


def test_a_gradient_of_other_size_is_refused():
    x = leaf(1.0, 2.0)
    with raises(
        RuntimeError,
        "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. "
        "Please ensure that the gradient and the tensor are the same size",
    ):
        x.grad = torch.ones(3, dtype=torch.float64)
    assert x.grad is None


def test_a_refused_gradient_leaves_the_old_one():
    x = leaf(1.0)
    x.sum().backward()
    before = x.grad
    with pytest.raises(RuntimeError):
        x.grad = torch.ones(1, dtype=torch.int64)
    with pytest.raises(TypeError):
        x.grad = "a"
    assert x.grad is before


def test_requires_grad_can_be_switched_on_a_leaf():
    x = torch.ones(2)
    assert not x.requires_grad
    x.requires_grad = True
    assert x.requires_grad and x.is_leaf
    assert x.requires_grad_(False) is x
    assert not x.requires_grad


def test_requires_grad_flows_through_operations():
    x, c = leaf(1.0), torch.ones(1, dtype=torch.float64)
    assert (x * c).requires_grad and (c * x).requires_grad and not (c * c).requires_grad


def test_integer_results_do_not_require_grad():
    x = leaf(1.0, 2.0)
    assert not x.argmax().requires_grad
    assert not (x > 1).requires_grad
    assert not x.long().requires_grad
    assert not x.max(0)[1].requires_grad


def test_a_result_may_be_told_to_require_grad_again_without_effect():
    y = leaf(1.0) * 2
    y.requires_grad_()
    assert y.requires_grad and not y.is_leaf


def test_reading_grad_of_an_inner_tensor_warns():
    y = leaf(1.0) * 2
    text = (
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
        "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
        "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert y.grad is None
    assert len(caught) == 1
    assert caught[0].category is UserWarning
    assert str(caught[0].message).startswith(text)


def test_reading_grad_of_a_retaining_tensor_or_a_leaf_does_not_warn():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None and x.grad is None
        assert (torch.ones(1) * 2).grad is None


def test_grad_of_a_tensor_that_was_a_leaf_until_the_change_in_place():
    w, x = leaf(3.0), torch.ones(1, dtype=torch.float64)
    x.mul_(w)
    assert not x.is_leaf and x.requires_grad
    x.sum().backward()
    assert_tensor(w.grad, [1.0])


def test_assigning_data_changes_the_value_and_keeps_the_identity():
    x = leaf(1.0, 2.0)
    identity = id(x)
    x.data = torch.tensor([5.0, 6.0], dtype=torch.float64)
    assert id(x) == identity and x.requires_grad and x.is_leaf
    (x * x).sum().backward()
    assert_tensor(x.grad, [10.0, 12.0])


def test_detach_shares_memory_and_stops_the_gradient():
    x = leaf(1.0, 2.0)
    d = x.detach()
    assert d.data_ptr() == x.data_ptr() and not d.requires_grad and d.grad_fn is None
    (x * d).sum().backward()
    assert_tensor(x.grad, [1.0, 2.0])


def test_detach_in_place_makes_a_leaf_of_a_result():
    y = leaf(1.0) * 2
    assert y.detach_() is y
    assert y.is_leaf and not y.requires_grad and y.grad_fn is None


def test_clone_carries_the_gradient():
    x = leaf(1.0, 2.0)
    y = x.clone()
    assert y.data_ptr() != x.data_ptr()
    (y * y).sum().backward()
    assert_tensor(x.grad, [2.0, 4.0])


def test_copy_in_place_carries_the_gradient_of_its_source():
    x = leaf(1.0, 2.0)
    y = torch.zeros(2, dtype=torch.float64)
    y.copy_(x)
    (y * 3).sum().backward()
    assert_tensor(x.grad, [3.0, 3.0])


def test_conversion_carries_the_gradient_back_in_the_first_dtype():
    x = leaf(1.0, 2.0)
    (x.float() * 2).sum().backward()
    assert x.grad.dtype is torch.float64
    assert_tensor(x.grad, [2.0, 2.0])


def test_setting_grad_inside_a_loop_of_zeroing_works():
    x = leaf(1.0)
    for _ in range(3):
        if x.grad is not None:
            x.grad.zero_()
        x.sum().backward()
    assert_tensor(x.grad, [1.0])


def test_a_gradient_that_lies_otherwise_than_its_leaf_is_warned_of_once():
    run_script(
        """
        import warnings
        import rushlight as torch
        x = torch.ones(2, 3, requires_grad=True)
        x.grad = torch.ones(3, 2).t()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                x.sum().backward()
        (one,) = caught
        assert one.category is UserWarning
        text = str(one.message)
        assert text.startswith(
            "grad and param do not obey the gradient layout contract. This is not an error, but may impair "
            "performance.\\ngrad.sizes() = [2, 3], strides() = [1, 2]\\nparam.sizes() = [2, 3], strides() = [3, 1]"
        ), text
        """
    )


def test_the_type_of_gradients_belongs_to_leaves():
    x = torch.ones(2, requires_grad=True) * 2
    with raises(RuntimeError, "grad_dtype can only be accessed on leaf tensors."):
        x.grad_dtype  # noqa: B018
    # It looks at the gradient first, which it warns of.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with raises(RuntimeError, "grad_dtype can only be set on leaf tensors."):
            x.grad_dtype = torch.float64


def test_the_old_name_is_found_under_the_old_function():
    assert torch.autograd.variable.Variable is torch.autograd.Variable


def test_a_gradient_of_another_type_is_in_the_way_before_anything_else():
    y = torch.ones(2, dtype=torch.float64, requires_grad=True) * 2
    y.retain_grad()
    y.sum().backward()
    text = "Cannot set grad_dtype to 'Float' because there is already a gradient with dtype 'double'."
    with raises(RuntimeError, text):
        y.grad_dtype = torch.float32


@pytest.mark.filterwarnings("ignore")
def test_the_first_gradient_that_is_recorded_is_a_copy_that_lies_as_its_leaf_does():
    with torch.no_grad():
        w = torch.ones(2, 3).t()
    for parameter in (torch.ones(2), w):
        parameter.requires_grad_()
        (parameter * parameter).sum().backward(create_graph=True)
        assert parameter.grad.grad_fn.name() == "torch::autograd::CopyBackwards"
        assert parameter.grad.stride() == parameter.stride()
        (second,) = torch.autograd.grad(parameter.grad.sum(), parameter)
        assert second.tolist() == torch.full(parameter.shape, 2.0).tolist()
        parameter.grad = None


def test_grad_can_be_deleted_and_nothing_else():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    del x.grad
    assert x.grad is None
    with raises(RuntimeError, "Deleting tensor data is not allowed. Delete tensor instead!"):
        del x.data
    with raises(RuntimeError, "Deletion of _grad_fn not allowed. Detach tensor instead!"):
        del x._grad_fn
    with raises(RuntimeError, "Deletion of _backwards_hooks not allowed!"):
        del x._backward_hooks
    with raises(RuntimeError, "requires_grad must be a bool"):
        del x.requires_grad


def test_a_retained_gradient_is_a_recorded_contiguous_clone():
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 1
    y.retain_grad()
    gradient = torch.ones(3, 2).t().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y.backward(gradient, create_graph=True)
    assert y.grad.stride() == (3, 1) and y.grad._version == 0
    assert y.grad.grad_fn.name() == "CloneBackward0"


def test_a_first_gradient_that_is_copied_counts_the_copy_as_a_write():
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    assert x.grad._version == 1
    taken = torch.ones(2, requires_grad=True)
    (taken * 2).sum().backward()
    assert taken.grad._version == 0


def test_grad_has_another_name():
    x = torch.ones(2, requires_grad=True)
    x._grad = torch.zeros(2)
    assert x.grad.tolist() == [0.0, 0.0]
    with raises(TypeError, "assigned grad expected to be a Tensor or None but got grad of type int"):
        x._grad = 3
    del x._grad
    assert x.grad is None
    with pytest.warns(
        UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being"
    ):
        assert (x * 2)._grad is None


def test_detaching_has_functions_too():
    x = torch.ones(2, requires_grad=True)
    alone = torch.detach(x)
    assert not alone.requires_grad and alone.data_ptr() == x.data_ptr() and not alone._is_view()
    y = x * 1
    assert torch.detach_(y) is y and not y.requires_grad
    with raises(TypeError, "detach(): argument 'input' (position 1) must be Tensor, not int"):
        torch.detach(3)


# The reference has told already when its parts that the suites need have been loaded.
@pytest.mark.own
@pytest.mark.parametrize("convert", ["float(x)", "complex(x)", "torch.tensor([x, x])"])
def test_a_number_made_of_a_tensor_with_history_is_told_of_once(convert):
    run_script(f"""
        import warnings
        import rushlight as torch
        x = torch.ones(1, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with torch.no_grad():
                {convert}
            int(x), bool(x), x.item(), x.tolist()
            assert not caught
            {convert}
            {convert}
        (warning,) = caught
        first, second = str(warning.message).splitlines()
        assert first == (
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior."
        )
        assert second == "Consider using tensor.detach() first."
    """)


def test_a_tensor_of_a_tensor_is_told_of_by_the_name_that_was_called():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match=r"rather than tensor\.new_tensor\(sourceTensor\)"):
        made = x.new_tensor(x)
    assert made.is_leaf and not made.requires_grad and made.data_ptr() != x.data_ptr()
    assert torch.Tensor(x).grad_fn.name() == "AliasBackward0"


def test_a_leaf_that_wants_no_gradient_any_more_gets_none():
    x = torch.ones(3, requires_grad=True)
    seen = []
    x.register_hook(seen.append)
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None and len(seen) == 1


def test_a_leaf_that_an_operation_wrote_to_takes_no_gradient_of_what_it_was():
    for write in (lambda x, w: x.mul_(w), lambda x, w: x.__setitem__(0, w[0])):
        x = torch.ones(2, requires_grad=True)
        y = (x * 2).sum()
        x.requires_grad_(False)
        write(x, torch.ones(2, requires_grad=True))
        with raises(RuntimeError, "leaf variable has been moved into the graph interior"):
            y.backward()
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    x.requires_grad_(False).mul_(3)
    y.backward()
    assert x.grad is None


def node_of(leaf):
    """The node where gradients of a leaf end."""
    return leaf.expand_as(leaf).grad_fn.next_functions[0][0]


@pytest.mark.parametrize(
    ("data", "stays"),
    [(torch.ones(3), True), (torch.ones(2), True), (torch.ones(2, dtype=torch.float64), False)],
)
def test_other_data_leaves_the_node_of_a_leaf_unless_the_type_is_another(data, stays):
    x = torch.ones(2, requires_grad=True)
    node = node_of(x)
    x.data = data
    assert (node_of(x) is node) == stays


def test_a_leaf_of_another_shape_is_still_found_in_an_old_graph():
    x = torch.ones(2, 3, requires_grad=True)
    y = x.sum()
    x.data = torch.ones(3)
    (slope,) = torch.autograd.grad(y, x)
    assert slope.shape == (2, 3)


def test_while_an_old_graph_leads_to_a_leaf_the_shape_of_its_gradients_is_the_old_one():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    x.data = torch.ones(3)
    with raises(
        RuntimeError, "Function MulBackward0 returned an invalid gradient at index 0 - got [3] but expected"
    ):
        (x * 2).sum().backward()
    assert y.shape == (2,)


def test_when_no_graph_leads_to_a_leaf_gradients_have_its_new_shape():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    x.data, x.grad = torch.ones(3), None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0] * 3


def test_with_warnings_as_errors_a_run_that_fails_says_why():
    source = """
        import warnings
        warnings.simplefilter("error")
        x = torch.ones(2, requires_grad=True)
        for root in (x * 2, (x * x).sum()):
            for _ in range(2):
                try:
                    root.backward(create_graph=True, retain_graph=False)
                except Exception as error:
                    print(type(error).__name__, str(error)[:30])
    """
    assert run_script(source).splitlines() == [
        "RuntimeError grad can be implicitly created",
        "RuntimeError grad can be implicitly created",
        "UserWarning Using backward() with create_g",
        "RuntimeError Trying to backward through the",
    ]
