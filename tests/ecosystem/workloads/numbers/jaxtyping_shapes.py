"""Annotations of shapes and types that are checked."""

import torch
from jaxtyping import Float, Int, jaxtyped
from typeguard import typechecked

Left, Right, Product = Float[torch.Tensor, "a b"], Float[torch.Tensor, "b c"], Float[torch.Tensor, "a c"]


@jaxtyped(typechecker=typechecked)
def multiply(x: Left, y: Right) -> Product:
    return x @ y


def work():
    found = multiply(torch.ones(2, 3), torch.ones(3, 4))
    try:
        multiply(torch.ones(2, 3), torch.ones(2, 4))
        refused = False
    except Exception:
        refused = True
    numbers = Int[torch.Tensor, "..."]
    kinds = [isinstance(torch.zeros(2, dtype=dtype), numbers) for dtype in (torch.int64, torch.float32)]
    return {"found": found, "refused": refused, "kinds": kinds}
