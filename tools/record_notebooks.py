"""Store what the reference library shows for every cell of the notebooks in examples/notebooks.

Run it with a Python that has PyTorch; tests/house/test_notebooks.py compares rushlight with what it recorded.
"""

from __future__ import annotations

import json
import sys

import torch
from notebook_runner import code_cells, notebook_paths, run


def main() -> None:
    sys.modules["rushlight"] = torch
    for path in notebook_paths():
        notebook = json.loads(path.read_text("utf-8"))
        outputs = iter(run(code_cells(path)))
        count = 0
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                cell["execution_count"] = count
                cell["outputs"] = next(outputs)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(f"{path.name}: {count} cells recorded with torch {torch.__version__}")


if __name__ == "__main__":
    main()
