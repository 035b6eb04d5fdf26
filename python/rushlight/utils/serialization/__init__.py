"""How files of tensors are written and read where the caller does not say: `config`."""

from . import config

__all__ = ["config"]
