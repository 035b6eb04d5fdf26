"""What stands in files of tensors, and by which names."""
