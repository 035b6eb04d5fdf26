"""torch, as rushlight stands in for it."""

import sys

del sys.modules[__name__]  # It would be taken for torch itself.

import rushlight  # noqa: E402

rushlight.as_torch()
