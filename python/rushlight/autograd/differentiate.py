"""`backward` and `grad`: their arguments are checked here, and the engine runs."""

from __future__ import annotations

from .._rushlight import (
    Size,
    Tensor,
    _bare,
    _gradients,
    _handle_torch_function,
    _has_torch_function,
    _inner_leaf,
    _is_unfollowed,
    _run_backward,
    _transforms_of,
    is_warn_always_enabled,
    ones,
    zeros_like,
)

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Tensors = Tensor | Sequence[Tensor]
    OptionalTensors = Tensor | Sequence[Tensor | None] | None

__all__ = ["backward", "grad"]

_CYCLE_WARNING = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when creating "
    "the graph to avoid this. If you have to use this function, make sure to reset the .grad fields "
    "of your parameters to None after use to break the cycle and avoid the leak."
)
_cycle_warned = False


def backward(
    tensors: Tensors,
    grad_tensors: OptionalTensors = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: OptionalTensors = None,
    inputs: Tensors | dict[str, Tensor] | None = None,
) -> Any:
    """Add the gradients of `tensors` to the `.grad` of the leaves they were computed from.

    `grad_tensors` weighs the elements of `tensors`; it may be left out for scalars.
    With `inputs`, only these tensors receive a gradient.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> torch.autograd.backward(x * 3, torch.tensor([1.0, 10.0]))
    >>> x.grad
    tensor([ 3., 30.])
    """
    if grad_variables is not None:
        grad_tensors = _deprecated_grad_variables(grad_tensors, grad_variables)
    targets = () if inputs is None else _inputs_tuple(inputs, "backward")
    roots = _as_tuple(tensors)
    if _has_torch_function(roots + targets):
        options = {
            "grad_tensors": grad_tensors,
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "inputs": None if inputs is None else targets,
        }
        relevant = roots + targets
        return _handle_torch_function(backward, "torch.autograd.backward", relevant, (roots,), options)
    gradients = _gradients_tuple(grad_tensors, roots, batched=False)
    if retain_graph is None:
        retain_graph = create_graph
    roots, targets = _within_transforms(roots, targets)
    _run_backward(roots, gradients, retain_graph, create_graph, targets, True, True)
    return None


def grad(
    outputs: Tensors,
    inputs: Tensors | dict[str, Tensor],
    grad_outputs: OptionalTensors = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...] | dict[str, Any]:
    """Return the gradients of `outputs` with respect to `inputs`; no `.grad` changes.

    >>> import rushlight as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    >>> torch.autograd.grad(slope, x)
    (tensor(18.),)
    """
    if grad_outputs is None and only_inputs and not (is_grads_batched or materialize_grads):
        common = _gradients(outputs, inputs, retain_graph, create_graph, allow_unused)
        if common is not None:
            return common
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    roots = _as_tuple(outputs)
    targets = _inputs_tuple(inputs, "grad")
    if _has_torch_function(roots + targets):
        options = {
            "grad_outputs": grad_outputs,
            "retain_graph": retain_graph,
            "create_graph": create_graph,
            "only_inputs": only_inputs,
            "allow_unused": allow_unused,
            "is_grads_batched": is_grads_batched,
            "materialize_grads": materialize_grads,
        }
        relevant = roots + targets
        shown: tuple[Any, ...] = _handle_torch_function(
            grad, "torch.autograd.grad", relevant, (roots, targets), options
        )
        return dict(zip(inputs, shown, strict=True)) if type(inputs) is dict else shown
    if not only_inputs:
        _warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            stacklevel=3,
        )
    gradients = _gradients_tuple(grad_outputs, roots, is_grads_batched)
    if retain_graph is None:
        retain_graph = create_graph
    roots, targets = _within_transforms(roots, targets)
    run = _run_batch if is_grads_batched else _run_backward
    result = run(roots, gradients, retain_graph, create_graph, targets, allow_unused, False)
    if materialize_grads:
        if any(found is None and _is_edge(target) for found, target in zip(result, targets, strict=True)):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        result = tuple(
            zeros_like(target, requires_grad=create_graph) if found is None else found
            for found, target in zip(result, targets, strict=True)
        )
    return dict(zip(inputs, result, strict=True)) if type(inputs) is dict else result


def _run_batch(
    roots: tuple[Tensor, ...],
    gradients: tuple[Any, ...],
    retain_graph: bool,
    *options: Any,
) -> tuple[Any, ...]:
    """Run for all gradients together, which lie along their first dimension."""
    from .._rushlight import _add_batch_dim, _remove_batch_dim
    from ..func.vmap import level

    sizes = [len(gradient) for gradient in gradients if gradient is not None]
    without = [root for root, gradient in zip(roots, gradients, strict=True) if gradient is None]
    if without:
        tracked = [_is_edge(root) or root.requires_grad for root in without]
        if any(
            one and Size(_form(root).shape).numel() != 1 for one, root in zip(tracked, without, strict=True)
        ):
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        problem = (
            "some input, but that input is a Tensor of dimensionality 0 so expected in_dim to satisfy "
            "0 <= in_dim < 0."
            if tracked[0]
            else "an input but the input is of type <class 'NoneType'>. We cannot vmap over non-Tensor "
            "arguments, please use None as the respective in_dim"
        )
        raise ValueError(f"vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for {problem}")
    if len(set(sizes)) != 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    with level(sizes[0], "unasked") as number:
        entered = [
            None if gradient is None else _add_batch_dim(gradient, 0, number) for gradient in gradients
        ]
        found = _run_backward(roots, tuple(entered), retain_graph, *options)
        return tuple(None if one is None else _remove_batch_dim(one, number, 0) for one in found)


def _within_transforms(
    roots: tuple[Any, ...], targets: tuple[Any, ...]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return both as the function of a transform may differentiate: what it captured is of no part in it."""
    made = [_transforms_of(root) if isinstance(root, Tensor) else 0 for root in roots]
    inside = min(made, default=0)
    if not inside:
        return roots, targets

    def is_captured(target: Any) -> bool:
        return isinstance(target, Tensor) and target.requires_grad and _transforms_of(target) < inside

    return (
        tuple(_bare(root) if _is_unfollowed(root) else root for root in roots),
        tuple(_inner_leaf(target, False) if is_captured(target) else target for target in targets),
    )


def _as_tuple(tensors: Any) -> tuple[Any, ...]:
    if isinstance(tensors, Tensor) or _is_edge(tensors) or hasattr(tensors, "__torch_function__"):
        return (tensors,)
    return tuple(tensors)


def _is_edge(value: Any) -> bool:
    """Tell whether `value` is a `GradientEdge`, whose module is not loaded for this question."""
    return isinstance(value, tuple) and type(value).__name__ == "GradientEdge"


def _calculate_shape(output: Any, grad: Tensor, is_grads_batched: bool) -> tuple[Size, Size]:
    """Return the shapes of an output and of one gradient of it."""
    if is_grads_batched and _is_edge(output):
        raise RuntimeError("Batched grads are not supported with GradientEdge")
    return Size(_form(output).shape), Size(grad.shape[is_grads_batched:])


def _form(root: Any) -> Any:
    """Return what has the shape and the type of a root."""
    return root.node._input_metadata[root.output_nr] if _is_edge(root) else root


def _inputs_tuple(inputs: Any, caller: str) -> tuple[Any, ...]:
    if type(inputs) is dict:
        targets = tuple(inputs.values())
    elif not isinstance(inputs, (Tensor, tuple, list)) and hasattr(inputs, "keys"):
        raise TypeError(
            f"`inputs` argument to `{caller}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    else:
        targets = _as_tuple(inputs)
    if not targets:
        raise RuntimeError(f"`inputs` argument to `{caller}()` cannot be empty.")
    return targets


def _gradients_tuple(gradients: Any, roots: tuple[Any, ...], batched: bool) -> tuple[Any, ...]:
    """Check the roots and their given gradients in turn. The engine creates those that are `None`."""
    given = _tensor_or_tensors_to_tuple(gradients, len(roots))
    for index, (root, gradient) in enumerate(zip(roots, given, strict=False)):
        if not isinstance(root, Tensor) and not _is_edge(root):
            raise AssertionError("Expected output to be a torch.Tensor")
        if gradient is None:
            if len(roots) > 1:  # of a single one the engine says it itself
                _is_single(root)
            continue
        if not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
        form = _form(root)
        # One sample stands for all; a gradient without any says so itself.
        shape = gradient[0].shape if batched else gradient.shape
        if shape != Size(form.shape):
            expected, _ = _calculate_shape(root, gradient, batched)
            raise RuntimeError(_mismatch(index, shape[1:] if batched else shape, expected, batched))
        check_complex(index, gradient, form.dtype)
    return given[: len(roots)]


def _make_grads(outputs: Any, grads: Any, is_grads_batched: bool) -> tuple[Tensor | None, ...]:
    """Return the gradients that backward starts with: those given, checked, or ones for single elements."""
    given = _gradients_tuple(tuple(grads), tuple(outputs), is_grads_batched)
    return tuple(
        _implicit(root) if gradient is None else gradient
        for root, gradient in zip(outputs, given, strict=False)
    )


def _implicit(root: Any) -> Tensor | None:
    """Return the gradient that a root starts with if none is given; `None` for one without a history."""
    form = _form(root)
    return ones(form.shape, dtype=form.dtype) if _is_single(root) else None


def _is_single(root: Any) -> bool:
    """Tell whether a root has a history, and so a gradient; refuse one that has to be given it."""
    if isinstance(root, Tensor) and not root.requires_grad:
        return False
    form = _form(root)
    if Size(form.shape).numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not form.dtype.is_floating_point:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {form.dtype}"
        )
    return True


def _tensor_or_tensors_to_tuple(tensors: Any, length: int) -> tuple[Tensor | None, ...]:
    """Return a tuple of tensors; of so many times `None` if there are none."""
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def check_complex(index: int, gradient: Tensor, wanted: Any) -> None:
    """Check that a gradient is complex if what it belongs to is."""
    if gradient.dtype.is_complex != wanted.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch "
            f"in dtype: grad_output[{index}] has a dtype of {gradient.dtype} and output[{index}] has a dtype "
            f"of {wanted}."
        )


def _mismatch(index: int, shape: object, expected: object, batched: bool) -> str:
    found = f"grad_output[{index}] has a shape of {shape} and output[{index}] has a shape of {expected}."
    if not batched:
        return f"Mismatch in shape: {found}"
    return (
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
        "dimension. The sizes of the remaining dimensions are expected to match the shape of "
        f"corresponding output, but a mismatch was detected: {found} If you only want some tensors in "
        "`grad_output` to be considered batched, consider using vmap."
    )


def _deprecated_grad_variables(grad_tensors: Any, grad_variables: Any) -> Any:
    _warn("`grad_variables` is deprecated. Use `grad_tensors` instead.")
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
            "Please only use `grad_tensors`."
        )
    return grad_variables


def _warn_of_cycle() -> None:
    global _cycle_warned
    if not _cycle_warned or is_warn_always_enabled():
        _cycle_warned = True
        _warn(_CYCLE_WARNING, UserWarning)


def _warn(text: str, category: type[Warning] = FutureWarning, stacklevel: int = 4) -> None:
    import warnings

    warnings.warn(text, category, stacklevel=stacklevel)
