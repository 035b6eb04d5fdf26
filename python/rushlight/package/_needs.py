"""Which modules a source imports."""

from __future__ import annotations

import ast

__all__ = ["needs_of"]


def needs_of(source: str, module: str, is_package: bool) -> list[tuple[str, str | None]]:
    """Return the modules that a source imports, each with the name that it takes of it, if it takes one.

    What is imported below conditions and in functions counts too.
    """
    package = module if is_package else module.rpartition(".")[0]
    found: dict[tuple[str, str | None], None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.update({(alias.name, None): None for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            place = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                place = ".".join([*above, *([node.module] if node.module else [])])
            found.update({(place, None if alias.name == "*" else alias.name): None for alias in node.names})
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == "__import__" and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found[first.value, None] = None
    return list(found)
