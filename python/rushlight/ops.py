"""`torch.ops` as a module that can be imported from: the operators of `_ops`, which take its place."""

import sys

from ._ops import ops

sys.modules[__name__] = ops
