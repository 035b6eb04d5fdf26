"""What tensors look like: every entry of the table beside this file, character by character.

A table alternates a line of source (statements joined by "; ", the last one is an expression) with the
indented lines of its `repr`. Lines that begin with `#` are headings.
"""

from pathlib import Path

import numpy as np
import pytest
import rushlight as torch


def read_tables():
    rows, source, block = [], None, []
    lines = [
        line for path in sorted(Path(__file__).parent.glob("*.txt")) for line in path.read_text().splitlines()
    ]
    for line in [*lines, "end"]:
        if line.startswith("    ") or (not line and block):
            block.append(line[4:])
        elif line and not line.startswith("#"):
            if source is not None:
                while block and not block[-1]:
                    block.pop()
                rows.append(pytest.param(source, "\n".join(block), id=source))
            source, block = line, []
    return rows


ROWS = read_tables()


def evaluate(source):
    names = {"torch": torch, "np": np, "nn": torch.nn, "inf": float("inf"), "nan": float("nan")}
    before, _, last = source.rpartition("; ")
    exec(before, names)
    return eval(last, names)


def test_the_tables_were_found():
    assert len(ROWS) > 100


@pytest.mark.parametrize(("source", "expected"), ROWS)
def test_the_representation_is_exact(source, expected):
    assert repr(evaluate(source)) == expected


def test_str_is_repr():
    for x in (torch.ones(2), torch.tensor(3), torch.ones(2, requires_grad=True) * 2):
        assert str(x) == repr(x)
    assert f"{torch.ones(2)}" == "tensor([1., 1.])" and f"{torch.tensor(3)}" == "3"


def test_printing_records_nothing_and_needs_no_grad_mode():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert repr(y) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    with torch.no_grad():
        assert repr(y) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    assert y._version == 0


def test_print_options_last_until_they_are_reset():
    torch.set_printoptions(precision=2)
    assert repr(torch.tensor([1.23456])) == "tensor([1.23])"
    torch.set_printoptions(profile="default")
    assert repr(torch.tensor([1.23456])) == "tensor([1.2346])"


def test_the_default_dtype_decides_which_dtype_is_named():
    x = torch.ones(1, dtype=torch.float64)
    assert repr(x) == "tensor([1.], dtype=torch.float64)"
    torch.set_default_dtype(torch.float64)
    assert repr(x) == "tensor([1.])"
    assert repr(torch.ones(1, dtype=torch.float32)) == "tensor([1.], dtype=torch.float32)"


class Shown(torch.Tensor):
    """A tensor that says what stands in the place of its numbers."""

    @staticmethod
    def __new__(cls, x):
        return torch.Tensor._make_wrapper_subclass(cls, x.shape, dtype=x.dtype, requires_grad=x.requires_grad)

    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return super().__repr__(tensor_contents=f"x={self.x}")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        given = [one.x if isinstance(one, cls) else one for one in args]
        return cls(func(*given, **(kwargs or {})))


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (lambda: Shown(torch.ones(2)), "Shown(x=tensor([1., 1.]))"),
        (
            lambda: Shown(torch.ones(2, dtype=torch.float64)),
            "Shown(x=tensor([1., 1.], dtype=torch.float64), dtype=torch.float64)",
        ),
        (
            lambda: Shown(torch.ones(1, requires_grad=True)),
            "Shown(x=tensor([1.], requires_grad=True), requires_grad=True)",
        ),
        (lambda: Shown(torch.ones(0, 2)), "Shown(x=tensor([], size=(0, 2)), size=(0, 2))"),
        (
            lambda: torch.nn.Parameter(Shown(torch.ones(1))),
            "Parameter(Shown(x=tensor([1.]), requires_grad=True))",
        ),
        (
            lambda: Shown(torch.ones(4, dtype=torch.float64) + 1e-3),
            "Shown(x=tensor([1.0010, 1.0010, 1.0010, 1.0010], dtype=torch.float64),\n"
            "      dtype=torch.float64)",
        ),
    ],
)
def test_a_class_says_what_stands_in_the_place_of_numbers(tensor, text):
    assert repr(tensor()) == text


def test_any_tensor_is_printed_with_other_contents():
    assert torch.Tensor.__repr__(torch.ones(2), tensor_contents="ones") == "tensor(ones)"
    assert torch.Tensor.__repr__(torch.ones(2)) == "tensor([1., 1.])"
