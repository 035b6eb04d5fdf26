"""How functions are called that torch writes in Python, and that are compiled here or load late: methods of
`Tensor`, and what `Functions` has.

Nobody calls these: they lend their parameters to the real ones, for those who are shown calls.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

    from .._rushlight import Tensor


def __deepcopy__(self: Tensor, memo: Any) -> Any: ...


def __dlpack__(
    self: Tensor, *, stream: Any = -1, max_version: Any = None, dl_device: Any = None, copy: Any = None
) -> Any: ...


def __dlpack_device__(self: Tensor) -> Any: ...


def __reduce_ex__(self: Tensor, proto: Any) -> Any: ...


def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> Any: ...


def is_shared(self: Tensor) -> Any: ...


def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any: ...


def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Any: ...


def norm(self: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any: ...


def register_hook(self: Tensor, hook: Any) -> Any: ...


def register_post_accumulate_grad_hook(self: Tensor, hook: Any) -> Any: ...


def resize(self: Tensor, *sizes: Any) -> Any: ...


def resize_as(self: Tensor, tensor: Tensor) -> Any: ...


def share_memory_(self: Tensor) -> Any: ...


def split(self: Tensor, split_size: Any, dim: int = 0) -> Any: ...


def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any: ...


def unflatten(self: Tensor, dim: Any, sizes: Any) -> Any: ...


class Functions:
    """Functions of the package that have the name of a method."""

    @staticmethod
    def norm(
        input: Tensor,
        p: Any = "fro",
        dim: Any = None,
        keepdim: bool = False,
        out: Any = None,
        dtype: Any = None,
    ) -> Any: ...

    @staticmethod
    def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any: ...
