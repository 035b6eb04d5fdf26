"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ..._rushlight import Tensor, cat


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements of the parameters, one after the other.

    >>> import rushlight as torch
    >>> torch.nn.utils.parameters_to_vector([torch.zeros(2), torch.ones(1, 1)])
    tensor([0., 0., 1.])
    """
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters show parts of the vector.

    >>> import rushlight as torch
    >>> x = torch.zeros(2, 1)
    >>> torch.nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0]), [x])
    >>> x
    tensor([[1.],
            [2.]])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {_name(vec)}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end


def _name(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
