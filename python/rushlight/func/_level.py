"""A reverse transform while it runs: tensors that enter it, and results that leave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._rushlight import (
    Tensor,
    _admit,
    _enter_transform,
    _inner_leaf,
    _leads_out,
    _leave_transform,
    _outer,
    _refuse_saved_tensors_hooks,
    _run_backward,
    _saved_tensors_hooks_get_disabled_error_message,
    _set_grad_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    zeros_like,
)
from ..autograd.differentiate import _gradients_tuple
from ..autograd.grad_mode import inference_mode
from ..utils._pytree import tree_leaves, tree_map

if TYPE_CHECKING:
    from typing_extensions import Self


_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with "
    "your use case."
)


class Level:
    """The inside of a reverse transform.

    What is recorded inside does not depend on whether the outside records; what comes out does.
    """

    __slots__ = ("_deriving", "_entered", "_refusal", "recording", "since")
    since: int
    recording: bool
    _refusal: str | None
    _deriving: inference_mode | None
    _entered: dict[int, tuple[Tensor, Tensor]]

    def __enter__(self) -> Self:
        self._refusal = _saved_tensors_hooks_get_disabled_error_message()
        _refuse_saved_tensors_hooks(_HOOKS)
        # Where the outside infers, the inside still has derivatives, but records nothing for it.
        inferring = is_inference_mode_enabled()
        self.recording = is_grad_enabled() and not inferring
        self._deriving = inference_mode(False) if inferring else None
        if self._deriving is not None:
            self._deriving.__enter__()
        self.since = _enter_transform()
        self._entered = {}
        _set_grad_enabled(True)
        return self

    def __exit__(self, *_: object) -> None:
        _leave_transform()
        _set_grad_enabled(self.recording)
        if self._deriving is not None:  # where the outside infers it may record all the same
            self._deriving.__exit__(None, None, None)
        _refuse_saved_tensors_hooks(self._refusal)

    def enter(self, tensor: Any) -> Tensor:
        """Return the inner leaf of a tensor by which is differentiated."""
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(tensor)}")
        if not (tensor.is_floating_point() or tensor.is_complex()):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        outer = tensor.clone() if tensor.is_inference() else tensor
        leaf = _inner_leaf(outer, self.recording)
        self._entered[id(leaf)] = leaf, tensor
        return leaf

    def admit(self, args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> None:
        """Let the function write to those of its arguments by which is not differentiated."""
        originals = {id(tensor) for _, tensor in self._entered.values()}
        for leaf in tree_leaves((*args, kwargs) if kwargs else args):
            if isinstance(leaf, Tensor) and id(leaf) not in originals:
                _admit(leaf)

    def leave(self, tree: Any) -> Any:
        """Return results as the outside sees them."""
        return tree_map(self._leave_one, tree)

    def _leave_one(self, tensor: Any) -> Tensor:
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(tensor)}")
        if id(tensor) in self._entered:
            return self._entered[id(tensor)][1]
        return _outer(tensor, self.since, self.recording)

    def is_tracked(self, outputs: Sequence[Tensor]) -> bool:
        """Tell whether `outputs` depend on what the outside tracks."""
        return self.recording and any(_leads_out(output, self.since) for output in outputs)


def gradients(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Any] | None = None,
    *,
    since: int | None = None,
    retain_graph: bool,
    create_graph: bool,
) -> list[Tensor]:
    """Return the gradients of those outputs that have one; zeros for inputs that they do not depend on.

    `since` says where the transform began that they are of, if it may be over.
    """
    weights = [None] * len(outputs) if grad_outputs is None else grad_outputs
    recorded = [pair for pair in zip(outputs, weights, strict=False) if pair[0].requires_grad]
    if not recorded or not inputs:
        return [zeros_like(tensor) for tensor in inputs]
    roots = tuple(output for output, _ in recorded)
    given = _gradients_tuple(tuple(weight for _, weight in recorded), roots, batched=False)
    found = _run_backward(
        roots, given, retain_graph, create_graph, tuple(inputs), True, False, transform=since
    )
    return [
        zeros_like(tensor) if gradient is None else gradient
        for gradient, tensor in zip(found, inputs, strict=True)
    ]
