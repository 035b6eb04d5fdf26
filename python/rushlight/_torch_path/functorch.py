"""`functorch`, a part of torch's distribution, where processes look for it."""

import sys

import torch

del sys.modules[__name__]

import functorch  # noqa: E402, F401
