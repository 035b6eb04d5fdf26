"""Trees of containers under the name by which torch has them of `optree`. Here they are those of `_pytree`.

As in torch, that package has to be there, for whoever asks in this way whether it is.
"""

from importlib.util import find_spec

from ._pytree import (
    Context,
    LeafSpec,
    PyTree,
    TreeSpec,
    is_namedtuple_class,
    is_namedtuple_instance,
    key_get,
    keystr,
    register_pytree_node,
    tree_all,
    tree_all_only,
    tree_any,
    tree_any_only,
    tree_flatten,
    tree_flatten_with_path,
    tree_is_leaf,
    tree_iter,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_map_only_,
    tree_map_with_path,
    tree_structure,
    tree_unflatten,
    treespec_dumps,
    treespec_loads,
    treespec_pprint,
)
from ._pytree import _broadcast_to_and_flatten as broadcast_to_and_flatten

__all__ = [
    "Context",
    "LeafSpec",
    "PyTree",
    "TreeSpec",
    "broadcast_to_and_flatten",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "key_get",
    "keystr",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]

if find_spec("optree") is None:
    raise ImportError(
        "torch.utils._cxx_pytree depends on `optree>=0.13.0`, which is an optional dependency of PyTorch. "
        "To use it, please upgrade your optree package via `python3 -m pip install --upgrade optree`"
    )

PyTreeSpec = TreeSpec
