"""What of the compiler's work is logged: functions that are recorded, recorded anew, or not at all."""

from __future__ import annotations

from typing import Any

__all__ = ["getArtifactLogger", "set_logs", "warning_once"]


def set_logs(*, recompiles: bool = False, recompiles_verbose: bool = False, **artifacts: Any) -> None:
    """Say what is to be logged: why functions are recorded anew, or not at all; nothing else is."""
    from ...compiler.telling import show

    show(recompiles or recompiles_verbose)


def getArtifactLogger(module_qname: str, artifact_name: str) -> Any:
    """Return a logger of Python's."""
    import logging

    return logging.getLogger(f"{module_qname}.__{artifact_name}")


def warning_once(logger: Any, *args: Any, **kwargs: Any) -> None:
    """Log a warning, every text once."""
    if (key := (logger.name, args)) not in _said:
        _said.add(key)
        logger.warning(*args, **kwargs)


_said: set[Any] = set()
