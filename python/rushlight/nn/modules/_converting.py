"""Parameters and buffers in other types and other memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ... import __future__ as switches
from ..._rushlight import (
    Tensor,
    bfloat16,
    channels_last_3d,
    dtype,
    empty,
    empty_like,
    float16,
    float32,
    float64,
)
from ..._rushlight import device as Device
from ...autograd.grad_mode import no_grad
from ..parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

    from .module import Module

_COMPLEX = (
    "Complex modules are a new feature under active development whose design may change, and some modules "
    "might not work as expected when using complex tensors as parameters or buffers. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml if a complex module does not work "
    "as expected."
)
_FROM_META = (
    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
    "torch.nn.Module.to() when moving module from meta to a different device."
)


class Converted:
    """The part of `Module` that converts it."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    children: Callable[[], Iterator[Module]]

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace all parameters, gradients and buffers by what the function makes of them.

        The parameters stay the same objects, unless `rushlight.__future__` says otherwise.
        """
        if recurse:
            for child in self.children():
                child._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            gradient = parameter.grad
            with no_grad():
                made = fn(parameter)
                made_gradient = None if gradient is None else fn(gradient)
            if gradient is not None:
                parameter.grad = None
            if made.is_meta != parameter.is_meta or made.layout != parameter.layout:
                # What has numbers cannot become what has none, or the other way round; nor a table of some
                # elements what has all.
                self._parameters[name] = parameter = Parameter(made, parameter.requires_grad)
            elif switches._swap_module_params_on_conversion:
                self._swap(name, parameter, made, gradient, made_gradient)
                made_gradient = gradient
            elif switches._overwrite_module_params_on_conversion:
                parameter.grad = gradient
                self._parameters[name] = parameter = Parameter(made, parameter.requires_grad)
            else:
                parameter.data = made
                if gradient is not None and made_gradient is not None:
                    gradient.data = made_gradient
                    made_gradient = gradient
            if made_gradient is not None:
                parameter.grad = made_gradient
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _swap(
        self, name: str, parameter: Parameter, made: Tensor, gradient: Tensor | None, made_gradient: Any
    ) -> None:
        """Exchange a parameter and its gradient, put aside for now, with what was made of them."""
        from ...utils import swap_tensors

        def failed(what: str) -> RuntimeError:
            return RuntimeError(f"_apply(): Couldn't swap {type(self).__name__}.{name}{what}")

        try:
            swap_tensors(parameter, Parameter(made, parameter.requires_grad))
        except Exception as reason:
            parameter.grad = gradient
            raise failed("") from reason
        if gradient is not None:
            try:
                swap_tensors(gradient, made_gradient.requires_grad_(gradient.requires_grad))
            except Exception as reason:
                raise failed(".grad") from reason

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert the floating-point parameters and buffers, with the arguments of `Tensor.to`."""
        order = kwargs.get("memory_format")
        # Wrong arguments are an error even if there is nothing to convert.
        empty((0,) * (5 if order is channels_last_3d else 4)).to(*args, **kwargs)
        device, wanted, non_blocking = _destination(*args, **kwargs)
        if wanted is not None and not (wanted.is_floating_point or wanted.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted}"
            )
        if wanted is not None and wanted.is_complex:
            import warnings

            warnings.warn(_COMPLEX, stacklevel=2)

        def converted(tensor: Tensor) -> Tensor:
            is_converted = tensor.is_floating_point() or tensor.is_complex()
            to = (device, wanted if is_converted else None, non_blocking)
            if tensor.is_meta and device is not None and Device(device).type != "meta":
                raise NotImplementedError(_FROM_META)
            # Only images and volumes have channels that can lie last.
            if order is not None and tensor.dim() in (4, 5):
                return tensor.to(*to, memory_format=order)
            return tensor.to(*to)

        return self._apply(converted)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Give the parameters and buffers memory that nothing has been written to yet.

        >>> import rushlight as torch
        >>> torch.nn.Linear(2, 3).to_empty(device="cpu").weight.shape
        torch.Size([3, 2])
        """
        return self._apply(lambda tensor: empty_like(tensor, device=device), recurse)

    def share_memory(self) -> Self:
        """Move the parameters and buffers into memory that processes forked from now on share."""
        return self._apply(lambda tensor: tensor.share_memory_())

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a type."""
        return self._apply(lambda tensor: tensor.type(dst_type))  # type: ignore[arg-type, return-value]

    def _convert_floating(self, dtype: Any) -> Self:
        return self._apply(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def float(self) -> Self:
        """Convert the floating-point parameters and buffers to float32."""
        return self._convert_floating(float32)

    def _replicate_for_data_parallel(self) -> Self:
        """Return a module with the attributes of this one, whose parameters are still to be given to it."""
        replica: Any = self.__new__(type(self))
        replica.__dict__ = {
            **self.__dict__,
            "_parameters": {},
            "_buffers": dict(self._buffers),
            "_modules": dict(vars(self)["_modules"]),
            "_is_replica": True,
        }
        return replica  # type: ignore[no-any-return]

    def half(self) -> Self:
        """Convert the floating-point parameters and buffers to float16."""
        return self._convert_floating(float16)

    def bfloat16(self) -> Self:
        """Convert the floating-point parameters and buffers to bfloat16."""
        return self._convert_floating(bfloat16)

    def double(self) -> Self:
        """Convert the floating-point parameters and buffers to float64."""
        return self._convert_floating(float64)

    def cpu(self) -> Self:
        """Move the parameters and buffers to the CPU, where they are."""
        return self._apply(lambda tensor: tensor.cpu())

    def xpu(self, device: Any = None) -> Self:
        """Refuse: there is no such device."""
        from ..._devices.of_tensors import xpu

        return self._apply(lambda tensor: xpu(tensor, device))

    def ipu(self, device: Any = None) -> Self:
        """Refuse: there is no such device."""
        from ..._devices.of_tensors import ipu

        return self._apply(lambda tensor: ipu(tensor, device))

    def mtia(self, device: Any = None) -> Self:
        """Refuse: there is no such device."""
        from ..._devices.of_tensors import mtia

        return self._apply(lambda tensor: mtia(tensor, device))

    def cuda(self, device: Any = None) -> Self:
        """Move the parameters and buffers to a CUDA device: an error if there are any."""
        return self._apply(lambda tensor: tensor.cuda(device))


def _destination(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool]:
    """Return what arguments of `Tensor.to` say: a device, an element type, and whether not to wait."""
    first = args[0] if args else None
    if isinstance(first, Tensor):
        names = ["tensor"]
    else:
        names = ["dtype"] if isinstance(first, dtype) else ["device", "dtype"]
    given = dict(zip([*names, "non_blocking", "copy"], args, strict=False), **kwargs)
    if given.get("copy"):
        raise RuntimeError(".to() does not accept copy argument")
    if "tensor" in given:
        like = given["tensor"]
        given.update(device=like.device, dtype=like.dtype)
    return given.get("device"), given.get("dtype"), given.get("non_blocking", False)
