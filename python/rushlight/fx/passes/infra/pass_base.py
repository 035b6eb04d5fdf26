"""A pass: what changes a graph, between checks of what it wants and what it leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...graph_module import GraphModule

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """The module that a pass leaves, and whether it has changed it."""

    graph_module: GraphModule
    modified: bool


class PassBase:
    """Calls `requires`, then `call`, then `ensures`: who derives says what they do."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        """Check, change, check."""
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Change the graph."""
        raise NotImplementedError

    def requires(self, graph_module: GraphModule) -> None:
        """Refuse a graph that the pass cannot change."""

    def ensures(self, graph_module: GraphModule) -> None:
        """Refuse what the pass has made of it."""
