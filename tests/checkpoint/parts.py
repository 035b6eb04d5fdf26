"""What the tests of checkpoints share: parts to compute, leaves to compute them of, both ways to do it."""

import pytest
import rushlight as torch

both = pytest.mark.parametrize("use_reentrant", [True, False], ids=["reentrant", "recorded"])


def leaf(*values):
    return torch.tensor(values or (0.3, -1.2, 2.0), dtype=torch.float64, requires_grad=True)


def body(x, y=None):
    z = x.sin().exp() * x
    return z if y is None else z * y.cos()


class Counted:
    """A function that counts its calls and how often it was computed to the end."""

    def __init__(self, function):
        self.function, self.calls, self.ends = function, 0, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        result = self.function(*args, **kwargs)
        self.ends += 1
        return result
