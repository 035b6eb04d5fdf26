"""Passes run in an order that constraints allow, until nothing changes."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any

from ...graph_module import GraphModule
from .pass_base import PassResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ....nn.modules.module import Module

    Pass = Callable[..., Any]
    Constraint = Callable[[Pass, Pass], bool]

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]


def _name(one: Any) -> str:
    return str(one.__name__ if inspect.isfunction(one) else type(one).__name__)


def pass_result_wrapper(fn: Pass | None) -> Pass | None:
    """Return a pass that says what it has made, of one that changes what it is given."""
    if fn is None:
        return None

    @wraps(fn)
    def wrapped(gm: Any) -> PassResult | None:
        result: Any = fn(gm)
        if result is None:
            return PassResult(gm, True)
        if isinstance(result, PassResult):
            return result
        return PassResult(result, True) if hasattr(result, "named_modules") else None

    wrapped.__name__ = _name(fn)
    return wrapped


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """Return the constraint that one pass comes before another."""

    def depends_on(a: Pass, b: Pass) -> bool:
        return a != that or b != this

    return depends_on


def _validate_pass_schedule_constraint(constraint: Constraint, passes: Sequence[Pass]) -> None:
    """Refuse passes in an order that a constraint forbids."""
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :]):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} "
                    f"and {b} at index {j} in pass list."
                )


def _topological_sort_passes(passes: list[Pass], constraints: Sequence[Constraint]) -> list[Pass]:
    """Return passes in an order that constraints allow."""
    if not constraints:
        return passes
    before = {
        a: [b for b in passes if a != b for allowed in constraints if not allowed(a, b)] for a in passes
    }
    order: list[Pass] = []
    ready = [a for a in passes if not before[a]]
    while ready:
        done = ready.pop(0)
        order.append(done)
        for a in passes:
            if done in before[a]:
                before[a] = [b for b in before[a] if b != done]
                if not before[a]:
                    ready.append(a)
    if left := [a for a in passes if before[a]]:
        raise RuntimeError(f"Circular dependency detected within the following passes: {left}")
    return order


class PassManager:
    """Runs passes in turn, several times if they go on changing the graph.

    >>> import rushlight as torch
    >>> from rushlight.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper
    >>> def halve(gm):
    ...     gm.graph.find_nodes(op="call_function", target=torch.add)[0].target = torch.sub
    >>> traced = torch.fx.symbolic_trace(lambda x: torch.add(x, 1))
    >>> PassManager([pass_result_wrapper(halve)])(traced).graph_module(torch.tensor(3))
    tensor(2)
    """

    passes: list[Pass]
    constraints: list[Constraint]
    _validated = False
    steps = 1

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes, self.constraints = passes or [], constraints or []
        self.steps = steps or self.steps
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def add_pass(self, _pass: Pass) -> None:
        """Run one more."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Keep to one more."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Refuse an order that is not allowed."""
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Find an order that is allowed."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], None]) -> None:
        """Have modules checked before the passes, and after each if that was asked for."""
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[method-assign,assignment]

    def check(self, module: Module) -> None:
        """Accept every module."""

    def __call__(self, module: Any) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        is_modified = False
        for _ in range(self.steps):
            has_changed = False
            for index, one in enumerate(self.passes):
                try:
                    result = self._run(one, module)
                except Exception as error:
                    before = [_name(other) for other in self.passes[:index]]
                    raise Exception(
                        f"An error occurred when running the '{_name(one)}' pass after the following passes: "
                        f"{before}"
                    ) from error
                module, has_changed = result.graph_module, has_changed or result.modified
            is_modified = is_modified or has_changed
            if not has_changed:
                break
        return PassResult(module, is_modified)

    def _run(self, one: Pass, module: Any) -> Any:
        result = one(module)
        if not hasattr(result, "graph_module"):
            raise TypeError(
                f"The result of the pass {_name(one)} should be type PassResult.Please wrap it with "
                "pass_result_wrapper()"
            )
        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        if self.run_checks_after_each_pass:
            self.check(result.graph_module)
        return result
