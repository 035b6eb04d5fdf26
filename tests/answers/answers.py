"""Expressions and what comes of them, in tables that are recorded with the library whose behaviour is promised.

`PY answers.py table.txt …`, with a Python that has torch, records what stands in the tables anew.
"""

import sys
import warnings
from pathlib import Path

INDENT = "    "
# Warnings that come once in the life of a process: whether they come here depends on what ran before.
ONCE = (
    "Casting complex values",
    "torch.chain_matmul is",
    "torch.triangular_solve is",
    "The reduce argument",
    "Using torch.cross",
    "torch.meshgrid:",
    "index_reduce() is in beta",
    "Sparse invariant checks are",
)


def shown(value):
    """What there is to see of a result: values, shape, strides, element type, and the node that made it."""
    if hasattr(value, "grad_fn"):
        kind = str(value.dtype).rpartition(".")[2]
        node = value.requires_grad if value.grad_fn is None else type(value.grad_fn).__name__
        elements = [rounded(element) for element in value.detach().flatten().tolist()]
        return f"{elements} {tuple(value.shape)} {value.stride()} {kind} {node}"
    if isinstance(value, (list, tuple)) and not hasattr(value, "numel"):
        return f"{type(value).__name__}({'; '.join(map(shown, value))})"
    return repr(value)


def rounded(element):
    if isinstance(element, complex):
        return complex(rounded(element.real), rounded(element.imag))
    if isinstance(element, (bool, int)):
        return element
    return 0.0 if abs(element) < 1e-12 else float(f"{element:.4g}")


def gradients(torch, order, function, *inputs, **options):
    """The result, and the gradients of a weighed sum of it, or of the squares of these."""
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    y = function(*inputs, **options)
    weights = torch.arange(1, y.numel() + 1, dtype=torch.float64).reshape(y.shape)
    found = torch.autograd.grad((y * weights).abs().sum(), inputs, create_graph=order > 1, allow_unused=True)
    if order > 1:
        squares = sum((gradient * gradient).sum() for gradient in found if gradient is not None)
        found = torch.autograd.grad(squares, inputs, allow_unused=True)
    return [y.detach(), *(gradient if gradient is None else gradient.detach() for gradient in found)]


def answer(torch, source):
    """What comes of statements that are joined by `;;`, the last of which is an expression."""
    torch.manual_seed(0)
    names = {
        "torch": torch,
        "F": torch.nn.functional,
        "t": torch.tensor,
        "nan": float("nan"),
        "inf": float("inf"),
        "G": lambda *given, **options: gradients(torch, 1, *given, **options),
        "GG": lambda *given, **options: gradients(torch, 2, *given, **options),
    }
    *before, last = source.split(";;")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            for statement in before:
                exec(statement, names)
            text = shown(eval(last, names))
        except Exception as error:
            text = f"{type(error).__name__}: {error}".partition("\nException raised from")[0]
    words = [str(warning.message).partition(" (Triggered")[0] for warning in told]
    return (
        " | ".join([text, *(word for word in words if not word.startswith(ONCE))])
        .replace("rushlight", "torch")
        .rstrip()
        .replace("\n", "\\n")
    )


def rows(path):
    """The sections of a table with what stands in them: sources and answers."""
    section = source = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ")
        elif line.startswith(INDENT):
            yield section, source, line.strip()
        elif line.strip():
            source = line


def record(path):
    """Write the answers below the sources."""
    import torch

    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(INDENT):
            continue
        lines.append(line)
        if line.strip() and not line.startswith("#"):
            lines.append(INDENT + answer(torch, line))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        record(Path(name))
