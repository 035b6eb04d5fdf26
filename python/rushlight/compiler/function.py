"""A function that is recorded and run again without Python.

The first calls run as they are written, one is recorded, the next ones verify: the program runs on copies of
what it writes to, then the function itself, and all that both leave behind has to be the same bits. Only then
is it the program that runs, as long as everything that the function sees is as it was; else the function
runs, and another program is recorded.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ClassVar

from .._rushlight import Tensor, _begin_recording, _CompiledFunction, _Program, _Recording, is_grad_enabled
from .before import Before
from .effects import Effects, effects_of
from .returned import only_returned
from .sight import Sight, Unclear, containers, look
from .stance import now
from .telling import log
from .watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .rewriting import At

_BEFORE = 2
"""Calls that run as they are written, before one is recorded."""
_VERIFICATIONS = 2
_MOST_PROGRAMS = 8
_MOST_FAILURES = 3
_SAMPLED = 1000

_busy = threading.local()


def _tensors(argument: Any) -> Iterator[Tensor]:
    """Yield the tensors of an argument."""
    if isinstance(argument, Tensor):
        yield argument
    elif isinstance(argument, tuple) or type(argument) is list:
        for item in argument:
            yield from _tensors(item)
    elif type(argument) is dict:
        yield from _tensors(list(argument.values()))


def _shares(result: Any, given: list[Any], seen: dict[int, Any]) -> str | None:
    """Return what is said of a result with a list or dictionary that others have, or that is there twice."""
    found = [id(one) for one in containers(result)]
    others = {id(one) for one in containers(given)}
    if len(set(found)) < len(found) or any(one in seen or one in others for one in found):
        return "it returns a list or a dictionary that is somewhere else, too"
    return None


def _as_it_is(result: Any) -> Any:
    return result


def _said(reason: Any) -> str:
    """Return a reason with the place in the program, if it has one."""
    if isinstance(reason, tuple):
        text, place = reason
        return text if place is None else f"{text} at {place:line}"
    return str(reason)


def _verifies() -> str:
    return os.environ.get("RUSHLIGHT_COMPILE_VERIFY", "sampled")


class _Entry:
    """A program, how often it has still to be verified, and how often it failed before it was."""

    __slots__ = ("effects", "failures", "left", "program")

    def __init__(self, program: _Program, effects: Effects | None) -> None:
        self.program = program
        self.effects = effects
        self.failures = 0
        self.left = 0 if _verifies() == "never" else _VERIFICATIONS


class Function(_CompiledFunction):
    """What `compile` makes of a function.

    The native class that it comes from calls the programs that it was handed last, and the function itself
    where that was given up. Whatever else is to be done with a call is done here.
    """

    _torchdynamo_inner = True
    all: ClassVar[weakref.WeakSet[Function]] = weakref.WeakSet()

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False) -> None:
        update_wrapper(self, function, updated=())
        self._torchdynamo_orig_callable = function
        self._fullgraph = fullgraph
        self._lock = threading.Lock()
        self.forget()
        Function.all.add(self)

    def forget(self) -> None:
        """Forget what was recorded."""
        self._entries: list[_Entry] = []
        self._calls: dict[bool, int] = {}
        self._failures: dict[bool, int] = {}
        self._codes: dict[Any, Any] = {}
        self._unclear_at: set[frozenset[tuple[Any, int]]] = set()
        self._cannot_wait: frozenset[At] = frozenset()
        self._left = _SAMPLED
        self.reason: str | None = None
        self._renew()

    def __reduce__(self) -> Any:
        return Function, (self._function, self._fullgraph)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Be a method, as functions are."""
        if instance is None:
            return self
        from functools import partial

        return partial(self, instance)

    def repeat(self, batches: list[tuple[Any, ...]], first: int, count: int) -> tuple[int, Any]:
        """Call it once, or up to so many times with batches in turn; return how often, and its answer."""
        count = min(count, self._left)
        if count > 0 and now.stance == "default":
            for program in self._ready:
                found = program.repeat(batches, first, count)
                if found is not None:
                    self._left -= found[0]
                    return found
        return 1, self(*batches[first % len(batches)])

    def _as_written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call that no program fits, or that is to be verified."""
        if now.stance != "default":
            return self._by_stance(args, kwargs)
        mode = is_grad_enabled()
        if getattr(_busy, "on", False) or sys.getprofile() is not None:
            return self._function(*args, **kwargs)
        if not self._lock.acquire(blocking=False):
            return self._function(*args, **kwargs)
        _busy.on = True
        try:
            return self._step(mode, args, kwargs)
        finally:
            _busy.on = False
            self._lock.release()

    def _step(self, mode: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        sample, self._left = self._left <= 0, _SAMPLED
        for entry in self._entries:
            if entry.left > 0 or (sample and _verifies() != "never") or _verifies() == "always":
                try:
                    apart = entry.program.run_apart(args, kwargs)
                except Exception:
                    # A number that it looks at is another, or is refused, as the function will say itself.
                    entry.failures += 1
                    continue
                if apart is not None:
                    return self._verify(entry, apart, args, kwargs)
        if sample:
            return self._as_before(args, kwargs)
        for entry in self._entries:
            if entry.failures >= _MOST_FAILURES or entry.program.is_idle():
                reason = entry.program.failure() or "the numbers that it looks at are others in most calls"
                self._drop(entry, reason, for_good=False)
        self._calls[mode] = self._calls.get(mode, 0) + 1
        full = len(self._entries) >= _MOST_PROGRAMS or self._failures.get(mode, 0) >= _MOST_FAILURES
        if full or self._calls[mode] < _BEFORE:
            return self._function(*args, **kwargs)
        if self._calls[mode] == _BEFORE:
            with Watch() as watch:
                result = self._function(*args, **kwargs)
            self._codes.update(watch.codes)
            self._unclear_at = watch.unclear_at
            return result
        for entry in self._entries:
            difference = entry.program.difference(args, kwargs) or _said(
                entry.program.failure() or "a number that it looks at"
            )
            # Said for as long as no program is what runs.
            self.reason = f"what it sees is another in each call: {difference}"
            log.info("%r is recorded anew: %s", self, difference)
        return self._record(mode, args, kwargs)

    def _by_stance(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run what the program wishes to be run while nothing new is recorded."""
        if now.stance == "force_eager":
            return self._function(*args, **kwargs)
        if now.stance == "eager_on_recompile":
            return self._as_before(args, kwargs)
        if now.stance != "fail_on_recompile":
            raise RuntimeError(f"invalid torch.compile stance '{now.stance}'")
        for program in self._ready:
            answer = program.call(args, kwargs)
            if answer is not None:
                return answer[0]
        raise RuntimeError("Detected recompile when torch.compile stance is 'fail_on_recompile'")

    def _as_before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for program in self._ready:
            answer = program.call(args, kwargs)
            if answer is not None:
                return answer[0]
        return self._function(*args, **kwargs)

    def _look(
        self, mode: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Effects | None, Sight]:
        """Return what a call does that can wait until its program has run, and what the rest of it sees."""
        given = (args, kwargs), self._codes, self._unclear_at, self._cannot_wait
        found = effects_of(self._function, *given, self._fullgraph or self._failures.get(mode, 0) > 0)
        if found is not None:
            effects, sight = found
            if not any(tensor.is_inference() for tensor in [*sight.tensors, *_tensors([args, kwargs])]):
                return effects, sight
        return None, look((self._function, args, kwargs), self._codes)

    def _record(self, mode: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function, and make a program of what it does if that can be done."""
        try:
            effects, sight = self._look(mode, args, kwargs)
            before = Before([*sight.tensors, *_tensors([args, kwargs])], sight.counting)
            function = self._function if effects is None else effects.function
            own = () if effects is None else effects.codes
            is_returned = only_returned(function, Function._record.__code__, frozenset(own))
            recording = _begin_recording(args, kwargs, sight.tensors, sight.checks, is_returned)
        except (Unclear, RecursionError, ValueError) as unclear:
            return self._failed(mode, str(unclear), self._function(*args, **kwargs))
        if recording is None:
            self.reason = "a mode is on, or a tensor lives whose class is shown operations (sparse ones are)"
            return self._function(*args, **kwargs)
        if not isinstance(recording, _Recording):
            return self._failed(mode, recording, self._function(*args, **kwargs))
        watch = Watch() if effects is None else Watch(lambda frame: effects.do_early(frame, recording.told))
        substitutes = recording.arguments()
        own_args, own_kwargs = substitutes or (args, kwargs)
        if effects is not None:
            effects.begin(asks=True)
        try:
            with watch:
                result = function(*own_args, **own_kwargs)
                refusal = _shares(result, [args, kwargs, own_args, own_kwargs], sight.seen)
                refusal = refusal or recording.lead_back(result)
            program = refusal
            if refusal is None:
                program = recording.end(result, function, watch.after, effects and effects.finish)
            result = recording.told(result)
        except Exception as error:
            early = frozenset() if effects is None else effects.failed_early(error)
            self._cannot_wait |= early
            if not before.is_known or (substitutes is None and not early):
                if effects is not None:
                    effects.finish_failed(error, recording.told)
                raise
            # What stands in for an argument is not in everything like it.
            before.restore()
            return self._failed(
                mode, f"it fails where it is recorded: {error}", self._function(*args, **kwargs)
            )
        finally:
            recording.abandon()
        if substitutes is not None:
            if not before.is_known:
                raise AssertionError("what has a history can be had again")
            before.restore()
            if effects is not None:
                effects.begin(asks=False)
            result = function(*args, **kwargs)
        finish: Callable[[Any], Any] = _as_it_is
        wrong: frozenset[At] = frozenset()
        if effects is not None:
            finish = effects.finish
            for code in effects.codes:
                watch.codes.pop(code, None)
            wrong, early = effects.wrong(result[1]), effects.misplaced(watch.codes)
            early |= effects.used_otherwise()
            if isinstance(program, _Program) and program.leads_back():
                early |= effects.counting
            self._cannot_wait |= wrong | early
            if early:
                reason = "a statement that waits in one place does not in another"
                return self._failed(mode, reason, finish(result), hard=False)
        is_new = not watch.codes.keys() <= self._codes.keys()
        self._codes.update(watch.codes)
        if watch.unclear is not None:
            return self._failed(mode, watch.unclear, finish(result))
        if not isinstance(program, _Program):
            return self._failed(mode, program, finish(result))
        if wrong:
            before.restore()
            reason = "a statement that looks at a tensor cannot wait"
            return self._failed(mode, reason, self._function(*args, **kwargs), hard=False)
        if is_new:
            reason = "it has run code that it had not run before"
            return self._failed(mode, reason, finish(result), hard=False)
        self._entries = [*self._entries, _Entry(program, effects)]
        self._renew()
        # Operations that are shown may be rounded otherwise: what was recorded is undone.
        if not before.is_known or substitutes is not None:
            return finish(result)
        before.restore()
        return self._function(*args, **kwargs)

    def _failed(self, mode: bool, reason: Any, result: Any, hard: bool = True) -> Any:
        self.reason = _said(reason)
        log.info("%r is not recorded: %s", self, self.reason)
        self._failures[mode] = self._failures.get(mode, 0) + 1
        self._renew()
        if self._fullgraph and hard:
            raise RuntimeError(f"{self!r} cannot be recorded as a whole: {self.reason}")
        return result

    def _verify(self, entry: _Entry, apart: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function after the program has run on copies, and compare."""
        effects = entry.effects
        function = self._function
        if effects is not None:
            function = effects.function
            effects.begin(asks=False)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            if effects is not None:
                effects.finish_failed(error, _as_it_is)
            raise
        if entry.program.is_same(apart, result):
            entry.left = max(entry.left - 1, 0)
            self.reason = None if entry.left == 0 else self.reason
        else:
            self._drop(entry, "the program that was recorded did something else than the function")
        self._renew()
        return result if effects is None else effects.finish(result)

    def _drop(self, entry: _Entry, reason: Any, for_good: bool = True) -> None:
        self._entries = [other for other in self._entries if other is not entry]
        mode = is_grad_enabled()
        self._failures[mode] = _MOST_FAILURES if for_good else self._failures.get(mode, 0) + 1
        self.reason = _said(reason)
        log.info("%r is not recorded any longer: %s", self, self.reason)
        self._renew()

    def _renew(self) -> None:
        """Say what is run from now on."""
        always = _verifies() == "always"
        self._ready = [entry.program for entry in self._entries if entry.left == 0 and not always]
        without, within = (self._failures.get(mode, 0) >= _MOST_FAILURES for mode in (False, True))
        self._run(self._ready, (without, within))

    @property
    def programs(self) -> list[_Program]:
        """The programs that are run."""
        return [entry.program for entry in self._entries if entry.left == 0]

    def __repr__(self) -> str:
        return repr(self._function)
