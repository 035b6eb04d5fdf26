"""torch's words for every failure of the engine, a file a family, as in `src/error/`.

Nothing is imported here: a program that does not fail needs none of it.
"""
