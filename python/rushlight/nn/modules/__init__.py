"""Layers, losses, activations and what they are made of, a file a family; `nn` has all of them."""
