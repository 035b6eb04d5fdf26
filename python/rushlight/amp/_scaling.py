"""What a `GradScaler` does to many gradients at once, and to its scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor, _is_recording
from ..autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"]

_CHECK = "_amp_foreach_non_finite_check_and_unscale_cpu"
_NAMES = {native.complex64: "ComplexFloat", native.complex128: "ComplexDouble", native.bool: "Bool"}


def _expect_one(name: str, tensor: Tensor, dtype: native.dtype, kind: str) -> None:
    if tensor.numel() != 1:
        raise RuntimeError(f"{name} must be a 1-element tensor.")
    if tensor.dtype is not dtype:
        raise RuntimeError(f"{name} must be {kind} tensor.")


@no_grad()
def _amp_foreach_non_finite_check_and_unscale_(
    self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor
) -> None:
    """Multiply each tensor in place; `found_inf` becomes one if any of them has what is not finite.

    >>> import rushlight as torch
    >>> gradients, found = [torch.tensor([8.0, 4.0])], torch.tensor(0.0)
    >>> torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor(0.25))
    >>> gradients, found
    ([tensor([2., 1.])], tensor(0.))
    """
    if not self:
        return
    _expect_one("inv_scale", inv_scale, native.float32, "a float")
    _expect_one("found_inf", found_inf, native.float32, "a float")
    # A number of the program's would stay as it is where the step is taken again without it.
    factor: Any = inv_scale.reshape(()) if _is_recording() else inv_scale.item()
    for gradient in self:
        if not gradient.is_floating_point():
            name = _NAMES.get(gradient.dtype) or str(gradient.type())[len("torch.") : -len("Tensor")]
            raise NotImplementedError(f"\"{_CHECK}\" not implemented for '{name}'")
        if not gradient.isfinite().all():
            found_inf.fill_(1.0)
        gradient.mul_(factor)


@no_grad()
def _amp_update_scale_(
    self: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:
    """Shrink the scale if something infinite was found; let it grow after enough steps without.

    >>> import rushlight as torch
    >>> count = torch.tensor(2, dtype=torch.int32)
    >>> torch._amp_update_scale_(torch.tensor(8.0), count, torch.tensor(0.0), 2.0, 0.5, 3), count
    (tensor(16.), tensor(0, dtype=torch.int32))
    """
    _expect_one("growth_tracker", growth_tracker, native.int32, "an int")
    _expect_one("current_scale", self, native.float32, "a float")
    _expect_one("found_inf", found_inf, native.float32, "a float")
    is_found, steps = found_inf.ne(0.0), growth_tracker + 1
    is_due, grown = steps.eq(growth_interval), self * scale_growth_factor
    grown = native.where(is_due & grown.isfinite(), grown, self)
    self.copy_(native.where(is_found, self * scale_backoff_factor, grown))
    growth_tracker.copy_(native.where(is_found | is_due, 0, steps))
    return self
