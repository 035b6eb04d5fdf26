"""Setting what autograd computes against finite differences: element by element, or along directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import Generator, Tensor, rand
from . import _messages as messages
from ._tensors import GradcheckError, close, is_float, is_zero, requires_grad
from .analytical import backward_jacobians, forward_jacobians
from .numerical import numerical_jacobians, numerical_products

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NamedTuple

    # Of a real tensor one, of a complex one two: for its parts.
    Directions = tuple[Tensor, ...]

    class Setting(NamedTuple):
        """What is tested, and how exactly."""

        func: Callable[..., Any]
        inputs: tuple[Any, ...]
        results: tuple[Any, ...]
        outputs: tuple[Tensor, ...]
        eps: float
        atol: float
        rtol: float
        nondet_tol: float
        check_dtypes: bool
        # Which of the outputs, or forward of the inputs, are parts of complex ones; and which part it is.
        complex: tuple[int, ...] = ()
        part: str = ""

else:
    from collections import namedtuple

    Setting = namedtuple(
        "Setting",
        "func inputs results outputs eps atol rtol nondet_tol check_dtypes complex part",
        defaults=((), ""),
    )

_ZERO = "Numerical gradient for function expected to be zero"


def elements(setting: Setting, forward: bool) -> None:
    """Compare every element of every Jacobian."""
    numerical = numerical_jacobians(setting.func, setting.inputs, setting.results, eps=setting.eps)
    if not setting.outputs:
        if not all(is_zero(matrix) for row in numerical for matrix in row):
            raise GradcheckError(_ZERO)
        return
    if forward:
        found: Any = forward_jacobians(
            setting.func, setting.inputs, setting.results, check_dtypes=setting.check_dtypes
        )
        floats = [output for output in setting.results if is_float(output)]
        places = [place for place, output in enumerate(floats) if output.requires_grad]
    else:
        places = _recorded(setting.results)
    for output, place in enumerate(places):
        if not forward:
            analytical = backward_jacobians(
                setting.inputs, setting.outputs[output], setting.nondet_tol, setting.check_dtypes
            )
        for number, row in enumerate(numerical):
            one = found[number][place] if forward else analytical[number]
            if not close(one, row[place], setting.rtol, setting.atol):
                raise GradcheckError(_mismatch(setting, one, row[place], output, number, forward))


def _mismatch(
    setting: Setting, analytical: Tensor, numerical: Tensor, output: int, number: int, forward: bool
) -> str:
    part = setting.part if (number if forward else output) in setting.complex else ""
    return messages.mismatch(analytical, numerical, output, number, forward, part)


def _recorded(results: tuple[Any, ...]) -> list[int]:
    """Where, among the outputs of floating-point type, those with a gradient are."""
    floats = [output for output in results if is_float(output)]
    return [place for place, output in enumerate(floats) if output.requires_grad]


def directions(setting: Setting, forward: bool) -> None:
    """Compare the Jacobians along one random direction an input, and one an output unless `forward`."""
    generator = Generator()
    tensors = [tensor for tensor in setting.inputs if requires_grad(tensor)]
    places = [place for place, tensor in enumerate(setting.inputs) if requires_grad(tensor)]
    inward = [directions_of(tensor, generator) for tensor in tensors]
    floats = [place for place, output in enumerate(setting.results) if is_float(output)]
    numerical = []
    for place, vector in zip(places, inward, strict=True):
        slopes = numerical_products(setting.func, place, setting.inputs, vector, setting.eps)
        numerical.append([slopes[output] for output in floats])
    if forward:
        along = [parts[0] for parts in inward]
        found = forward_jacobians(setting.func, setting.inputs, setting.results, along, setting.check_dtypes)
        for number, row in enumerate(numerical):
            for output, slope in enumerate(row):
                _check(setting, found[number][output], slope, output, number, inward[number], None)
        return
    outward = [direction(output, generator) for output in setting.outputs]
    if not setting.outputs and any(
        slope.numel() and bool(slope.abs().max() > setting.nondet_tol) for row in numerical for slope in row
    ):
        raise GradcheckError(_ZERO)
    pulled = [
        backward_jacobians(setting.inputs, output, setting.nondet_tol, setting.check_dtypes, weight)
        for output, weight in zip(setting.outputs, outward, strict=True)
    ]
    for number, row in enumerate(numerical):
        for output, place in enumerate(_recorded(setting.results)):
            slope = (outward[output] * row[place]).sum()
            analytical = _along(pulled[output][number].squeeze(1), inward[number])
            _check(setting, analytical, slope, output, number, inward[number], outward[output])


def _along(gradient: Tensor, parts: Directions) -> Tensor:
    """Return a gradient along a direction: both of a complex number's parts along theirs."""
    if len(parts) == 1:
        return gradient.dot(parts[0])
    gradient = gradient.resolve_conj()
    slope: Tensor = gradient.real.dot(parts[0]) + 1j * gradient.imag.dot(parts[1])
    return slope


def directions_of(tensor: Tensor, generator: Generator) -> Directions:
    """Return a direction of a tensor: two of a complex one, for its parts."""
    return tuple(direction(tensor, generator) for _ in range(2 if tensor.is_complex() else 1))


def direction(tensor: Tensor, generator: Generator) -> Tensor:
    """Return a random vector of length one with a component an element."""
    vector = rand(tensor.numel(), generator=generator).to(tensor.dtype.to_real())
    length: Tensor = vector.norm()
    return vector / length


def _check(
    setting: Setting,
    analytical: Tensor,
    numerical: Tensor,
    output: int,
    number: int,
    inward: Directions,
    outward: Tensor | None,
) -> None:
    # An element's tolerance times the sum of the weights with which the elements are added up.
    scale = sum(part.sum().item() for part in inward) * (1.0 if outward is None else outward.sum().item())
    if close(analytical, numerical, setting.rtol, setting.atol * scale):
        return
    forward = outward is None
    text = _mismatch(setting, analytical, numerical, output, number, forward)
    raise GradcheckError(text + _slowly(setting, output, number, forward))


def _slowly(setting: Setting, output: int, number: int, forward: bool) -> str:
    """Compare element by element, and tell how that went."""
    rows = numerical_jacobians(setting.func, setting.inputs, setting.outputs, eps=setting.eps)
    numerical = rows[number][output]
    if forward:
        analytical = forward_jacobians(setting.func, setting.inputs, setting.results)[number][output]
    else:
        everything = backward_jacobians(setting.inputs, setting.outputs[output], float("inf"), False)
        analytical = everything[number]
    difference = (numerical - analytical).abs().max()
    text = messages.SLOWLY.format(numerical=numerical, analytical=analytical, difference=difference)
    return text + messages.FAST_ONLY if close(analytical, numerical, setting.rtol, setting.atol) else text
