"""What torch's references are made of, by its name; the operations here are made of their own kernels."""

from .. import _prims_common as utils
from .._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, RETURN_TYPE

__all__ = ["ELEMENTWISE_TYPE_PROMOTION_KIND", "RETURN_TYPE", "utils"]
