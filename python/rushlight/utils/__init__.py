"""What is useful around tensors and is not about tensors."""
