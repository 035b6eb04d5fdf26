"""Small programs with sparse tensors and with tensors without numbers, and what they print, in tables that are
recorded with the library whose behaviour is promised: `PY programs.py`, with a Python that has torch, writes the
answers anew.
"""

import warnings
from pathlib import Path

TABLES = [Path(__file__).with_name(name) for name in ("sparse.txt", "matrices.txt", "meta.txt")]
INDENT = "    "


def names(torch):
    """What programs find: a tensor `s` of coordinates, `c` the same in order, `u` with repetitions, `h` whose values
    are vectors, `r` by rows, `d`, which is dense, and `m`, which has no numbers. `V`, `S`, `E`, `L` make some anew, to be differentiated.
    """

    def values():
        return torch.tensor([3.0, 4.0, 5.0], requires_grad=True)

    def sparse(numbers):
        return torch.sparse_coo_tensor([[1, 0, 1], [2, 0, 0]], numbers, (2, 3))

    def table():
        made = torch.nn.Embedding(5, 2, sparse=True)
        made.weight.data.copy_(torch.arange(10.0).view(5, 2))
        return made

    def step(rows, optimizer):
        optimizer.zero_grad()
        rows(torch.tensor([1, 3, 1])).pow(2).sum().backward()
        optimizer.step()

    found = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    return {
        "torch": torch,
        "s": found,
        "c": found.coalesce(),
        "u": torch.sparse_coo_tensor([[1, 0, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3)),
        "h": torch.sparse_coo_tensor([[0, 1, 1]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], (3, 2)),
        "r": found.to_sparse_csr(),
        "d": torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0]]),
        "m": torch.empty(2, 3, device="meta"),
        "D": torch.tensor([[0.0, 1.0], [2.0, 3.0], [0.0, 4.0]]),
        "W": torch.arange(6.0).view(2, 3),
        "V": values,
        "S": sparse,
        "E": table,
        "L": step,
    }


def answer(torch, source):
    """What a program prints, or the error that it ends with."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = names(torch)
        *before, last = source.split(";")
        try:
            for statement in before:
                exec(statement, known)
            text = repr(eval(last, known))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            if "Could not run" in text:
                text = text.partition(" backend.")[0]
    return text.replace("rushlight", "torch").replace("\n", "\\n")


def rows():
    """The programs with what they print."""
    found = []
    for table in TABLES:
        lines = [line for line in table.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
        found += zip(lines[::2], (line.strip() for line in lines[1::2]), strict=True)
    return found


def record():
    """Write the answers below the programs."""
    import torch

    for table in TABLES:
        lines = []
        for line in table.read_text(encoding="utf-8").splitlines():
            if not line.startswith(INDENT):
                lines.append(line)
                if line and line[0] != "#":
                    lines.append(INDENT + answer(torch, line))
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
