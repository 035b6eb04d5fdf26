"""Values that come later: `Future`, and what waits for several."""

from __future__ import annotations

import threading
import traceback
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that somebody sets once, perhaps on another thread, and others wait for.

    >>> import rushlight as torch
    >>> future = torch.futures.Future()
    >>> doubled = future.then(lambda one: 2 * one.value())
    >>> future.set_result(3)
    >>> doubled.wait()
    6
    """

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        for device in devices or ():
            raise ValueError(f"Expected devices to have indices, got {device}")
        self._settled = threading.Condition()
        self._is_done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[], None]] = []

    def __getstate__(self) -> Any:
        raise RuntimeError("Can not pickle torch.futures.Future")

    def done(self) -> bool:
        """Return whether there is a value, or an error in its place."""
        return self._is_done

    def wait(self) -> T:
        """Wait for the value; raise the error that was set in its place."""
        with self._settled:
            self._settled.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """Return the value, which has to be there; raise the error that was set in its place."""
        if not self._is_done:
            raise RuntimeError("completed() INTERNAL ASSERT FAILED: the future has no value yet")
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """Return a future of what `callback` makes of this one when it is done."""
        result: Future[S] = Future()

        def follow() -> None:
            try:
                found = callback(self)
            except Exception as error:  # whatever it is belongs to who waits
                result._settle(None, RuntimeError(_told(error)))
            else:
                result.set_result(found)

        self._when_done(follow)
        return result

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call `callback` with this future when it is done; what it raises is printed."""

        def follow() -> None:
            try:
                callback(self)
            except Exception:  # nobody waits for it
                traceback.print_exc()

        self._when_done(follow)

    def set_result(self, result: T) -> None:
        """Set the value, and call what waits for it."""
        self._settle(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Set an error in the place of the value."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._settle(None, result)

    def _settle(self, value: Any, error: BaseException | None) -> None:
        with self._settled:
            if self._is_done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be "
                    "marked completed once."
                )
            self._value, self._error, self._is_done = value, error, True
            self._settled.notify_all()
            waiting, self._callbacks = self._callbacks, []
        for callback in waiting:
            callback()

    def _when_done(self, callback: Callable[[], None]) -> None:
        with self._settled:
            if not self._is_done:
                self._callbacks.append(callback)
                return
        callback()


def _told(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[1:]
    places = "\n".join(f"  {frame.filename}({frame.lineno}): {frame.name}" for frame in reversed(frames))
    name = type(error).__name__
    return f"Got the following error when running the callback: {name}: {error}\n\nAt:\n{places}\n"


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future of all of these, which is done when they are.

    >>> import rushlight as torch
    >>> one, other = torch.futures.Future(), torch.futures.Future()
    >>> both = torch.futures.collect_all([one, other])
    >>> one.set_result(1)
    >>> both.done()
    False
    >>> other.set_result(2)
    >>> [future.value() for future in both.wait()]
    [1, 2]
    """
    collected: Future[list[Future[Any]]] = Future()
    lock, left = threading.Lock(), len(futures)

    def one_is_done(future: Future[Any]) -> None:
        nonlocal left
        with lock:
            left -= 1
            is_settled = collected.done()
            fails = future._error if not is_settled else None
            is_last = left == 0 and not is_settled
        if fails is not None:
            collected.set_exception(fails)
        elif is_last:
            collected.set_result(futures)

    if not futures:
        collected.set_result(futures)
    for future in futures:
        future.add_done_callback(one_is_done)
    return collected


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Wait for all of these; return their values, or raise the first error.

    >>> import rushlight as torch
    >>> future = torch.futures.Future()
    >>> future.set_result(3)
    >>> torch.futures.wait_all([future, future])
    [3, 3]
    """
    return [future.wait() for future in collect_all(futures).wait()]
