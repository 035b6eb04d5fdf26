"""Functions of tensors that are written in Python, a file a family."""
