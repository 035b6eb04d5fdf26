"""How an operation that the engine shows becomes a call of one of torch's operators.

The engine names the node that the operation would record, and gives the tensors; the arguments that are none
come from the call of the native function that led there, by their names.
"""

from __future__ import annotations

import re

from .. import _rushlight
from .._ops import Call, operator_of, table, without_node
from .._rushlight import Tensor
from . import package

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .._ops import OpOverload
    from .schemas import Argument

_MISSING = object()


def intercept(mode: Any, operation: Any, call: tuple[str, Mapping[str, Any]] | None) -> list[Tensor]:
    """Have `mode`, or if there is none the classes of the operands, answer in the place of an operation."""
    shown = _shown(operation, *(call or ("", {})))
    if shown is None and mode is not None:
        outputs: list[Tensor] = operation.proceed()
        return outputs
    if shown is None:
        shown = _unnamed(operation), operation.operands, {}
    shown_call = _Intercepted(*shown, operation)
    answer = shown_call.show(mode)
    if operation.in_place:
        return [shown_call.args[0]]
    answers = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    if (mask := operation.attributes.get("output_mask")) is not None:
        answers = [one for one, is_wanted in zip(answers, mask, strict=False) if is_wanted]
    if len(answers) < operation.outputs:
        # The engine keeps more of some operations than torch shows.
        answers += (shown_call.computed or operation.compute())[len(answers) :]
    return answers[: operation.outputs]


class _Intercepted(Call):
    """A call that an operation of the engine becomes."""

    def __init__(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], operation: Any
    ) -> None:
        super().__init__(func, args, kwargs)
        self.operation = operation
        self.computed: list[Tensor] = []

    def _answer(self, computed: list[Tensor]) -> Any:
        """Return what was computed as torch would."""
        self.computed = computed
        returns = self.func._schema.returns
        if (mask := self.operation.attributes.get("output_mask")) is not None:
            # The engine gives what is wanted, torch says of the rest that there is none.
            left = iter(computed)
            return tuple(next(left) if is_wanted else None for is_wanted in mask)
        if returns[0].kind.endswith("[]"):
            return list(computed)
        return computed[0] if len(returns) == 1 or len(computed) == 1 else tuple(computed)

    def proceed(self) -> Any:
        """Hand it on to the next interceptor, or to classes, or compute it."""
        computed = self.operation.proceed()
        return self.args[0] if self.operation.in_place else self._answer(computed)

    def again(self, replaced: dict[int, Tensor]) -> Any:
        """Compute it with other tensors in the place of those with these identities, if it can be."""
        operands = self.operation.operands
        if any(isinstance(one, Tensor) and id(one) not in replaced for one in operands):
            return NotImplemented
        if self.operation.in_place:
            if _rushlight._is_dispatching_to_subclasses() or any(
                id(other) != own for own, other in replaced.items()
            ):
                return NotImplemented
            self.operation.compute()
            return self.args[0]
        computed = self.operation.of([replaced.get(id(one), one) for one in operands])
        return NotImplemented if computed is None else self._answer(computed)


def settle(name: str, given: Mapping[str, Any], result: Any) -> Any:
    """Show a call that came to no operation of the engine, with what it answered; return what is answered."""
    name = _CALLED.get(name, name)
    known = without_node().get(name, [])
    # Of several the first that takes all that was given and gets all that it wants.
    for func in sorted(known, key=lambda func: not _fits(func, given)):
        if not any(argument.takes_tensors for argument in func._schema.arguments):
            given = {**given, "device": package().device(given.get("device") or "cpu")}
        if (bound := _bind(func, _operands(func, given), given, {})) is not None:
            answer = _Settled(func, *bound, result).proceed()
            return given["self"] if name.endswith("_") and func._schema.is_mutable else answer
    if isinstance(result, Tensor) and _rushlight._is_dispatching_to_subclasses():
        _check_filled(name, given, result)
    return result


def _fits(func: OpOverload, given: Mapping[str, Any]) -> bool:
    """Tell whether an operator takes everything that was given, and is given all that it has to be."""
    arguments = {argument.name: argument for argument in func._schema.arguments}
    missing = (name for name, argument in arguments.items() if not argument.has_default_value())
    taken = all(name in arguments or name in _OPTIONS or value is None for name, value in given.items())
    return taken and all(given.get(name) is not None for name in missing)


_OPTIONS = ("requires_grad", "out", "generator", "names")


def _check_filled(name: str, given: Mapping[str, Any], result: Tensor) -> None:
    """Refuse what was computed of tensors without numbers and no class has been shown."""
    for one in given.values():
        for tensor in one if isinstance(one, (list, tuple)) else (one,):
            has_no_data = isinstance(tensor, Tensor) and _rushlight._has_no_data(tensor)
            if has_no_data and _rushlight._memory_of(tensor) != _rushlight._memory_of(result):
                raise NotImplementedError(f"Could not run 'aten::{name}', which no class was shown.")


_CALLED = {"item": "_local_scalar_dense", "div_floor": "floor_divide"}


class _Settled(Call):
    """A call that has been made: what is at the end of the row of interceptors is what it answered."""

    def __init__(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        super().__init__(func, args, kwargs)
        self.result = result

    def proceed(self) -> Any:
        """Show it to the next interceptor, if there is one, or to the classes of the arguments."""
        if _rushlight._interceptors():
            return _rushlight._beneath_interceptor(self.show)
        return self.show(None) if self.subclassed() else self.result


def _operands(func: OpOverload, given: Mapping[str, Any]) -> list[Any]:
    """Return the arguments that the engine would show as operands."""
    named = [argument.name for argument in func._schema.arguments if not argument.kwarg_only]
    return [given[name] for name in named if name in given and isinstance(given[name], Tensor)]


def _shown(
    operation: Any, name: str, given: Mapping[str, Any]
) -> tuple[OpOverload, tuple[Any, ...], dict[str, Any]] | None:
    key = _CALLED.get(operation.node, operation.node)
    key = f"{key}_" if operation.in_place else key
    operators = table()[0].get(key, ())
    if (key[0] == "_" or key[0].islower()) and "::" not in key:
        operators = list(without_node().get(key, ()))
        if not all(isinstance(operand, Tensor) for operand in operation.operands):
            operators.reverse()  # What takes numbers comes behind what takes tensors.
    if key == "torch::autograd::Implicit":
        torch = package()
        options = {"pin_memory": False, "memory_format": torch.preserve_format}
        return torch.ops.aten.ones_like.default, operation.operands, options
    operands = operation.operands[: len(operation.operands) - operation.held]
    for func in operators:
        attributes = operation.attributes
        beside = {
            name: given[name] if _is_same_memory(one, given.get(name)) else one
            for name, one in _beside(func, operation.beside, attributes).items()
        }
        own = func._packet.__name__.strip("_") == name
        known = {**attributes, **beside, **given} if own else {**given, **attributes, **beside}
        if (bound := _bind(func, operands, known, beside)) is not None:
            return func, *bound
    return None


def _is_same_memory(one: Any, other: Any) -> bool:
    """Tell whether a tensor is another one, perhaps in other sizes."""
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)) or _rushlight._has_no_data(other):
        return False
    return one.numel() == other.numel() and one.data_ptr() == other.data_ptr()


def _beside(func: OpOverload, held: Sequence[Tensor], attributes: dict[str, Any]) -> dict[str, Any]:
    """Return what an operation holds beside its inputs by the names that such have."""
    found: dict[str, Any] = {}
    left = list(held)
    arguments = func._schema.arguments if left else []
    names = {argument.name for argument in arguments}
    wanted = next((some for some in _BESIDE if names & some), frozenset())
    held_apart = [argument for argument in arguments if argument.name in wanted]
    # Where there are fewer, the first ones are operands: the weight of a layer before its statistics.
    for argument in held_apart if len(left) > len(held_apart) else held_apart[-len(left) :]:
        if argument.kind.endswith("[]"):
            places = attributes.get(argument.name, range(len(left)))
            found[argument.name] = [None if place is None else left[place] for place in places]
        elif left:
            found[argument.name] = left.pop(0)
    return found


# What operations hold beside their inputs is one of the first, or if there is no such argument of the others.
_BESIDE = (
    frozenset({"condition", "index", "indices", "mask"}),
    frozenset({"weight", "running_mean", "running_var"}),
)


def _unnamed(operation: Any) -> OpOverload:
    """Return an operator for an operation that torch has no name for: it can be called as it was."""
    name = re.sub(r"Backward\d+$", "", operation.node.rpartition(":")[2])
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() + "_" * operation.in_place
    kinds = ["Tensor" if isinstance(operand, Tensor) else "Scalar" for operand in operation.operands]
    return operator_of(name, tuple(kinds), operation.outputs)


def _bind(
    func: OpOverload, operands: Sequence[Any], given: Mapping[str, Any], beside: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Return the arguments as the dispatcher passes them on: without defaults at the end."""
    arguments = func._schema.arguments
    left = list(operands)
    if len(left) == 2 and not isinstance(left[0], Tensor) and arguments[0].kind == "Tensor":
        left.reverse()  # A number comes behind the tensor, whichever it was.
    wanted = sum(argument.kind == "Tensor" for argument in arguments)
    if wanted > len(left):
        # The engine holds some tensors apart, such as indices.
        apart = {
            argument.name: given[argument.name]
            for argument in arguments
            if argument.takes_tensors and isinstance(given.get(argument.name), Tensor)
        }
        if all(operand is not apart.get("self") for operand in left):
            apart.pop("self", None)  # It is an operand in another form.
        left = [operand for operand in left if all(operand is not other for other in apart.values())]
    else:
        apart = {}
    names = {argument.name for argument in arguments}
    apart.update({name: value for name, value in beside.items() if name in names})
    taken: list[tuple[Argument, Any]] = []
    for argument in arguments:
        value = apart.get(argument.name, _MISSING)
        value = _value(argument, left, given) if value is _MISSING else value
        if isinstance(value, Tensor) and argument.kind.endswith("[]"):
            value = [value]
        if value is _MISSING:
            return None
        taken.append((argument, value))
    if left:
        return None
    kwargs = {
        argument.name: value
        for argument, value in taken
        if argument.kwarg_only and not _is_default(argument, value)
    }
    args = [(argument, value) for argument, value in taken if not argument.kwarg_only]
    while args and _is_default(*args[-1]):
        args.pop()
    return tuple(value for _, value in args), kwargs


def _is_default(argument: Argument, value: Any) -> bool:
    default = argument.default_value
    if not argument.has_default_value() or isinstance(value, Tensor):
        return False
    return value is default or bool(value == default)


def _value(argument: Argument, left: list[Any], given: Mapping[str, Any]) -> Any:
    """Return what an argument is, of the operands that are left and of what was given by name."""
    kind = argument.kind
    if kind.startswith("Tensor") and kind.endswith("[]"):
        taken, left[:] = [operand for operand in left if isinstance(operand, Tensor)], []
        return taken
    if argument.takes_tensors:
        optional = kind.endswith("?")
        if (
            optional
            and argument.name in given
            and not any(given[argument.name] is operand for operand in left)
        ):
            return None
        # A number may stand for any tensor but the first.
        if left and (isinstance(left[0], Tensor) or argument.name != "self"):
            return left.pop(0)
        return None if optional else _MISSING
    if kind.startswith("Scalar") and left and not isinstance(left[0], Tensor):
        return left.pop(0)
    value = given.get(argument.name, _MISSING)
    if isinstance(value, Tensor):
        return _MISSING
    if value is not _MISSING:
        if "[" not in kind or value is None:
            return value
        size = kind[kind.index("[") + 1 : kind.index("]")]
        if kind.startswith("bool"):
            return [bool(one) for one in value]
        return list(value) if isinstance(value, (list, tuple)) else [value] * int(size or 1)
    if argument.has_default_value():
        return argument.default_value
    if kind in ("Scalar", "Tensor"):
        return _MISSING
    return [] if "[" in kind else False if kind == "bool" else None
