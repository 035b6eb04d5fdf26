"""functorch, which is part of torch's distribution."""

import sys
from importlib import import_module

import_module("torch")  # From now on, functorch is found elsewhere.
del sys.modules[__name__]
import_module("functorch")
