"""A file a target. `program(dice)` is the source of a program, made with the numbers that `dice` throws."""
