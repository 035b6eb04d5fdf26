"""Seeing the graph: what was recorded, what memory it keeps, and who keeps a tensor alive."""

from .graph import Graph, graph
from .holders import Holders, why_alive
from .memory import Memory, memory
from .nodes import Edge, Node

__all__ = [
    "Edge",
    "Graph",
    "Holders",
    "Memory",
    "Node",
    "graph",
    "memory",
    "why_alive",
]
