"""How settings of a module are set for a block, as torch's modules of settings offer it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["patching"]


def patching(module: dict[str, Any]) -> Callable[..., Any]:
    """Return the function `patch` of a module whose globals are `module`."""

    @contextmanager
    def patch(arg1: str | dict[str, Any] | None = None, arg2: Any = None, **kwargs: Any) -> Iterator[None]:
        """Set something for a block, or while a function runs.

        >>> from rushlight._dynamo import config
        >>> with config.patch(verbose=True):
        ...     config.verbose
        True
        >>> config.verbose
        False
        """
        changes = {arg1: arg2} if isinstance(arg1, str) else {**(arg1 or {}), **kwargs}
        before = {name: module[name] for name in changes}
        module.update(changes)
        try:
            yield
        finally:
            module.update(before)

    patch.__module__ = module["__name__"]
    return patch
