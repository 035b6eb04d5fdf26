"""Which modules are running: their forward, or what of backward belongs to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from .._rushlight import Tensor, _current_graph_task_id, _queue_callback, is_grad_enabled
from ..autograd.graph import register_multi_grad_hook
from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from ._pytree import tree_leaves

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from .._hooks import RemovableHandle
    from ..nn import Module

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """In the block, `parents` names the modules that are running, and `Global` beside them.

    A module is named by its class, and those in it by their places. It runs backward from the first gradient
    of its results to the last of its arguments.

    >>> import rushlight as torch
    >>> from rushlight.utils.module_tracker import ModuleTracker
    >>> class Show(torch.nn.Module):
    ...     def forward(self, x):
    ...         print(sorted(tracker.parents))
    ...         return x
    >>> with ModuleTracker() as tracker:
    ...     y = torch.nn.Sequential(Show())(torch.ones(2))
    ['Global', 'Sequential', 'Sequential.0']
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._known_modules: WeakKeyDictionary[Module, str] = WeakKeyDictionary()
        self._seen_modules: WeakSet[Module] = WeakSet()
        self._has_callback = False
        self._hooks: list[RemovableHandle] = []
        self._everywhere: tuple[RemovableHandle, ...] = ()

    @property
    def is_bw(self) -> bool:
        """Whether backward is running."""
        return _current_graph_task_id() != -1

    def __enter__(self) -> Self:
        self._everywhere = (
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after),
        )
        return self

    def __exit__(self, *exception: object) -> None:
        for handle in (*self._everywhere, *self._hooks):
            handle.remove()
        self._hooks.clear()

    def _get_mod_name(self, mod: Module) -> str:
        name = self._known_modules.setdefault(mod, type(mod).__name__)
        if mod not in self._seen_modules:
            for short, inner in mod.named_children():
                self._known_modules[inner] = f"{name}.{short}"
                self._get_mod_name(inner)
            self._seen_modules.add(mod)
        return name

    def _before(self, module: Module, args: Any) -> None:
        name = self._get_mod_name(module)
        self.parents.add(name)
        self._watch(args, lambda _: self.parents.discard(name))

    def _after(self, module: Module, args: Any, result: Any) -> None:
        name = self._get_mod_name(module)
        self.parents.discard(name)

        def begin(_: Tensor) -> None:
            self._forget_in_the_end()
            self.parents.add(name)

        self._watch(result, begin, mode="any")

    def _watch(self, values: Any, fn: Callable[[Any], Any], **mode: Any) -> None:
        """Call `fn` with the gradients of the tensors among `values`."""
        tensors = [one for one in tree_leaves(values) if isinstance(one, Tensor) and one.requires_grad]
        if tensors and is_grad_enabled():
            self._hooks.append(register_multi_grad_hook(tensors, fn, **mode))

    def _forget_in_the_end(self) -> None:
        """When backward is over no module runs, also none whose arguments got no gradient."""
        if self._has_callback:
            return

        def forget() -> None:
            self.parents = {"Global"}
            self._has_callback = False

        _queue_callback(forget)
        self._has_callback = True
