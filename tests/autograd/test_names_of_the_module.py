"""Names that programs find in torch's compiled module, and where functions say that they come from."""

import pytest
import rushlight as torch
from support import raises


def test_an_error_is_delayed_until_somebody_differentiates():
    x = torch.ones(2, requires_grad=True)
    y = torch._C._functions.DelayedError(b"not twice", 1)(x)
    assert type(y.grad_fn).__name__ == "Error"
    with raises(RuntimeError, "not twice"):
        y.sum().backward()


def test_no_gradient_passes_an_undefined_one():
    class Shown(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            seen.append(gradient)

    seen = []
    x = torch.ones(2, requires_grad=True)
    y = torch._C._functions.UndefinedGrad()(Shown.apply(x))
    assert type(y.grad_fn).__name__ == "UndefinedGradBackward"
    y.sum().backward()
    assert seen == [None] and x.grad is None


def test_they_count_their_arguments():
    with raises(TypeError, "expected 1 arguments, got 0 instead"):
        torch._C._functions.UndefinedGrad()()
    with raises(TypeError, "argument 0 is not a Variable"):
        torch._C._functions.UndefinedGrad()(1)
    with raises(RuntimeError, "Requires two arguments, got 0"):
        torch._C._functions.DelayedError()


def test_the_class_of_accumulating_nodes_has_a_name():
    x = torch.ones(2, requires_grad=True)
    assert type((x * 1).grad_fn.next_functions[0][0]) is torch._C._functions.AccumulateGrad


def test_the_module_knows_the_next_position_on_the_tape():
    number = torch.autograd._get_sequence_nr()
    x = torch.ones(2, requires_grad=True)
    assert (x * 2).grad_fn._sequence_nr() >= number


def test_hooks_on_saved_tensors_can_be_refused_by_name():
    names = torch._C._autograd
    assert names._saved_tensors_hooks_is_enabled()
    names._saved_tensors_hooks_disable("not now")
    try:
        assert not names._saved_tensors_hooks_is_enabled()
        with raises(RuntimeError, "not now"), torch.autograd.graph.save_on_cpu():
            pass
    finally:
        names._saved_tensors_hooks_enable()
    assert names._saved_tensors_hooks_get_disabled_error_message() is None


def test_a_saved_tensor_is_of_the_class_with_that_name():
    x = torch.ones(2, requires_grad=True)
    saved = x.exp().grad_fn._raw_saved_result
    assert type(saved) is torch.autograd.SavedTensor
    assert torch.autograd.SavedTensor.__module__.endswith("._C._autograd")


@pytest.mark.parametrize("name", ["backward", "grad", "variable"])
def test_functions_come_from_where_they_are_found(name):
    assert getattr(torch.autograd, name).__module__.endswith(".autograd")


def test_elements_are_resized_as_a_function():
    from rushlight.autograd._functions import Resize

    x = torch.ones(2, 3, requires_grad=True)
    Resize.apply(x, (3, 2)).sum().backward()
    assert x.grad.shape == (2, 3)
    with pytest.raises(RuntimeError, match=r"requested resize to 4 \(4 elements in total\), but the given"):
        Resize.apply(x, (4,))


def test_the_module_of_modes_has_the_one_that_keeps_versions():
    assert (
        torch.autograd.grad_mode._unsafe_preserve_version_counter
        is torch.autograd._unsafe_preserve_version_counter
    )


def test_gradients_that_backward_starts_with_are_made():
    x = torch.ones(2, 3, requires_grad=True)
    total = (x * 2).sum()
    make = torch.autograd._make_grads
    assert make((total,), (None,), False)[0].item() == 1.0
    assert make((x.detach(),), (None,), False) == (None,)
    assert make((torch.autograd.graph.get_gradient_edge(total),), (None,), False)[0].item() == 1.0
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        make((x * 2,), (None,), False)
    with raises(RuntimeError, "Mismatch in shape: grad_output[0] has a shape of torch.Size([2])"):
        make((x * 2,), (torch.ones(2),), False)
    with raises(
        RuntimeError, "grad can be implicitly created only for real scalar outputs but got torch.complex64"
    ):
        make((torch.ones((), dtype=torch.complex64, requires_grad=True),), (None,), False)
    assert torch.autograd._tensor_or_tensors_to_tuple(None, 2) == (None, None)
    assert torch.autograd._tensor_or_tensors_to_tuple(total, 1)[0] is total


def test_the_engine_runs_by_its_function():
    x = torch.ones(2, requires_grad=True)
    run = torch.autograd.graph._engine_run_backward
    options = {"allow_unreachable": True, "accumulate_grad": False}
    (found,) = run(((x * 2).sum(),), (torch.ones(()),), False, False, (x,), **options)
    assert found.tolist() == [2.0, 2.0] and x.grad is None


def test_inference_mode_is_entered_and_left_by_functions():
    entered = torch.autograd.grad_mode._enter_inference_mode(True)
    assert torch.is_inference_mode_enabled()
    torch.autograd.grad_mode._exit_inference_mode(entered)
    assert not torch.is_inference_mode_enabled()


def test_inputs_of_functions_are_prepared():
    names = torch.autograd.functional
    x = torch.ones(2, requires_grad=True)
    assert names._as_tuple(x, "inputs", "jvp")[0] is False and names._as_tuple((x,), "inputs", "jvp")[0]
    with raises(TypeError, "The inputs given to jvp must be either a Tensor or a tuple of Tensors"):
        names._as_tuple(3, "inputs", "jvp")
    (recorded,) = names._grad_preprocess((x,), create_graph=True, need_graph=True)
    (apart,) = names._grad_preprocess((x,), create_graph=False, need_graph=True)
    assert not recorded.is_leaf and apart.is_leaf and apart.requires_grad
    assert not names._grad_postprocess((x * 2,), create_graph=False)[0].requires_grad
    assert names._autograd_grad((x.detach(),), (x,)) == (None,)
    with raises(RuntimeError, "The given v should contain a single Tensor."):
        names._validate_v((x, x), (x,), False)
