//! From results to Python objects.
