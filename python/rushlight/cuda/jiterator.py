"""Functions of elements that are compiled for devices, which are not there."""

from __future__ import annotations

from typing import Any, NoReturn

__all__: list[str] = []


class _JittedFunction:
    def __init__(self, code_string: str, return_by_ref: bool, num_outputs: int, **kwargs: Any) -> None:
        self.code_string, self.return_by_ref, self.num_outputs = code_string, return_by_ref, num_outputs
        self.kwargs_dict = kwargs

    def __call__(self, *tensors: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("Jiterator is only supported on CUDA and ROCm GPUs, none are available.")


def _create_jit_fn(code_string: str, **kwargs: Any) -> _JittedFunction:
    """Return a function of this source, which cannot be called here."""
    return _JittedFunction(code_string, False, 1, **kwargs)


def _create_multi_output_jit_fn(code_string: str, num_outputs: int, **kwargs: Any) -> _JittedFunction:
    """Return a function with several results of this source, which cannot be called here."""
    return _JittedFunction(code_string, True, num_outputs, **kwargs)
