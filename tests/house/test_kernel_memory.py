"""Kernels take memory by functions that can fail: a table as large as its input is no reason to end a process.

`kernels/interrupt.rs` has them: `room`, `filled`, `collected`, `gathered` and `extend` give work up where there is no
memory. What the standard library offers beside them ends the process. It is for tables of dimensions only, which are
named here.
"""

import re
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "src/kernels"
INFALLIBLE = re.compile(
    r"\.(collect|to_vec|to_owned|into_owned|concat)(::<[^(]*>)?\(\)|with_capacity|vec!\[[^\]]*;|\.repeat\("
)
# A line for each dimension of a tensor, for a block of few elements, or of a size that is known.
OF_DIMENSIONS = {
    "geometry/moves.rs": {"let mut order: Vec<usize> = (0..out.ndim()).collect();"},
    "geometry/moves/small.rs": {"Some((0..block).map(place).collect())"},
    "indexing/gather.rs": {
        "let mut strides: Vec<usize> = strides.collect();",
        "let outer = index.iter().copied().zip(strides).collect();",
    },
    "indexing/gather/truths.rs": {"let shape = view.shape().to_vec();"},
    "neural/taps.rs": {
        "(1..=others.len()).map(|count| interrupt::filled(between(count), T::ZERO)).collect();"
    },
    "random/generator.rs": {"let mut bytes = vec![0; Self::STATE_BYTES];"},
    "reduction/reduce/mod.rs": {"let mut order: SmallVec<[usize; 6]> = (0..view.ndim()).collect();"},
    "reduction/reduce/moments.rs": {"let mut kept = view.shape().to_vec();"},
}


def code_of(path):
    """The lines of a file, without comments and without its tests."""
    text = path.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests")[0]
    return [line.split("//")[0].strip() for line in text.splitlines()]


def infallible(lines):
    return {line for line in lines if INFALLIBLE.search(line)}


@pytest.mark.own
def test_kernels_have_no_tables_that_end_the_process():
    files = [path for path in KERNELS.rglob("*.rs") if path.name not in {"tests.rs", "testing.rs"}]
    assert len(files) > 50
    found = {path.relative_to(KERNELS).as_posix(): infallible(code_of(path)) for path in files}
    assert {path: lines for path, lines in found.items() if lines} == OF_DIMENSIONS


@pytest.mark.own
@pytest.mark.parametrize(
    "line", ["let a = b.iter().collect();", "vec![0.0; rows]", "x.to_vec()", "a.repeat(3)"]
)
def test_such_a_table_is_recognised(line):
    assert infallible([line]) == {line}
