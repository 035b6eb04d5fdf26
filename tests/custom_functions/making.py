"""What tests of functions of one's own start with."""

import rushlight as torch
from rushlight.autograd import Function


def leaf(*values):
    return torch.tensor([float(value) for value in values], requires_grad=True)


def function(forward, backward=None, **attributes):
    """A class of functions from its methods."""
    attributes["forward"] = staticmethod(forward)
    if backward is not None:
        attributes["backward"] = staticmethod(backward)
    return type(Function)("Made", (Function,), attributes)
