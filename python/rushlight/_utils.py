"""Small things that modules share: tensors in one block, failures of workers, properties of classes."""

from __future__ import annotations

import sys
import traceback
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ._lazy import on_first_use
from ._rushlight import Tensor, cat, empty
from ._rushlight import device as _device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ._rushlight import dtype


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """Return the elements of tensors, one after another.

    >>> import rushlight as torch
    >>> from rushlight._utils import _flatten_dense_tensors, _unflatten_dense_tensors
    >>> parts = [torch.ones(2), torch.zeros(1, 1)]
    >>> flat = _flatten_dense_tensors(parts)
    >>> flat, _unflatten_dense_tensors(flat, parts)
    (tensor([1., 1., 0.]), (tensor([1., 1.]), tensor([[0.]])))
    """
    parts = [tensor.contiguous().view(-1) for tensor in tensors]
    return parts[0] if len(parts) == 1 else cat(parts)


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return views of elements in the shapes of tensors."""
    starts = accumulate((tensor.numel() for tensor in tensors), initial=0)
    return tuple(
        flat.narrow(0, start, tensor.numel()).view(tensor.shape)
        for start, tensor in zip(starts, tensors, strict=False)
    )


# Sparse tensors that were made while a file is read, whose numbers may come later.
_sparse_tensors_to_validate: list[Tensor] = []


def _rebuild_sparse_tensor(layout: Any, data: tuple[Any, ...]) -> Tensor:
    """Make the sparse tensor of the pieces that a file has."""
    from ._devices.absent_types import sparse_coo
    from .sparse._constructors import sparse_compressed_tensor, sparse_coo_tensor

    if layout is not sparse_coo:
        made = sparse_compressed_tensor(*data, layout=layout, check_invariants=False)
    else:
        indices, values, size, *joined = data
        is_coalesced = joined[0] if joined else None
        made = sparse_coo_tensor(indices, values, size, is_coalesced=is_coalesced, check_invariants=False)
    _sparse_tensors_to_validate.append(made)
    return made


def _validate_loaded_sparse_tensors() -> None:
    """Check the places of sparse tensors that were read, if programs want that."""
    if not _sparse_tensors_to_validate:
        return
    from .sparse._invariants import check_pieces

    try:
        for each in _sparse_tensors_to_validate:
            check_pieces(each)
    finally:
        _sparse_tensors_to_validate.clear()


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    """Make a tensor without numbers."""
    from ._tensors.meta import without_data

    made: Tensor = without_data(size, stride, 0, dtype).requires_grad_(requires_grad)
    return made


def _take_tensors(tensors: Sequence[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Return tensors in groups of one type, of so many bytes or of one tensor more."""
    groups: dict[dtype, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        size = tensor.numel() * tensor.element_size()
        group, taken = groups.get(tensor.dtype, ([], 0))
        if taken + size > size_limit and taken:
            yield group
            group, taken = [], 0
        group.append(tensor)
        groups[tensor.dtype] = group, taken + size
    yield from (group for group, _ in groups.values() if group)


def _reorder_tensors_as(tensors: Sequence[Tensor], ordered_tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return tensors that are in groups of one type in the order of types that others have."""
    by_type: dict[dtype, list[Tensor]] = {}
    for tensor in tensors:
        by_type.setdefault(tensor.dtype, []).append(tensor)
    each = {kind: iter(group) for kind, group in by_type.items()}
    return tuple(next(each[tensor.dtype]) for tensor in ordered_tensors)


def _element_size(dtype: dtype) -> int:
    """Return how many bytes an element has."""
    return empty((), dtype=dtype).element_size()


def _import_dotted_name(name: str) -> Any:
    """Return what a package has under a name."""
    package, *names = name.split(".")
    found: Any = __import__(package)
    for part in names:
        found = getattr(found, part)
    return found


class KeyErrorMessage(str):
    """A text that shows as it is where others would show in quotes, as in a `KeyError`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """A failure that is to be raised again elsewhere, with where it happened in its text.

    >>> from rushlight._utils import ExceptionWrapper
    >>> try:
    ...     raise ValueError("bad")
    ... except ValueError:
    ...     failure = ExceptionWrapper(where="in worker 1")
    >>> failure.reraise()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: Caught ValueError in worker 1.
    ...
    """

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        exc_info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self) -> None:
        """Raise the failure."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            failure = self.exc_type(text)
        except Exception:
            # Its class wants to be made otherwise.
            raise RuntimeError(text) from None
        raise failure


class classproperty:
    """A property of a class.

    >>> from rushlight._utils import classproperty
    >>> class Known:
    ...     number = 3
    ...     @classproperty
    ...     def twice(cls):
    ...         return 2 * cls.number
    >>> Known.twice
    6
    """

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self.func = func

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self.func(type(instance) if owner is None else owner)


__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "._files.pickles": "_rebuild_parameter _rebuild_parameter_with_state _rebuild_tensor "
        "_rebuild_tensor_v2 _rebuild_tensor_v3",
    },
)


def _get_available_device_type() -> str | None:
    """Return the kind of the devices beside the processor: there are none."""
    return None


def _get_device_module(device_type: str) -> Any:
    """Return the module of a kind of devices."""
    from importlib import import_module

    try:
        return import_module(f".{device_type}", __package__)
    except ImportError:
        raise RuntimeError(
            f"Device '{device_type}' does not have a corresponding module registered as "
            f"'torch.{device_type}'."
        ) from None


def _is_privateuse1_backend_available() -> bool:
    """Tell whether devices of somebody's own are there: never."""
    return False


def is_compiling() -> bool:
    """Tell whether a program is being compiled, by the name that was before `torch.compiler.is_compiling`."""
    from .compiler import is_compiling as asked

    return asked()


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """Return the number of a device; -1 is the processor, which has to be allowed.

    >>> from rushlight._utils import _get_device_index
    >>> _get_device_index("cuda:1"), _get_device_index("cpu", allow_cpu=True)
    (1, -1)
    """
    if isinstance(device, int):
        return device
    found = _device(device) if isinstance(device, str) else device
    if isinstance(found, _device):
        if found.type == "cpu":
            if not allow_cpu:
                raise ValueError(f"Expected a non cpu device, but got: {device}")
            return -1
        if found.index is not None:
            number: int = found.index
            return number
    if optional:
        return None
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
