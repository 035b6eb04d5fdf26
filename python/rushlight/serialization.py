"""`save` and `load`: objects with tensors in them, in files that torch reads and writes too.

Such a file is a zip archive: a pickle of the object, in which tensors say which storage they show
and how, and a member for the bytes of each storage. Tensors that share memory share it afterwards.
"""

from __future__ import annotations

import os
import pickle
import sys
import zipfile
from collections import Counter, OrderedDict
from io import BytesIO
from types import FunctionType
from typing import TYPE_CHECKING, Any

from . import _rushlight as native
from ._lazy import on_first_use
from ._rushlight import Tensor
from .utils.hooks import warn_if_has_hooks

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["load", "save"]

_DTYPES = {
    "HalfStorage": native.float16,
    "BFloat16Storage": native.bfloat16,
    "FloatStorage": native.float32,
    "DoubleStorage": native.float64,
    "LongStorage": native.int64,
    "IntStorage": native.int32,
    "ShortStorage": native.int16,
    "CharStorage": native.int8,
    "ByteStorage": native.uint8,
    "BoolStorage": native.bool,
    "ComplexFloatStorage": native.complex64,
    "ComplexDoubleStorage": native.complex128,
}
_ARCHIVE = "archive"


class _Storage:
    """Memory of elements of one type, as pickles name it: its subclasses stand for the types."""

    dtype: Any

    def __init__(self, key: str = "", size: int = 0) -> None:
        self.key = key
        self.size = size


_STORAGES = {name: type(name, (_Storage,), {"dtype": dtype}) for name, dtype in _DTYPES.items()}
_STORAGE_OF = {dtype: _STORAGES[name] for name, dtype in _DTYPES.items()}


def _rebuild_tensor_v2(
    storage: Tensor,
    storage_offset: int,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """Make the tensor that shows a storage in this way."""
    shown = storage.as_strided(size, stride, storage_offset)
    if metadata and metadata.get("conj"):
        shown = shown.conj()
    if metadata and metadata.get("neg"):
        shown = native._neg_view(shown)
    return shown.data.requires_grad_(requires_grad)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Tensor:
    """Make the parameter of a tensor."""
    from .nn import Parameter

    return Parameter(data, requires_grad)


# What pickles call by torch's names.
_NAMED: dict[tuple[str, str], Any] = {
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    **{("torch", name): storage for name, storage in _STORAGES.items()},
}
_NAMES = {id(found): name for name, found in _NAMED.items()}
_SAFE = {("collections", "OrderedDict"): OrderedDict, ("collections", "Counter"): Counter}
_SAFE_BUILTINS = ("set", "bytearray", "complex", "slice")


def _reach(tensor: Tensor) -> int:
    """How many elements of its memory a tensor needs."""
    if tensor.numel() == 0:
        return 0
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.storage_offset() + 1 + sum((size - 1) * stride for size, stride in steps)


class _Pickler(pickle._Pickler):
    """Writes tensors as storages and how they are shown, and names of the package as torch's."""

    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012

    def __init__(self, file: Any, protocol: int, sizes: dict[int, int], is_first: bool) -> None:
        super().__init__(file, protocol)
        self.sizes = sizes
        self.is_first = is_first
        # By block of memory: the key of its member, and a tensor that shows it.
        self.storages: dict[int, tuple[str, Tensor]] = {}

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, _Storage):
            return ("storage", type(obj), obj.key, "cpu", obj.size)
        return None

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, Tensor):
            return NotImplemented
        from .nn import Parameter

        if isinstance(obj, Parameter):
            return _rebuild_parameter, (obj.data, obj.requires_grad, OrderedDict())
        if self.is_first:
            warn_if_has_hooks(obj)
        block = native._storage_of(obj)[0]
        size = self.sizes[block] = max(_reach(obj), self.sizes.get(block, 0))
        if block not in self.storages:
            self.storages[block] = (str(len(self.storages)), obj)
        if self.storages[block][1].dtype != obj.dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types"
            )
        storage = _STORAGE_OF[obj.dtype](self.storages[block][0], size)
        how: tuple[Any, ...] = (
            obj.storage_offset(),
            tuple(obj.shape),
            obj.stride(),
            obj.requires_grad,
            OrderedDict(),
        )
        if obj.is_conj() or obj.is_neg():
            how += ({"conj" if obj.is_conj() else "neg": True},)
        return _rebuild_tensor_v2, (storage, *how)

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module, found = _NAMES.get(id(obj), (getattr(obj, "__module__", None), name))
        if found is None:
            found = getattr(obj, "__qualname__", None)
        if module != "rushlight" and id(obj) not in _NAMES:
            super().save_global(obj, name)  # type: ignore[misc]
            return
        self.write(b"c" + f"{'torch' if module == 'rushlight' else module}\n{found}\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]

    dispatch[FunctionType] = save_global  # type: ignore[assignment]


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` writes, and without `weights_only` whatever else pickles name."""

    def __init__(self, file: Any, archive: zipfile.ZipFile, prefix: str, weights_only: bool) -> None:
        super().__init__(file)
        self.archive = archive
        self.prefix = prefix
        self.weights_only = weights_only
        self.storages: dict[str, Tensor] = {}

    def persistent_load(self, identifier: Any) -> Tensor:
        _, kind, key, _, _ = identifier
        if key not in self.storages:
            content = bytearray(self.archive.read(f"{self.prefix}/data/{key}"))
            self.storages[key] = _elements(content, kind.dtype)
        return self.storages[key]

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _NAMED:
            return _NAMED[module, name]
        if (module, name) in _SAFE:
            return _SAFE[module, name]
        if module in ("builtins", "__builtin__") and name in _SAFE_BUILTINS:
            return super().find_class("builtins", name)
        if module == "torch" and (
            name in ("Size", "device") or isinstance(getattr(native, name, None), native.dtype)
        ):
            return getattr(native, name)
        if self.weights_only:
            raise pickle.UnpicklingError(_refusal(f"{module}.{name}"))
        renamed = module == "torch" or module.startswith("torch.")
        if renamed and "torch" not in sys.modules:
            module = "rushlight" + module[len("torch") :]
        return super().find_class(module, name)


def _elements(content: bytearray, dtype: Any) -> Tensor:
    import numpy

    known = native.int16 if dtype is native.bfloat16 else dtype
    name = str(known).removeprefix("torch.")
    return native.from_numpy(numpy.frombuffer(content, dtype=name)).view(dtype)


def _refusal(name: str) -> str:
    return (
        "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo "
        "those steps only if you trust the source of the checkpoint\033[0m. \n"
        "\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
        "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely "
        "succeed, but it can result in arbitrary code execution. Do it only if you got the file from a "
        "trusted source.\n"
        "\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the "
        f"following error message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {name} was not an "
        f"allowed global by default. Please use `torch.serialization.add_safe_globals([{name}])` or the "
        f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you "
        "trust this class/function.\n\nCheck the documentation of torch.load to learn more about types "
        "accepted by default with weights_only "
        "https://pytorch.org/docs/stable/generated/torch.load.html."
    )


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write an object and the tensors in it to a file, given by its path or opened for writing.

    >>> import io
    >>> import rushlight as torch
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'weight': tensor([1., 1.])}
    """
    if isinstance(f, (str, os.PathLike)):
        parent = os.path.dirname(os.fspath(f))
        if parent and not os.path.isdir(parent):
            raise RuntimeError(f"Parent directory {parent} does not exist.")
    elif not hasattr(f, "write"):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    content = BytesIO()
    # A pickle says how large a storage is where it is first met: a run before finds that out.
    sizes: dict[int, int] = {}
    _Pickler(BytesIO(), pickle_protocol, sizes, is_first=True).dump(obj)
    pickler = _Pickler(content, pickle_protocol, sizes, is_first=False)
    pickler.dump(obj)
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{_ARCHIVE}/data.pkl", content.getvalue())
        archive.writestr(f"{_ARCHIVE}/byteorder", sys.byteorder)
        for block, (key, tensor) in pickler.storages.items():
            elements = tensor.detach().as_strided((sizes[block],), (1,), 0)
            # What lies in memory, not what is made of it on reading.
            if tensor.is_conj():
                elements = elements.conj()
            if tensor.is_neg():
                elements = native._neg_view(elements)
            elements = elements.view(native.int16) if elements.dtype is native.bfloat16 else elements
            archive.writestr(f"{_ARCHIVE}/data/{key}", elements.numpy().tobytes())
        archive.writestr(f"{_ARCHIVE}/version", "3\n")


def load(
    f: Any,
    map_location: Callable[..., Any] | Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` wrote. There is one device: `map_location` changes nothing.

    A pickle can run any code when it is read. Unless `weights_only` is false, names of anything but
    tensors, their parts and plain containers are refused.
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "seek"):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that "
            "is seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it "
            "instead."
        )
    if not isinstance(f, (str, os.PathLike)) and not f.read(1):
        raise EOFError
    with zipfile.ZipFile(f) as archive:
        member = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        prefix = member.removesuffix("/data.pkl")
        return _Unpickler(
            BytesIO(archive.read(member)), archive, prefix, weights_only is None or weights_only
        ).load()


__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "._safe_globals": "DEFAULT_PROTOCOL FILE_LIKE MAP_LOCATION add_safe_globals clear_safe_globals "
        "get_safe_globals safe_globals"
    },
)
