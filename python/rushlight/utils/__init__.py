"""Helpers around training that torch keeps in its `utils`."""
