"""What operators of one's own look like where nothing is computed: their results without numbers."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .operator import CustomOpDef

__all__ = ["FakeImplCtx", "get_ctx", "within"]

_running = threading.local()


class FakeImplCtx:
    """Whom functions of `register_fake` ask for sizes that depend on numbers."""

    def __init__(self, size: Callable[[], int]) -> None:
        self._size = size

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """Return a size that is known with the numbers only."""
        return self._size()

    create_unbacked_symint = new_dynamic_size


@contextmanager
def within(context: FakeImplCtx) -> Iterator[None]:
    """Answer `get_ctx` in the block."""
    before = get_ctx()
    _running.context = context
    try:
        yield
    finally:
        _running.context = before


def get_ctx() -> FakeImplCtx | None:
    """Return whom the function of `register_fake` that runs here asks for sizes that depend on numbers.

    Outside of such a function it is nobody.
    """
    return getattr(_running, "context", None)


def fake_result(op: CustomOpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return what an operator gives on tensors without numbers."""
    function = op.kernels.of("Meta") or op.kernels.without_numbers()
    if op._needs_fake and "Meta" not in op.kernels:
        if not op._opoverload._schema.returns:
            return None
        raise RuntimeError(
            f"There was no fake impl registered for {op}. This is necessary for torch.compile/export/fx "
            f"tracing to work. Please use `{getattr(op._init_fn, '__name__', op._name)}.register_fake` to "
            "add an fake impl."
        )
    if function is None:
        raise NotImplementedError(
            f"{op._qualname}: attempted to run this operator with Meta tensors, but there was no fake impl "
            "or Meta kernel registered. You may have run into this message while using an operator with "
            "PT2 compilation APIs (torch.compile/torch.export); in order to use this operator with those "
            "APIs you'll need to add a fake impl. Please see the following for next steps:  "
            "https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
        )
    if get_ctx() is not None:
        return function(*args, **kwargs)
    code = getattr(function, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}" if code else "?"

    def refuse() -> int:
        raise RuntimeError(
            f"{op._qualname} ({place}): You're trying to run this operator with meta Tensors (as opposed "
            "to FakeTensors), but this operator may return an output Tensor with data-dependent shape. "
            "Meta Tensors don't support operators with outputs that have data-dependent shapes but "
            "FakeTensors do. If your operator does not return an output with data-dependent shape, make "
            "sure the FakeTensor and/or meta kernel does not call torch.library.get_ctx(). Otherwise, "
            "please use FakeTensors."
        )

    with within(FakeImplCtx(refuse)):
        return function(*args, **kwargs)
