"""The graph that every call of calls.txt leaves is that of nodes.txt, node by node, with all that they show.

A node is a line `Name(names of the nodes that it leads to)`; what it shows follows, a line each. Numbers of tensors
are recorded where they are exact. Of many more calls digests.txt has a digest of these lines. `tools/record_nodes.py`
records both with the reference library.
"""

import hashlib
from pathlib import Path

import pytest
import rushlight as torch

HERE = Path(__file__).parent


def leaf(*shape):
    numel = 1
    for size in shape:
        numel *= size
    return torch.linspace(0.1, 0.9, numel, dtype=torch.float64).reshape(shape).requires_grad_()


def names():
    """What the calls are written in, made anew for each."""
    square = torch.eye(3, dtype=torch.float64) + 0.25
    made = dict(vars(torch))
    made.update(
        torch=torch,
        F=torch.nn.functional,
        linalg=torch.linalg,
        special=torch.special,
        x=leaf(3, 4),
        y=(leaf(3, 4).detach() + 1).requires_grad_(),
        z=torch.complex(leaf(3).detach(), leaf(3).detach()).requires_grad_(),
        square=square.requires_grad_(),
        vector=leaf(4),
        batch=leaf(2, 3, 4),
        image=leaf(1, 2, 4, 4),
        filters=leaf(2, 3, 3),
        kernels=leaf(2, 2, 3, 3),
        index=torch.tensor([0, 2, 1]),
        places=torch.tensor([[0], [2], [1]]),
        mask=torch.tensor([[True, False, True, True]] * 3),
    )
    return made


def short(node):
    return "None" if node is None else node.name().rpartition("::")[2]


def told(value):
    """What a node shows, in words."""
    if isinstance(value, torch.Tensor):
        origin = "leaf" if value.is_leaf and value.requires_grad else short(value.grad_fn)
        exact = f" {value.tolist()}" if not (value.is_floating_point() or value.is_complex()) else ""
        dtype = str(value.dtype).rpartition(".")[2]
        return f"{dtype}{list(value.shape)}{exact}" + ("" if origin == "None" else f" of {origin}")
    if isinstance(value, (tuple, list)):
        return f"({', '.join(told(part) for part in value)})"
    return repr(value)


def nodes_behind(start):
    """The nodes that this one leads to, nearest first."""
    found = [start]
    for node in found:
        inner = (inner for inner, _ in node.next_functions)
        found += [it for it in dict.fromkeys(inner) if it is not None and it not in found]
    return found


def edges(node):
    inner = (short(inner) + (f".{number}" if number else "") for inner, number in node.next_functions)
    return f"  {short(node)}({', '.join(inner)})"


def shown(node):
    names = [name for name in dir(node) if "_saved_" in name]
    raw = {name.removeprefix("_raw") for name in names if name.startswith("_raw")}
    for name in (name for name in names if not name.startswith("_raw")):
        mark = "" if name in raw else "="
        yield f"    {name.removeprefix('_saved_')}{mark}: {told(getattr(node, name))}"


def is_leaf(node):
    return short(node) == "AccumulateGrad"


def called(source):
    torch.manual_seed(0)
    return eval(source, names())


def lines(source):
    """The graph behind a call, in words."""
    result = called(source)
    nodes = [] if result.grad_fn is None else nodes_behind(result.grad_fn)
    nodes = (node for node in nodes if not is_leaf(node))
    return [row for node in nodes for row in (edges(node), *shown(node))]


def digest(rows):
    return hashlib.blake2s("\n".join(rows).encode(), digest_size=5).hexdigest()


def digests():
    """The calls of digests.txt, with the digest of the graph of each."""
    rows = HERE.joinpath("digests.txt").read_text().splitlines()
    return {call: graph for graph, call in (row.split(" ", 1) for row in rows)}


def calls():
    rows = HERE.joinpath("calls.txt").read_text().splitlines()
    return [row for row in rows if row and not row.startswith("#")]


def table():
    recorded, call = {}, ""
    for row in HERE.joinpath("nodes.txt").read_text().splitlines():
        if row.startswith(" "):
            recorded[call].append(row)
        else:
            call = row
            recorded[call] = []
    return recorded


TABLE, DIGESTS = table(), digests()


def test_every_call_is_recorded():
    assert list(TABLE) == calls()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", calls())
def test_nodes_show_what_is_recorded(call):
    assert lines(call) == TABLE[call]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", DIGESTS)
def test_graphs_have_the_digests_that_are_recorded(call):
    rows = lines(call)
    # What the reference library leaves behind is told by `tools/record_nodes.py CALL`.
    assert digest(rows) == DIGESTS[call], "\n".join(rows)
