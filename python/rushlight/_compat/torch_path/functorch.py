"""`functorch`, a part of torch's distribution, where processes look for it."""

import sys
from importlib import import_module

import_module("torch")  # From now on, functorch is found elsewhere.
del sys.modules[__name__]
import_module("functorch")
