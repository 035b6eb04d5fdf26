"""Operations that go on while the program does something else: `Work`, and the thread that does it."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta

    from .._rushlight import Tensor
    from ..futures import Future
    from ._transport import Transfer

__all__ = ["Work"]


class Work:
    """An operation that has begun."""

    def __init__(self, act: Callable[[], None], tensors: Sequence[Tensor]) -> None:
        self._act: Callable[[], None] | None = act
        self._tensors = list(tensors)
        self._ended = threading.Event()
        self._error: Exception | None = None
        self._future: Future[list[Tensor]] | None = None
        self._lock = threading.Lock()

    def _run(self) -> None:
        """Do it, on whatever thread."""
        act, self._act = self._act, None
        try:
            if act is not None:
                act()
        except Exception as error:  # it belongs to who waits
            self._error = error
        except BaseException:
            self._error = RuntimeError("the operation was interrupted")
            raise
        finally:
            with self._lock:
                self._ended.set()
                future = self._future
            if future is not None:
                self._settle(future)

    def _settle(self, future: Future[list[Tensor]]) -> None:
        if self._error is None:
            future.set_result(self._tensors)
        else:
            future.set_exception(self._error)

    def is_completed(self) -> bool:
        """Tell whether it has ended."""
        return self._ended.is_set()

    def is_success(self) -> bool:
        """Tell whether it has ended well."""
        return self.is_completed() and self._error is None

    def exception(self) -> Exception | None:
        """Return what went wrong, or None."""
        return self._error

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for the end; raise what went wrong."""
        seconds = timeout.total_seconds() if timeout else None
        if not self._ended.wait(seconds):
            raise RuntimeError("Operation timed out!")
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        """Wait for the end."""
        self.wait()

    def get_future(self) -> Future[list[Tensor]]:
        """Return a future of the tensors that are written to."""
        from ..futures import Future

        with self._lock:
            if self._future is not None:
                return self._future
            future = self._future = Future()
            ended = self._ended.is_set()
        if ended:
            self._settle(future)
        return future

    def result(self) -> list[Tensor]:
        """Return the tensors that are written to."""
        self.wait()
        return self._tensors

    def source_rank(self) -> int:
        """Return who sent what was received."""
        raise RuntimeError(
            "sourceRank() may only be called on work objects that correspond to a recv or recv-from-any call."
        )

    _source_rank = source_rank


class Message(Work):
    """A message from one process to another, which moves without a thread of ours."""

    def __init__(
        self, transfer: Transfer, tensors: Sequence[Tensor], seconds: float, after: Callable[[], None] | None
    ) -> None:
        super().__init__(lambda: None, tensors)
        self._transfer, self._seconds, self._after = transfer, seconds, after

    def is_completed(self) -> bool:
        """Tell whether it has arrived, or has left."""
        return self._ended.is_set() or self._transfer.done()

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until it has arrived, or has left."""
        if not self._ended.is_set():
            try:
                self._transfer.wait(timeout.total_seconds() if timeout else self._seconds)
                if self._after is not None:
                    self._after()
            except Exception as error:
                self._error = error
            self._run()
        return super().wait()

    def get_future(self) -> Future[list[Tensor]]:
        """Return a future of the tensors, once they are there."""
        future = super().get_future()
        self.wait()
        return future

    def source_rank(self) -> int:
        """Return who sent what was received."""
        self.wait()
        if self._transfer.source is None:
            return super().source_rank()
        return self._transfer.source

    _source_rank = source_rank


class Lane:
    """Does the operations of a group one after another, as they were begun."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._is_busy = False
        self._is_open = True
        self._thread: threading.Thread | None = None

    def begin(self, work: Work, *, at_once: bool) -> None:
        """Have a work done: by who asks, if `at_once` and nothing is before it, or by a thread."""
        with self._changed:
            here = at_once and not self._is_busy and not self._waiting
            if here:
                self._is_busy = True
            else:
                self._waiting.append(work)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                    self._thread.start()
                self._changed.notify_all()
        if here:
            self._do(work)

    def _do(self, work: Work) -> None:
        try:
            work._run()
        finally:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._is_busy and bool(self._waiting or not self._is_open))
                if not self._waiting:
                    return
                self._is_busy = True
                work = self._waiting.popleft()
            self._do(work)
            # It would be kept alive until there is another.
            del work

    def close(self) -> None:
        """Let the thread end when nothing is left to do."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
