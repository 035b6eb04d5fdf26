"""Runs one workload and prints what it found: `python calling.py NAME`, in a Python in which `torch` is something."""

import contextlib
import importlib.util
import json
import pathlib
import sys
import time
import warnings

# Where each stands, by its name: in a folder for what it is about.
WORKLOADS = {path.stem: path for path in (pathlib.Path(__file__).parent / "workloads").rglob("*.py")}


def plain(value):
    """Return tensors, arrays and numbers as what JSON has."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def main(name):
    warnings.simplefilter("ignore")
    spec = importlib.util.spec_from_file_location(name, WORKLOADS[name])
    module = importlib.util.module_from_spec(spec)
    # What libraries print is not what was found.
    with contextlib.redirect_stdout(sys.stderr):
        spec.loader.exec_module(module)
        import torch

        torch.set_num_threads(1)
        start = time.perf_counter()
        found = plain(module.work())
    print(json.dumps({"found": found, "seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main(sys.argv[1])
