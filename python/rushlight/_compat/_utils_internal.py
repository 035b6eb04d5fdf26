"""Where programs ask for files of the package, and for a folder that they may write to."""

from __future__ import annotations

import os
import tempfile

__all__ = ["get_file_path", "get_file_path_2", "get_writable_path"]

IS_FBSOURCE = False
TEST_MASTER_ADDR, TEST_MASTER_PORT = "127.0.0.1", 29500
torch_parent = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def get_file_path(*path_components: str) -> str:
    """Return the path of a file beside the package."""
    return os.path.join(torch_parent, *path_components)


def get_file_path_2(*path_components: str) -> str:
    """Return the path of a file."""
    return os.path.join(*path_components)


def get_writable_path(path: str) -> str:
    """Return a folder, or one of its name among files that do not last, if this may not be written to."""
    return path if os.access(path, os.W_OK) else tempfile.mkdtemp(suffix=os.path.basename(path))
