"""Modules whose forward is computed again for backward, as programs with several processes name them."""
