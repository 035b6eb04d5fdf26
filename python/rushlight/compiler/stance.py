"""Whether compiled functions record, and whether what they have recorded is run."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from .._rushlight import _compile_as_usual

if TYPE_CHECKING:
    from collections.abc import Callable


class _Now:
    """What is wished at present, by the whole process."""

    __slots__ = ("_stance",)

    def __init__(self) -> None:
        self._stance = "default"

    @property
    def stance(self) -> str:
        """What it is; compiled functions are told whether it is the usual one."""
        return self._stance

    @stance.setter
    def stance(self, stance: str) -> None:
        self._stance = stance
        _compile_as_usual(stance == "default")


now = _Now()


class set_stance:
    """Say what compiled functions do: for good, for a block, or in a function that this decorates.

    `default` records and runs what is recorded, `force_eager` runs functions as they are written,
    `eager_on_recompile` does so where nothing is recorded yet, and `fail_on_recompile` is an error there.

    >>> import rushlight as torch
    >>> with torch.compiler.set_stance("force_eager"):
    ...     torch.compile(torch.sin)(torch.zeros(1))
    tensor([0.])
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        self.stance = stance
        self.before = now.stance
        now.stance = stance

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as it runs with this wish."""
        now.stance = self.before

        @wraps(fn)
        def wished(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return fn(*args, **kwargs)

        return wished

    def __enter__(self) -> None:
        """Begin a block; the wish has been made."""
        now.stance = self.stance

    def __exit__(self, *raised: object) -> None:
        """Wish again what was wished before."""
        now.stance = self.before
