"""Functions of functions: derivatives and batching of whatever computes with tensors.

>>> import rushlight as torch
>>> torch.func.vmap(torch.dot)(torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
tensor([1., 4.])
"""

from .vmap import vmap

__all__ = ["vmap"]
