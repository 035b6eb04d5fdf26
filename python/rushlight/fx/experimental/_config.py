"""Settings of questions about sizes that are not known. They are kept, and change nothing."""

from __future__ import annotations

from ..._patching import patching

meta_nonzero_assume_all_nonzero = False
print_size_oblivious_failures = False
translation_validation = False
use_duck_shape = True

patch = patching(globals())
