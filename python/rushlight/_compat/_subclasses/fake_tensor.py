"""Tensors without numbers that say they are on a device which has them, by which shapes are found.

>>> import rushlight as torch
>>> from rushlight._subclasses.fake_tensor import FakeTensorMode
>>> with FakeTensorMode():
...     x = torch.ones(2, 3)
...     (x @ x.t()).shape
torch.Size([2, 2])
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from ..._tensors.meta import _NO_ITEM, MetaTensor, without_data
from ..._tensors.meta_forms import answer, flat_values
from ...utils._python_dispatch import TorchDispatchMode

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorMode",
    "MetadataMismatchError",
    "UnsupportedFakeTensorException",
    "UnsupportedOperatorException",
    "is_fake",
    "unset_fake_temporarily",
]


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor has no form that can be known without numbers."""


class MetadataMismatchError(RuntimeError):
    """What is known without numbers differs from what there is with them."""


class DataDependentOutputException(RuntimeError):
    """What is asked for depends on numbers."""


class DynamicOutputShapeException(RuntimeError):
    """A shape depends on numbers."""


class UnsupportedOperatorException(RuntimeError):
    """An operator cannot be run without numbers."""


class FakeTensor(MetaTensor):
    """A tensor without numbers."""

    fake_mode: FakeTensorMode
    _fake_device: Any

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        found = (one for one in flat_values((*args, *(kwargs or {}).values())) if isinstance(one, FakeTensor))
        return next(found).fake_mode.run(func, args, kwargs or {})

    device = property(lambda self: self._fake_device)
    is_meta = property(lambda self: self._fake_device.type == "meta")
    is_cpu = property(lambda self: self._fake_device.type == "cpu")

    def cpu(self, *_: Any, **__: Any) -> Any:
        """Return the tensor, which is there."""
        return self

    def item(self) -> Any:
        """Refuse."""
        raise DataDependentOutputException("aten._local_scalar_dense.default")

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Return the form in another type."""
        kwargs.pop("device", None)
        left = [one for one in args if not isinstance(one, (str, native.device))]
        return MetaTensor.to(self, *left, **kwargs) if left or kwargs else self

    def _text(self) -> str:
        text = MetaTensor._text(self).replace("device='meta', ", "", 1)
        return text.replace("tensor(", "FakeTensor(", 1)


FakeTensor.__name__ = FakeTensor.__qualname__ = "FakeTensor"


class FakeTensorMode(TorchDispatchMode):
    """In the block, tensors that are made have no numbers."""

    def __init__(self, *, allow_non_fake_inputs: bool = False, **_: Any) -> None:
        self.allow_non_fake_inputs = allow_non_fake_inputs

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        return self.run(func, args, kwargs or {})

    def from_tensor(self, tensor: Tensor, **_: Any) -> Any:
        """Return a tensor of the form of another."""
        if isinstance(tensor, FakeTensor):
            return tensor
        if tensor.layout is not native.strided:
            raise UnsupportedFakeTensorException(f"a tensor in the layout {tensor.layout}")
        made = self._of(tensor)
        return made.requires_grad_(tensor.requires_grad) if tensor.is_leaf else made

    def run(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Return what an operator gives."""
        tensors = [one for one in flat_values((*args, *kwargs.values())) if isinstance(one, Tensor)]
        if not self.allow_non_fake_inputs:
            for one in tensors:
                if not isinstance(one, FakeTensor) and one.dim():
                    raise AssertionError(
                        "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                        f"'allow_non_fake_inputs'. Found in {func}"
                    )
        rest = {name: value for name, value in kwargs.items() if name != "device"}
        if not tensors:
            return self._faked(func(*args, **rest))
        own = getattr(func, "definition", None)
        if own is not None:
            return self._faked(_of_own(own, func, args, rest))
        try:
            return self._faked(answer(func, args, rest, Tensor))
        except NotImplementedError as reason:
            if "register_meta" in str(reason):
                raise DynamicOutputShapeException(str(func)) from None
            if "data_dependent_output" in func._schema._tags:
                raise DataDependentOutputException(str(func)) from None
            raise
        except RuntimeError as reason:
            if str(reason) == _NO_ITEM:
                raise DataDependentOutputException(str(func)) from None
            raise

    def _of(self, tensor: Tensor) -> Any:
        made = without_data(tensor.shape, tensor.stride(), 0, tensor.dtype, FakeTensor)
        made.fake_mode, made._fake_device = self, native.device("cpu")
        return made

    def _faked(self, found: Any) -> Any:
        if isinstance(found, (list, tuple)):
            return type(found)([self._faked(one) for one in found])
        return self._of(found) if isinstance(found, Tensor) and not isinstance(found, FakeTensor) else found


def _of_own(own: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return what an operator of the program gives without numbers."""
    from ...library.fakes import FakeImplCtx, get_ctx, within

    def unknown() -> int:
        raise DynamicOutputShapeException(str(func))

    try:
        with within(get_ctx() or FakeImplCtx(unknown)):
            return own.without_numbers(args, kwargs)
    except NotImplementedError as reason:
        raise UnsupportedOperatorException(str(func)) from reason


def is_fake(x: object) -> bool:
    """Tell whether a tensor has no numbers.

    >>> import rushlight as torch
    >>> is_fake(torch.ones(1))
    False
    """
    return isinstance(x, FakeTensor)


@contextmanager
def unset_fake_temporarily() -> Generator[FakeTensorMode | None]:
    """In the block, tensors that are made have numbers. It gets the mode that is left, if there is one.

    >>> import rushlight as torch
    >>> with FakeTensorMode() as mode, unset_fake_temporarily() as left:
    ...     torch.ones(2), left is mode
    (tensor([1., 1.]), True)
    """
    modes = native._interceptors()
    fake = next((mode for mode in reversed(modes) if isinstance(mode, FakeTensorMode)), None)
    for _ in modes:
        native._pop_interceptor()
    for mode in modes:
        if mode is not fake:
            native._push_interceptor(mode)
    try:
        yield fake
    finally:
        for _ in native._interceptors():
            native._pop_interceptor()
        for mode in modes:
            native._push_interceptor(mode)
