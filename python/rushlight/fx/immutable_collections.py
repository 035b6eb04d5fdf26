"""Lists and dictionaries that nobody changes: the arguments of nodes, of which the graph keeps account."""

from __future__ import annotations

from typing import Any, NoReturn

from ..utils._pytree import register_pytree_node

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are attempting to modify the "
        f"kwargs "
        "or args of a torch.fx.Node object,\ninstead create a new copy of it and assign the copy to the "
        "node:\n    new_args = ...  # copy and mutate args\n    node.args = new_args"
    )


class immutable_list(list[Any]):
    """A list that nobody changes."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = append = clear = _refuse
    extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return immutable_list, (list(self),)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))


class immutable_dict(dict[Any, Any]):
    """A dictionary that nobody changes."""

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = _refuse
    setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return immutable_dict, (dict(self),)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


register_pytree_node(
    immutable_list,
    lambda node: (list(node), None),
    lambda children, _: immutable_list(children),
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
)
register_pytree_node(
    immutable_dict,
    lambda node: (list(node.values()), list(node)),
    lambda children, keys: immutable_dict(zip(keys, children, strict=True)),
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
)
