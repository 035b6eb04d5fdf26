"""The former name of `run`: `python -m rushlight.distributed.launch --nproc-per-node 2 program.py`."""

from .run import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
