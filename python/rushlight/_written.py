"""How functions are called that torch writes in Python, and that are compiled here or load late.

Nobody calls these: they lend their parameters to the real ones, for those who are shown calls.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

    from ._rushlight import Tensor


class Methods:
    """Those of `Tensor`."""

    def __deepcopy__(self: Tensor, memo: Any) -> Any: ...  # type: ignore[misc]

    def __dlpack__(  # type: ignore[misc]
        self: Tensor,
        *,
        stream: Any = -1,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any: ...

    def __dlpack_device__(self: Tensor) -> Any: ...  # type: ignore[misc]

    def __reduce_ex__(self: Tensor, proto: Any) -> Any: ...  # type: ignore[misc]

    def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> Any: ...  # type: ignore[misc]

    def is_shared(self: Tensor) -> Any: ...  # type: ignore[misc]

    def istft(  # type: ignore[misc]
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

    def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Any: ...  # type: ignore[misc]

    def norm(  # type: ignore[misc]
        self: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> Any: ...

    def register_hook(self: Tensor, hook: Any) -> Any: ...  # type: ignore[misc]

    def register_post_accumulate_grad_hook(self: Tensor, hook: Any) -> Any: ...  # type: ignore[misc]

    def resize(self: Tensor, *sizes: Any) -> Any: ...  # type: ignore[misc]

    def resize_as(self: Tensor, tensor: Tensor) -> Any: ...  # type: ignore[misc]

    def share_memory_(self: Tensor) -> Any: ...  # type: ignore[misc]

    def split(self: Tensor, split_size: Any, dim: int = 0) -> Any: ...  # type: ignore[misc]

    def stft(  # type: ignore[misc]
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

    def unflatten(self: Tensor, dim: Any, sizes: Any) -> Any: ...  # type: ignore[misc]


class Functions:
    """Those of the package."""

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
