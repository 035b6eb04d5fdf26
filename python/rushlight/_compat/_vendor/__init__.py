"""Libraries that torch carries along: what of them programs reach for."""
