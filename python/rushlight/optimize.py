"""Minima found by SciPy, with gradients and products with Hessians from autograd.

>>> import rushlight as torch
>>> def rosenbrock(x):
...     return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
>>> found = torch.optimize.minimize(rosenbrock, torch.zeros(3).double())  # doctest: +SKIP
>>> found.x  # doctest: +SKIP
tensor([1.0000, 1.0000, 1.0000], dtype=torch.float64)
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _rushlight as native
from ._rushlight import Tensor
from .autograd.differentiate import grad
from .autograd.grad_mode import enable_grad
from .utils._pytree import tree_flatten, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Result", "minimize"]

# What each of SciPy's methods can use of the derivatives: the others would warn of it.
_WITHOUT_GRADIENT = {"nelder-mead", "powell", "cobyla", "cobyqa"}
_WITH_PRODUCTS = {"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"}
_WITH_HESSIAN = {"dogleg", "trust-exact"}


@dataclass
class Result:
    """Where a minimum was found, and how."""

    x: Any
    fun: float
    success: bool
    message: str
    method: str
    steps: int
    evaluations: int
    gradient: Any
    seconds: float
    history: list[float] = field(repr=False, default_factory=list)
    scipy: Any = field(repr=False, default=None)

    def __repr__(self) -> str:
        largest = max(
            (float(g.abs().max()) for g in tree_flatten(self.gradient)[0] if g.numel()), default=0.0
        )
        state = "converged" if self.success else "did not converge"
        return (
            f"minimum {self.fun:.6g} by {self.method}: {state} ({self.message})\n"
            f"  {self.steps} steps, {self.evaluations} evaluations, {self.seconds:.3g} s, "
            f"largest slope {largest:.2g}\n"
            f"  x: {_indented(repr(self.x))}"
        )


def _indented(text: str) -> str:
    return text.replace("\n", "\n     ")


class _Function:
    """A function of tensors as one of a vector of doubles, with its derivatives."""

    def __init__(self, fun: Callable[..., Any], start: Any, args: tuple[Any, ...]) -> None:
        self.fun, self.args = fun, args
        leaves, self.spec = tree_flatten(start)
        self.like = [leaf.detach() if isinstance(leaf, Tensor) else native.as_tensor(leaf) for leaf in leaves]
        wrong = next((leaf.dtype for leaf in self.like if not leaf.dtype.is_floating_point), None)
        if wrong is not None:
            raise TypeError(f"minimize: x0 must be of real floating-point numbers, not {wrong}")
        self.sizes = [leaf.numel() for leaf in self.like]
        self.evaluations = 0
        self.start = self.vector(self.like)

    def vector(self, leaves: Sequence[Tensor]) -> Any:
        """Return tensors as one array of doubles."""
        if not leaves:
            raise ValueError("minimize: x0 has no tensor")
        return native.cat([leaf.detach().double().reshape(-1) for leaf in leaves]).numpy()

    def leaves(self, vector: Any, requires_grad: bool = False) -> list[Tensor]:
        """Return the tensors that a vector says."""
        parts = native.tensor(vector, dtype=native.float64).split(self.sizes)
        made = [part.reshape(one.shape).to(one.dtype) for part, one in zip(parts, self.like, strict=True)]
        return [one.detach().requires_grad_() for one in made] if requires_grad else made

    def tree(self, leaves: Sequence[Tensor]) -> Any:
        """Return tensors in the structure that was given."""
        return tree_unflatten(leaves, self.spec)

    def recorded(self, vector: Any) -> tuple[list[Tensor], Tensor]:
        """Return tensors, and the value of the function there, with history."""
        leaves = self.leaves(vector, True)
        with enable_grad():
            value = self.fun(self.tree(leaves), *self.args)
        if not isinstance(value, Tensor) or value.numel() != 1:
            shown = (
                f"a tensor of shape {tuple(value.shape)}"
                if isinstance(value, Tensor)
                else type(value).__name__
            )
            raise ValueError(f"minimize: the function must return a tensor of one number, not {shown}")
        return leaves, value.reshape(())

    def slopes(self, value: Tensor, leaves: list[Tensor], again: bool = False) -> list[Tensor]:
        """Return the gradient of a value, zeros where it does not depend on a tensor."""
        if not value.requires_grad:
            return [native.zeros_like(leaf) for leaf in leaves]
        found = grad(value, leaves, create_graph=again, allow_unused=True)
        return [native.zeros_like(b) if a is None else a for a, b in zip(found, leaves, strict=True)]

    def value(self, vector: Any) -> float:
        """Return the value alone."""
        self.evaluations += 1
        return float(self.recorded(vector)[1].detach())

    def value_and_gradient(self, vector: Any) -> tuple[float, Any]:
        """Return the value and the gradient."""
        self.evaluations += 1
        leaves, value = self.recorded(vector)
        return float(value.detach()), self.vector(self.slopes(value, leaves))

    def product(self, vector: Any, direction: Any) -> Any:
        """Return the Hessian times a direction."""
        leaves, value = self.recorded(vector)
        slopes = self.slopes(value, leaves, again=True)
        along = native.zeros(())
        for slope, part in zip(slopes, self.leaves(direction), strict=True):
            along = along + (slope * part).sum()
        return self.vector(self.slopes(along, leaves))

    def hessian(self, vector: Any) -> Any:
        """Return the Hessian, a row at a time."""
        leaves, value = self.recorded(vector)
        slopes = native.cat([slope.double().reshape(-1) for slope in self.slopes(value, leaves, again=True)])
        rows = [self.vector(self.slopes(slope, leaves, again=True)) for slope in slopes.unbind()]
        return native.stack([native.from_numpy(row) for row in rows]).numpy()

    def constraint(self, given: Any) -> Any:
        """Return a constraint in the way of SciPy, with its slopes if it is a function of tensors."""
        if not isinstance(given, dict) or "jac" in given:
            return given
        fun, args = given["fun"], tuple(given.get("args", ()))

        def values(vector: Any, requires_grad: bool = True) -> tuple[list[Tensor], Tensor]:
            leaves = self.leaves(vector, requires_grad)
            with enable_grad():
                return leaves, native.as_tensor(fun(self.tree(leaves), *args)).reshape(-1)

        def jacobian(vector: Any) -> Any:
            leaves, found = values(vector)
            rows = [self.vector(self.slopes(one, leaves, again=True)) for one in found.unbind()]
            return native.stack([native.from_numpy(row) for row in rows]).numpy()

        plain = {name: value for name, value in given.items() if name != "args"}
        return {**plain, "fun": lambda vector: values(vector)[1].detach().double().numpy(), "jac": jacobian}

    def bounds(self, given: Any) -> Any:
        """Return bounds as SciPy has them: a pair holds for all; otherwise in the structure of `x0`."""
        if given is None:
            return None
        if isinstance(given, tuple) and len(given) == 2:
            sides = [self._side(side, infinite) for side, infinite in zip(given, (-1, 1), strict=True)]
            from scipy.optimize import Bounds  # type: ignore[import-untyped]

            return Bounds(*sides)
        return given

    def _side(self, given: Any, sign: int) -> Any:
        """Return one bound of every number."""
        if given is None or isinstance(given, (int, float)):
            number = sign * float("inf") if given is None else float(given)
            return native.full((sum(self.sizes),), number, dtype=native.float64).numpy()
        leaves = [native.as_tensor(leaf) for leaf in tree_flatten(given)[0]]
        if len(leaves) != len(self.like):
            raise ValueError(f"minimize: bounds of {len(leaves)} tensors for x0 of {len(self.like)}")
        return self.vector([leaf.expand(one.shape) for leaf, one in zip(leaves, self.like, strict=True)])


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str | None = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[[Any], Any] | None = None,
    options: dict[str, Any] | None = None,
    progress: bool = False,
) -> Result:
    """Find a minimum of a function of tensors near `x0`, by `scipy.optimize.minimize`.

    `x0` is a tensor, or a list, tuple or dictionary of tensors; `fun` is called with the same, and returns a
    tensor of one number. Every method of SciPy gets what it can use: the gradient, products of the Hessian
    with directions, or the Hessian itself. `bounds` is a pair of least and greatest values, each a number,
    None, or tensors as `x0` has them. A constraint is a dictionary as SciPy has it, whose function is one of
    tensors: its slopes come from autograd too. `callback` is called with `x` after every step, and ends the
    search by returning True; `progress` writes a line about each step to standard error.

    >>> import rushlight as torch
    >>> found = torch.optimize.minimize(lambda x: ((x - 3) ** 2).sum(), torch.zeros(2))  # doctest: +SKIP
    >>> found.x  # doctest: +SKIP
    tensor([3., 3.])
    """
    try:
        from scipy.optimize import minimize as search
    except ImportError as error:
        raise ImportError("rushlight.optimize.minimize stands on SciPy: `pip install scipy`") from error
    wrapped = _Function(fun, x0, args)
    listed = constraints if isinstance(constraints, (list, tuple)) else [constraints]
    if method is None:
        method = "SLSQP" if listed else "BFGS" if bounds is None else "L-BFGS-B"
    name = method.lower()
    given: dict[str, Any] = {"jac": name not in _WITHOUT_GRADIENT}
    if name in _WITH_PRODUCTS:
        given["hessp"] = wrapped.product
    elif name in _WITH_HESSIAN:
        given["hess"] = wrapped.hessian
    if bounds is not None:
        given["bounds"] = wrapped.bounds(bounds)
    if listed:
        given["constraints"] = [wrapped.constraint(one) for one in listed]
    evaluate = wrapped.value_and_gradient if given["jac"] else wrapped.value
    last: list[float] = []
    history: list[float] = []

    def remembered(vector: Any) -> Any:
        answer = evaluate(vector)
        last[:] = [answer[0] if isinstance(answer, tuple) else answer]
        return answer

    def after_step(vector: Any, *state: Any) -> bool:
        # `trust-constr` says more than where it is.
        value = float(state[0].fun) if state else last[0]
        history.append(value)
        if progress:
            print(
                f"step {len(history):>5}  {value:.8g}  {time.perf_counter() - began:.2f} s", file=sys.stderr
            )
        if callback is not None and callback(wrapped.tree(wrapped.leaves(vector))) is True:
            if name == "trust-constr":
                return True
            raise StopIteration
        return False

    began = time.perf_counter()
    found = search(
        remembered, wrapped.start, method=method, tol=tol, callback=after_step, options=options, **given
    )
    seconds = time.perf_counter() - began
    leaves, value = wrapped.recorded(found.x)
    return Result(
        x=wrapped.tree([leaf.detach() for leaf in leaves]),
        fun=float(found.fun),
        success=bool(found.success),
        message=str(found.message),
        method=method,
        steps=int(found.get("nit", len(history))),
        evaluations=wrapped.evaluations,
        gradient=wrapped.tree(wrapped.slopes(value, leaves)),
        seconds=seconds,
        history=history,
        scipy=found,
    )
