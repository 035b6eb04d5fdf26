"""Functions of functions: derivatives and batching of whatever computes with tensors.

>>> import rushlight as torch
>>> torch.func.grad(lambda x: x.sin())(torch.tensor(0.0))
tensor(1.)
"""

from .debugging import debug_unwrap
from .jacobians import hessian, jacfwd, jacrev
from .jvp import jvp
from .linearized import linearize
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .mutations import functionalize
from .rearrange import rearrange
from .reverse import grad, grad_and_value, vjp
from .vmap import vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
