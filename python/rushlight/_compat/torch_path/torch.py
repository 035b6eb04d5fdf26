"""`torch`, where processes look for it that were started by one in which it is rushlight."""

import sys

del sys.modules[__name__]  # It would be taken for torch itself.

import rushlight  # noqa: E402

rushlight.as_torch()
