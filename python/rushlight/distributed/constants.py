"""How long operations between processes may take, unless something else is said."""

from ._stores import default_pg_timeout

__all__ = ["default_pg_timeout"]
