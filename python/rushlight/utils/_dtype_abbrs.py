"""Short names of element types, as logs have them."""

from .._compat._C._build import _get_all_dtypes

__all__: list[str] = []

dtype_abbrs = {one: one.abbr for one in _get_all_dtypes()}
