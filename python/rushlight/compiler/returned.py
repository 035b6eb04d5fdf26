"""Numbers that a function takes out of tensors and only returns: `return loss.item()`.

Such a number cannot change what the function does, so that it is recorded as the tensor that it comes from.
That nothing else is done with it is read off the function's code, from the place on where it was taken out.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import types
from typing import TYPE_CHECKING, Any, NamedTuple

from .._calls.contexts import IN_CONTEXT
from .around import number
from .waiting import DONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TAKEN = {
    "LOAD_CONST": 0, "LOAD_SMALL_INT": 0, "LOAD_GLOBAL": 0, "LOAD_DEREF": 0, "LOAD_NAME": 0, "PUSH_NULL": 0,
    "KW_NAMES": 0, "NOP": 0, "NOT_TAKEN": 0, "LOAD_ATTR": 1, "LOAD_METHOD": 1, "POP_TOP": 1, "BINARY_OP": 2,
    "BINARY_SUBSCR": 2, "COMPARE_OP": 2, "UNARY_NEGATIVE": 1, "LIST_EXTEND": 2, "LIST_APPEND": 2,
    "LIST_TO_TUPLE": 1, "CALL_INTRINSIC_1": 1,
}  # fmt: skip
"""How much instructions take off the stack that may stand between a number and the end."""
_TAKEN_BESIDE_ARGUMENTS = {
    "CALL": 2, "CALL_KW": 3, "CALL_METHOD": 2, "CALL_FUNCTION": 1, "BUILD_TUPLE": 0, "BUILD_LIST": 0,
    "BUILD_CONST_KEY_MAP": 1,
}  # fmt: skip
_HOLDING = (
    "BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "LIST_EXTEND", "LIST_APPEND",
    "LIST_TO_TUPLE", "CALL_INTRINSIC_1",
)  # fmt: skip
_ARGUMENTS = {"LIST_EXTEND": 1, "LIST_APPEND": 1, "CALL_INTRINSIC_1": 6}
"""Of some instructions the only argument that is known: the list is the next one, and becomes a tuple."""
_FORWARD = ("JUMP_FORWARD", "JUMP_ABSOLUTE")
_PASSED_OVER = ("CACHE", "EXTENDED_ARG", "PRECALL")
_ENDING = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
_SEVERAL_CALLS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _State(NamedTuple):
    """Before which instruction a call is, and where the number is: on the stack, and in which variables."""

    at: int
    stack: tuple[bool, ...]
    names: frozenset[str]


class _Code:
    """The instructions of a function."""

    def __init__(self, code: types.CodeType) -> None:
        everything = list(dis.get_instructions(code))
        self.all = [one for one in everything if one.opname not in _PASSED_OVER]
        self.places: dict[int, int] = {}
        place = len(self.all)
        for one in reversed(everything):
            place -= one.opname not in _PASSED_OVER
            self.places[one.offset] = place
        self.guarded = list(getattr(dis.Bytecode(code), "exception_entries", ()))
        self.is_plain = not code.co_flags & _SEVERAL_CALLS and not any(
            one.opname.startswith("SETUP_") for one in everything
        )

    def place_of(self, offset: int) -> int:
        """Return which instruction is run; what it keeps for itself comes after it."""
        while offset not in self.places:
            offset -= 2
        return self.places[offset]

    def takes_out(self, at: int, scope: dict[str, Any]) -> bool:
        """Tell whether an instruction calls `item` of an object, or `float` of a variable."""
        call, before = self.all[at], self.all[max(at - 2, 0) : at]
        if call.opname == "CALL_METHOD" or (call.opname == "CALL" and call.arg == 0):
            method = before[-1]
            return call.arg == 0 and method.opname in ("LOAD_METHOD", "LOAD_ATTR") and method.argval == "item"
        if call.opname not in ("CALL", "CALL_FUNCTION") or call.arg != 1 or len(before) < 2:
            return False
        function, variable = before
        is_float = function.opname == "LOAD_GLOBAL" and function.argval == "float" and "float" not in scope
        return is_float and variable.opname.startswith("LOAD_FAST") and isinstance(variable.argval, str)

    def is_only_returned(self, at: int, is_called: bool) -> bool:
        """Tell whether the result of an instruction is returned, or dropped, and nothing else.

        A function that is called by one that is recorded may only add it to what is done later.
        """
        waiting = [_State(at + 1, (True,), frozenset())]
        seen = set(waiting)
        while waiting:
            following = self._following(state := waiting.pop())
            leaves = is_called and self.all[state.at].opname == "RETURN_VALUE" and any(state.stack[-1:])
            if following is None or leaves:
                return False
            new = [state for state in following if state not in seen]
            seen.update(new)
            waiting.extend(new)
        return True

    def _following(self, state: _State) -> list[_State] | None:
        """Return where a call may be after an instruction; None if that does something with the number."""
        one = self.all[state.at]
        name, argument = one.opname, one.arg or 0
        stack, names = list(state.stack), set(state.names)
        if name in _ENDING:
            return []
        if "_FAST" in name:
            if not _move(name, one.argval, stack, names):
                return None
            return [*self._on(state.at + 1, stack, names), *self._caught(one.offset, names)]
        caught = self._caught(one.offset, names)
        if not any(stack):
            return [*(_State(at, (), state.names) for at in self._next(state.at)), *caught]
        if name in _FORWARD:
            return [*self._on(self.places[one.argval], stack, names), *caught]
        if name == "SWAP" or name == "ROT_TWO":
            depth = 2 if name == "ROT_TWO" else argument
            stack = [False] * (depth - len(stack)) + stack
            stack[-1], stack[-depth] = stack[-depth], stack[-1]
            return [*self._on(state.at + 1, stack, names), *caught]
        taken = _TAKEN.get(name)
        if name == "BUILD_MAP":
            taken = 2 * argument
        elif name in _TAKEN_BESIDE_ARGUMENTS:
            taken = argument + _TAKEN_BESIDE_ARGUMENTS[name]
        if taken is None or argument != _ARGUMENTS.get(name, argument):
            return None
        if name == "BINARY_OP" and self._is_done_later(state.at + 1):
            return [*self._on(state.at + 1, stack[:-2], names), *caught]
        stack = [False] * (taken - len(stack)) + stack
        rest, operands = stack[: len(stack) - taken], stack[len(stack) - taken :]
        left = taken + dis.stack_effect(one.opcode, one.arg, jump=False)
        keys = operands[::2] if name == "BUILD_MAP" else operands[-1:] if "KEY_MAP" in name else []
        if any(operands) and name != "POP_TOP" and (name not in _HOLDING or any(keys)):
            return None
        rest += [any(operands)] * left
        return [*self._on(state.at + 1, rest, names), *caught]

    def _is_done_later(self, at: int) -> bool:
        """Tell whether an instruction ends what adds to a list that nobody else looks at."""
        one = self.all[at]
        variables = one.argval if isinstance(one.argval, tuple) else (one.argval,)
        return one.opname.startswith("STORE_FAST") and variables[0] == DONE

    def _on(self, at: int, stack: list[bool], names: set[str]) -> list[_State]:
        """Return the state before an instruction; none if the number is nowhere any more."""
        if not any(stack):
            stack = []
        return [_State(at, tuple(stack), frozenset(names))] if stack or names else []

    def _next(self, at: int) -> Iterator[int]:
        """Yield what may come after an instruction."""
        one = self.all[at]
        jumps = one.opcode in dis.hasjrel or one.opcode in dis.hasjabs
        if jumps:
            yield self.places[one.argval]
        if not (jumps and one.opname.startswith(("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE"))):
            yield at + 1

    def _caught(self, offset: int, names: set[str]) -> list[_State]:
        """Return where a call goes on if an instruction fails: with its variables, the stack is cleared."""
        around = (entry for entry in self.guarded if entry.start <= offset < entry.end)
        return [_State(self.places[entry.target], (), frozenset(names)) for entry in around if names]


def _move(name: str, variables: str | tuple[str, ...], stack: list[bool], names: set[str]) -> bool:
    """Do what an instruction does with variables; tell whether it is known."""
    several = (variables,) if isinstance(variables, str) else variables
    parts = name.replace("_BORROW", "").replace("_CHECK", "").replace("_AND_CLEAR", "")
    kinds = parts.replace("STORE_FAST", "S").replace("LOAD_FAST", "L").replace("DELETE_FAST", "D").split("_")
    if len(kinds) != len(several) or not set(kinds) <= {"S", "L", "D"}:
        return False
    for kind, variable in zip(kinds, several, strict=True):
        if kind == "L":
            stack.append(variable in names)
            continue
        is_it = kind == "S" and bool(stack) and stack.pop()
        (names.add if is_it else names.discard)(variable)
    return True


@functools.lru_cache(maxsize=256)
def _code(code: types.CodeType) -> _Code:
    return _Code(code)


@functools.lru_cache(maxsize=4096)
def _is_only_returned(code: types.CodeType, at: int, is_called: bool) -> bool:
    return _code(code).is_only_returned(at, is_called)


def _layers(function: Any) -> list[types.CodeType | None]:
    """Return the code of a function, and of the modes around it, from within."""
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    within = _layers(function.__wrapped__) if code in IN_CONTEXT else []
    return [*within, code]


def only_returned(
    function: Any, around: types.CodeType, within: frozenset[types.CodeType]
) -> Callable[[], bool]:
    """Return what tells whether the number that is just taken out is only returned by `function`.

    That is called by code `around`: whoever stands between the two may do something with what it returns,
    modes excepted that decorate it. Code `within` is called by it, and may add numbers to what is done later.
    """
    layers = [*_layers(function), around]

    def tells() -> bool:
        frame = sys._getframe(1)
        takes_out = frame.f_code is number.__code__
        if takes_out and frame.f_back is not None:
            frame = frame.f_back
        outer: types.FrameType | None = frame
        while outer is not None and outer.f_code in within and outer.f_code is not layers[0]:
            outer = outer.f_back
        is_called = outer is not frame
        for layer in layers:
            if outer is None or outer.f_code is not layer:
                return False
            outer = outer.f_back
        code = _code(frame.f_code)
        at = code.place_of(frame.f_lasti)
        return (
            code.is_plain
            and (takes_out or code.takes_out(at, frame.f_globals))
            and _is_only_returned(frame.f_code, at, is_called)
        )

    return tells
