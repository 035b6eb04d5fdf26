"""The forms of what operations give on tensors without numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any

from .. import _rushlight as native
from .._ops import table
from .._rushlight import Tensor
from .meta import _NO_DATA, _NO_ITEM, of_form, without_data

__all__: list[str] = []

# The forms of what operators give, or `NotImplemented` where they have to run.
_KNOWN: dict[str, Callable[..., Any]] = {}
# Which of their tensors have to be on one device, if not all.
_ALIKE: dict[str, slice] = {}

_NOT_SHOWN = "which no class was shown."
_NO_KERNEL = (
    "attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered."
)
_NO_FORM = "raises unimplemented by default, as a correct data-independent implementation does not exist."


def answer(func: Any, args: Sequence[Any], kwargs: dict[str, Any], cls: type) -> Any:
    """Answer in the place of an operator."""
    own = getattr(func, "definition", None)
    if own is not None:
        return own.without_numbers(args, kwargs)
    name = str(func).removeprefix("aten.").partition(".")[0]
    device = kwargs.get("device")
    if device is not None and native.device(device).type != "meta":
        if _KNOWN.get(name) is _converted:
            raise NotImplementedError(_NO_DATA)
        # What makes tensors like another reads its form alone.
        return func(_zeros(args[0]), *args[1:], **kwargs)
    given = [one for one in flat_values((*args, *kwargs.values())) if isinstance(one, Tensor)]
    if name == "copy_" and not isinstance(args[0], cls):
        raise NotImplementedError(_NO_DATA)
    if name == "copy_":
        return args[0]
    _check_devices(given[_ALIKE.get(name, slice(None))], cls)
    if name.endswith("_") and not name.endswith("__"):
        return args[0]
    if (known := _KNOWN.get(name)) is None:
        _check_is_known(name, func._schema._tags)
    elif (found := known(*args, **kwargs)) is not NotImplemented:
        return found
    rest = {key: value for key, value in kwargs.items() if key not in ("device", "pin_memory")}
    large = spread(name, func, args, rest, given)
    return _forms(func(*_filled(args), **_filled(rest)), cls, given) if large is None else large


def _check_is_known(name: str, tags: Collection[str]) -> None:
    """Refuse an operator whose answer, or the shape of it, depends on numbers."""
    if "dynamic_output_shape" in tags:
        raise NotImplementedError(_no_form(name))
    if "data_dependent_output" in tags:
        _KNOWN.get(name, _number)()


def as_one(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Answer a call of a function: by its parts, or as one if these look at numbers or make tensors.

    As one it computes with numbers that it takes, and leaves no history.
    """
    name = getattr(func, "__name__", "")
    tags = _tags_of(name)
    if "data_dependent_output" in tags:
        _check_is_known(name, tags)
    given = [one for one in flat_values((*args, *kwargs.values())) if isinstance(one, Tensor)]
    # What has a history, or meets numbers, keeps to its parts; and with a device numbers are asked for.
    is_bound = any(one.requires_grad or _has_numbers(one) for one in given) or bool(kwargs.get("device"))
    reason: Exception | None = None
    try:
        found = func(*args, **kwargs)
        if not tags and (is_bound or not any(map(_has_numbers, flat_values((found,))))):
            return found
    except (NotImplementedError, RuntimeError) as error:
        said = str(error)
        if said.endswith((_NO_KERNEL, _NO_FORM)) or (is_bound and not said.endswith(_NOT_SHOWN)):
            raise
        reason = None if said.endswith(_NOT_SHOWN) else error
    if reason is not None and tags:
        raise reason
    _check_is_known(name, tags)
    fill = {key: _ordinary(value) for key, value in kwargs.items()}
    found = func(*map(_ordinary, args), **fill)
    if reason is not None and not any(isinstance(one, Tensor) for one in flat_values((found,))):
        raise reason
    return _forms(found, Tensor, given)


def _tags_of(name: str) -> frozenset[str]:
    """Return what is said of all operators of a name."""
    packet = table()[1].get(name)
    if packet is None:
        return frozenset()
    return frozenset.intersection(*(frozenset(one._schema._tags) for one in packet._overloads.values()))


def _no_form(name: str) -> str:
    return f"The register_meta function for torch.{name}() {_NO_FORM}"


def _has_numbers(value: Any) -> bool:
    return isinstance(value, Tensor) and not native._has_no_data(value)


def _ordinary(value: Any) -> Any:
    """Return numbers of the form of a tensor that functions take: ones, and matrices that have an inverse."""
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(map(_ordinary, value))
    if not isinstance(value, Tensor) or not native._has_no_data(value):
        return value
    made = _zeros(value)
    is_number = value.is_floating_point() or value.is_complex()
    ends = (-2, -1) if value.dim() > 1 and is_number else None
    if made.numel():
        (made if ends is None else made.diagonal(0, *ends)).fill_(1 if is_number or value.dim() == 0 else 0)
    return made


def _check_devices(given: Sequence[Tensor], cls: type) -> None:
    first = next((one for one in given if one.dim()), given[0] if given else None)
    for one in given:
        # Numbers of places are shown by the engine as it has them.
        if isinstance(one, cls) != isinstance(first, cls) and one.dim() and one.is_floating_point():
            found, wanted = ("meta", "cpu") if isinstance(one, cls) else ("cpu", "meta")
            raise RuntimeError(f"Tensor on device {found} is not on the expected device {wanted}!")


def flat_values(values: Any) -> Any:
    """Go through values that stand in lists and tuples, however deep."""
    for one in values:
        if isinstance(one, (tuple, list)):
            yield from flat_values(one)
        else:
            yield one


def _zeros(tensor: Any) -> Tensor:
    """Return zeros of the form of a tensor."""
    strides = tensor.stride()
    reach = 1 + sum((length - 1) * step for length, step in zip(tensor.shape, strides, strict=True))
    if tensor.numel() == 0 or tensor.is_contiguous():
        return native.zeros(tensor.shape, dtype=tensor.dtype)
    return native.zeros(reach, dtype=tensor.dtype).as_strided(tensor.shape, strides)


def _filled(values: Any) -> Any:
    if isinstance(values, dict):
        return {name: _filled(value) for name, value in values.items()}
    if isinstance(values, (tuple, list)):
        return type(values)(map(_filled, values)) if type(values) in (tuple, list) else values
    return _zeros(values) if isinstance(values, Tensor) and native._has_no_data(values) else values


def _forms(found: Any, cls: type, given: Sequence[Tensor]) -> Any:
    if isinstance(found, (tuple, list)):
        # Named ones keep their names.
        return type(found)([_forms(one, cls, given) for one in found])
    return of_form(found) if isinstance(found, Tensor) else found


def _called(*names: str, alike: slice | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def listed(function: Callable[..., Any]) -> Callable[..., Any]:
        _KNOWN.update(dict.fromkeys(names, function))
        if alike is not None:
            _ALIKE.update(dict.fromkeys(names, alike))
        return function

    return listed


@_called("_local_scalar_dense", "item", "is_nonzero")
def _number(*_: Any) -> Any:
    raise RuntimeError(_NO_ITEM)


@_called("equal")
def _is_equal(*_: Any) -> Any:
    raise NotImplementedError(f"aten::equal: {_NO_KERNEL}")


@_called("index")
def _indexed(_: Any, indices: Sequence[Any]) -> Any:
    if any(one is not None and one.dtype in (native.bool, native.uint8) for one in indices):
        raise NotImplementedError(_no_form("nonzero"))
    return NotImplemented


@_called("_ctc_loss")
def _aligned(log_probs: Any, targets: Any, _: Any, target_lengths: Any, *__: Any, **___: Any) -> Any:
    time, count = log_probs.shape[:2]
    longest = targets.shape[1] if targets.dim() > 1 else max(target_lengths)
    states = without_data([count, time, 2 * longest + 1], None, 0, log_probs.dtype)
    return without_data([count], None, 0, log_probs.dtype), states


@_called("searchsorted", alike=slice(0))
def _placed(_: Any, values: Any, *, out_int32: bool = False, **__: Any) -> Any:
    return without_data(values.shape, None, 0, native.int32 if out_int32 else native.int64)


@_called("detach", "alias", "lift_fresh")
def _same(tensor: Any) -> Any:
    return of_form(tensor)


@_called("t")
def _turned(tensor: Any) -> Any:
    return without_data(tensor.shape[::-1], tensor.stride()[::-1], 0, tensor.dtype)


@_called("transpose")
def _exchanged(tensor: Any, first: int, second: int) -> Any:
    order = list(range(tensor.dim()))
    order[first], order[second] = order[second], order[first]
    return _permuted(tensor, order)


@_called("permute")
def _permuted(tensor: Any, order: Sequence[int]) -> Any:
    size, strides = tensor.shape, tensor.stride()
    return without_data([size[one] for one in order], [strides[one] for one in order], 0, tensor.dtype)


@_called("select")
def _selected(tensor: Any, dim: int, _: int) -> Any:
    dim %= tensor.dim()
    left = [place for place in range(tensor.dim()) if place != dim]
    return _permuted(tensor, left)


@_called("slice")
def _sliced(tensor: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    size, strides = list(tensor.shape), list(tensor.stride())
    size[dim] = len(range(*slice(start, end, step).indices(size[dim])))
    strides[dim] *= step
    return without_data(size, strides, 0, tensor.dtype)


def _check_product(one: Any, other: Any) -> None:
    if one.dtype is not other.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {one.dtype} != {other.dtype}"
        )
    if one.shape[-1] != other.shape[-2]:
        raise RuntimeError(
            f"a and b must have same reduction dim, but got [{one.shape[-2]}, {one.shape[-1]}] X "
            f"[{other.shape[-2]}, {other.shape[-1]}]."
        )


@_called("mm", "bmm", alike=slice(0))
def _product(one: Any, other: Any) -> Any:
    _check_product(one, other)
    return without_data([*one.shape[:-1], other.shape[-1]], None, 0, one.dtype)


@_called("addmm", "baddbmm", alike=slice(1, None))
def _plus_product(_: Any, one: Any, other: Any, **__: Any) -> Any:
    return _product(one, other)


@_called("_scaled_dot_product_flash_attention_for_cpu", "scaled_dot_product_attention")
def _attended(query: Any, _: Any, value: Any, *__: Any, **___: Any) -> Any:
    logarithms = without_data(query.shape[:-1], None, 0, native.float32)
    return without_data([*query.shape[:-1], value.shape[-1]], None, 0, query.dtype), logarithms


@_called("embedding")
def _looked_up(weight: Any, numbers: Any, *_: Any, **__: Any) -> Any:
    return without_data([*numbers.shape, *weight.shape[1:]], None, 0, weight.dtype)


@_called("convolution")
def _convolved(
    x: Any,
    weight: Any,
    _: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    count = weight.dim() - 2
    steps, sides, gaps, more = (
        list(one) * count if len(one) == 1 else list(one)
        for one in (stride, padding, dilation, output_padding)
    )
    size = []
    for place in range(count):
        reach = gaps[place] * (weight.shape[place + 2] - 1)
        length = x.shape[place + 2]
        size.append(
            (length - 1) * steps[place] - 2 * sides[place] + reach + more[place] + 1
            if transposed
            else (length + 2 * sides[place] - reach - 1) // steps[place] + 1
        )
    channels = weight.shape[1] * groups if transposed else weight.shape[0]
    return without_data([x.shape[0], channels, *size], None, 0, x.dtype)


def _like(tensor: Any, *_: Any, dtype: Any = None, memory_format: Any = None, **__: Any) -> Any:
    if memory_format in (native.contiguous_format,):
        return without_data(tensor.shape, None, 0, dtype or tensor.dtype)
    if memory_format not in (None, native.preserve_format) or _has_gaps(tensor):
        return of_form(native.empty_like(_zeros(tensor), dtype=dtype, memory_format=memory_format))
    return of_form(tensor, dtype)


def _has_gaps(tensor: Any) -> bool:
    reach = 1 + sum((length - 1) * step for length, step in zip(tensor.shape, tensor.stride(), strict=True))
    return bool(tensor.numel() != 0 and reach != tensor.numel())


@_called("clone")
def _in_rows(tensor: Any, *, memory_format: Any = native.contiguous_format) -> Any:
    # Without an order it is the engine that wants rows: programs always say one (`MetaTensor.clone`).
    return _like(tensor, memory_format=memory_format)


for _name in ["zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "full_like"]:
    _KNOWN[_name] = _like


@_called("_to_copy")
def _converted(tensor: Any, *, dtype: Any = None, memory_format: Any = None, **__: Any) -> Any:
    return _like(tensor, dtype=dtype, memory_format=memory_format)


# Functions of elements are not computed of tensors larger than this.
_LARGE = 1 << 16


def _small(tensor: Any) -> Tensor:
    return native.zeros((1,) * tensor.dim(), dtype=tensor.dtype)


@cache
def _of_elements() -> frozenset[str]:
    """Return the names of the operators that are functions of elements, as the engine has them."""
    return frozenset(schema.partition("(")[0].partition(".")[0] for schema in native._pointwise_operators())


def spread(name: str, func: Any, args: Sequence[Any], kwargs: dict[str, Any], given: Sequence[Tensor]) -> Any:
    """Return the form of what a function of elements gives of large tensors; `None` if it has to run."""
    if all(one.numel() <= _LARGE for one in given) or name not in _of_elements():
        return None
    small = func(*(_small(one) if isinstance(one, Tensor) else one for one in args), **kwargs)
    if not isinstance(small, Tensor):
        return None
    size = native.broadcast_tensors([native.empty(1).expand(one.shape) for one in given])[0].shape
    whole = next((one for one in given if one.shape == size and not _has_gaps(one)), None)
    return without_data(size, None if whole is None else whole.stride(), 0, small.dtype)
