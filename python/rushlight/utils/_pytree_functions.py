"""How the containers of Python are taken apart and put together, as functions by torch's names.

Libraries register classes of their own with them.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

from ._pytree_nodes import SUPPORTED_NODES

__all__: list[str] = []

_CLASSES: dict[str, Any] = {
    "tuple": tuple,
    "list": list,
    "dict": dict,
    "namedtuple": namedtuple,
    "ordereddict": OrderedDict,
    "defaultdict": defaultdict,
    "deque": deque,
}

for _name, _class in _CLASSES.items():
    _node = SUPPORTED_NODES[_class]
    globals()[f"_{_name}_flatten"] = _node.flatten_fn
    globals()[f"_{_name}_unflatten"] = _node.unflatten_fn
    globals()[f"_{_name}_flatten_with_keys"] = _node.flatten_with_keys_fn

_odict_flatten = globals()["_ordereddict_flatten"]
_odict_unflatten = globals()["_ordereddict_unflatten"]
