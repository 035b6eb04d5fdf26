"""What programs say of new memory that nobody has written to: it has the numbers that were there.

>>> import rushlight as torch
>>> torch.utils.deterministic.fill_uninitialized_memory
True
"""

fill_uninitialized_memory = True
