"""Complex numbers part by part: functions of real numbers, which is what finite differences know.

A complex output is looked at as its real part, then as its imaginary part. Forward, a complex input is what
its real and its imaginary part make, of which one moves at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, imag, real
from ._tensors import as_tuple, differentiable
from .compare import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def settings(setting: Setting, forward: bool) -> Iterator[Setting]:
    """Yield what is to be compared in place of something complex: imaginary parts, then real ones."""
    of_parts = _of_inputs(setting) if forward else _of_outputs(setting)
    if not of_parts:
        yield setting
        return
    for part in ("imaginary", "real"):
        func, inputs, places = of_parts(part)
        results = func(*inputs)
        yield setting._replace(
            func=func,
            inputs=inputs,
            results=as_tuple(results),
            outputs=differentiable(results),
            complex=places,
            part=part,
        )


def _is_complex(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_complex()


def _of_outputs(setting: Setting) -> Any:
    if not any(map(_is_complex, setting.results)):
        return None
    places = tuple(place for place, output in enumerate(setting.outputs) if output.is_complex())

    def of(part: str) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]:
        taken = imag if part == "imaginary" else real

        def func(*inputs: Any) -> tuple[Any, ...]:
            outputs = as_tuple(setting.func(*inputs))
            return tuple(taken(output) if output.is_complex() else output for output in outputs)

        return func, setting.inputs, places

    return of


def _of_inputs(setting: Setting) -> Any:
    places = tuple(place for place, tensor in enumerate(setting.inputs) if _is_complex(tensor))
    if not places:
        return None

    def of(part: str) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]:
        imaginary = part == "imaginary"

        def func(*inputs: Any) -> tuple[Any, ...]:
            together = list(inputs)
            for place in places:
                moving, whole = together[place], setting.inputs[place]
                # The other part is that of the input, so that the function sees what it can take.
                together[place] = whole.real + moving * 1j if imaginary else moving + whole.imag * 1j
            return as_tuple(setting.func(*together))

        taken = imag if imaginary else real
        inputs = tuple(taken(tensor) if _is_complex(tensor) else tensor for tensor in setting.inputs)
        return func, inputs, places

    return of
