"""torch's inner names, which programs and libraries reach for. Nothing else of the package needs them.

`rushlight._C` and its like are found here: see `_lazy.by_former_names`.
"""
