"""How tensors are printed, as it stands and for a block."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import _rushlight
from ._rushlight import Tensor, set_printoptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]

_NAMES = ("precision", "threshold", "edgeitems", "linewidth", "sci_mode")


def get_printoptions() -> dict[str, Any]:
    """Return how tensors are printed.

    >>> from rushlight._tensor_str import get_printoptions
    >>> get_printoptions()["precision"]
    4
    """
    precision, threshold, *rest = _rushlight._print_options()
    # Infinity has no integer.
    most = int(threshold) if threshold.is_integer() else threshold
    return dict(zip(_NAMES, (precision, most, *rest), strict=True))


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print tensors otherwise in a block.

    >>> import rushlight as torch
    >>> from rushlight._tensor_str import printoptions
    >>> with printoptions(precision=2):
    ...     print(torch.tensor([1.2345]))
    tensor([1.23])
    """
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


class _Options:
    """The options as attributes, which may be set."""

    def __getattr__(self, name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(f"there is no option of printing {name!r}")
        return get_printoptions()[name]

    def __setattr__(self, name: str, value: Any) -> None:
        set_printoptions(**{**get_printoptions(), name: value})


PRINT_OPTS = _Options()


def _str(self: Tensor) -> str:
    """Return the text of a tensor."""
    return Tensor.__repr__(self)


def _tensor_str(self: Tensor, indent: int) -> str:
    """Return the text of the numbers of a tensor alone, whose further lines are indented by so many spaces
    more.

    >>> import rushlight as torch
    >>> torch._tensor_str._tensor_str(torch.tensor([1, 2], dtype=torch.int16), 0)
    '[1, 2]'
    """
    # Lines are as much shorter as they are indented more.
    with printoptions(linewidth=get_printoptions()["linewidth"] - indent + len("tensor(")):
        text = Tensor.__repr__(self.detach()).removeprefix("tensor(")
    end = text.rindex("]") + 1 if self.dim() else min(text.find(mark) % len(text) for mark in (", ", ")"))
    return text[:end].replace("\n" + " " * len("tensor("), "\n" + " " * indent)


def with_contents(self: Tensor, contents: str) -> str:
    """Return the text of a tensor whose class says itself what stands in the place of the numbers."""
    from .nn import Parameter

    is_plain = type(self) in (Tensor, Parameter)
    prefix = "tensor(" if is_plain else f"{type(self).__name__}("
    said = []
    if self.device.type != "cpu":
        said.append(f"device='{self.device}'")
    if self.numel() == 0 and self.dim() != 1:
        said.append(f"size={tuple(self.shape)}")
    default = _rushlight.get_default_dtype()
    if self.dtype not in (default, _rushlight.int64, _rushlight.bool, _complex_of(default)):
        said.append(f"dtype={self.dtype}")
    if self.grad_fn is not None:
        said.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
    elif self.requires_grad:
        said.append("requires_grad=True")
    text = with_suffixes(prefix + contents, said, len(prefix))
    return f"Parameter({text}))" if isinstance(self, Parameter) and not is_plain else f"{text})"


def with_suffixes(text: str, suffixes: Iterable[str], indent: int, breaks: bool = False) -> str:
    """Return a text and what is said behind it, in lines; the first is a new one if it `breaks`."""
    width, used = get_printoptions()["linewidth"], len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if breaks or used + len(suffix) + 2 > width:
            text, used = f"{text},\n{' ' * indent}{suffix}", indent + len(suffix)
            breaks = False
        else:
            text, used = f"{text}, {suffix}", used + len(suffix) + 2
    return text


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """Return `with_suffixes` and the end of the text, as libraries ask for it.

    >>> _add_suffixes("tensor([1.]", ["requires_grad=True"], 7, force_newline=False)
    'tensor([1.], requires_grad=True)'
    """
    return with_suffixes(tensor_str, suffixes, indent, force_newline) + ")"


def _str_intern(inp: Tensor, *, tensor_contents: str | None = None) -> str:
    """Return the text of a tensor, with other words in the place of its numbers if some are given."""
    return _str(inp) if tensor_contents is None else with_contents(inp, tensor_contents)


def _complex_of(dtype: _rushlight.dtype) -> _rushlight.dtype:
    return _rushlight.complex128 if dtype is _rushlight.float64 else _rushlight.complex64
