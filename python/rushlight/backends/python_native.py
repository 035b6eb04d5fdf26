"""Languages in which kernels for devices are written: none is used here."""

from __future__ import annotations

__all__ = ["all_dsls", "available_dsls", "get_dsl_operations"]

all_dsls: list[str] = ["cutedsl", "triton"]
available_dsls: list[str] = []


def get_dsl_operations(dsl_name: str) -> list[str]:
    """Return the operations that are written in a language: none."""
    if dsl_name not in all_dsls:
        raise ValueError(f"Unknown DSL: {dsl_name}")
    return []
