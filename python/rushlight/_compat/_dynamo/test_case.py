"""The class of test cases of what is compiled: torch's, with the compiler as new before and after each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["TestCase", "run_tests"]

_cases: Any = import_module("...testing._internal.common_utils", __package__)
run_tests = _cases.run_tests


class TestCase(_cases.TestCase):  # type: ignore[misc]
    """A test case that finds and leaves nothing compiled."""

    def setUp(self) -> None:
        """Forget what was compiled."""
        super().setUp()
        import_module("..._dynamo", __package__).reset()

    def tearDown(self) -> None:
        """Forget what was compiled."""
        import_module("..._dynamo", __package__).reset()
        super().tearDown()
