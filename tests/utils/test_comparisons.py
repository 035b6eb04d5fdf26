"""What torch's own test cases are written with: pairs of values, and texts that are searched for parts."""

import re

import pytest
import rushlight as torch
from rushlight.testing import FileCheck
from rushlight.testing._comparison import (
    BooleanPair,
    NumberPair,
    ObjectPair,
    TensorLikePair,
    make_tensor_mismatch_msg,
    not_close_error_metas,
    originate_pairs,
)

KINDS = (BooleanPair, NumberPair, TensorLikePair, ObjectPair)


def test_containers_come_to_pairs_with_their_places():
    pairs = originate_pairs({"a": [1, torch.ones(2)]}, {"a": [1, torch.ones(2)]}, pair_types=KINDS)
    assert [type(pair) for pair in pairs] == [NumberPair, TensorLikePair]
    assert [pair.id for pair in pairs] == [("a", 0), ("a", 1)]


def test_all_that_is_not_close_is_told():
    found = not_close_error_metas([1, 2.0, "x"], [2, 2.5, "x"], pair_types=KINDS)
    assert [error.id for error in found] == [(0,), (1,)]
    assert str(found[0].to_error()) == (
        "Scalars are not equal!\n\nExpected 2 but got 1.\nAbsolute difference: 1\nRelative difference: 0.5\n\n"
        "The failure occurred for item [0]"
    )
    assert str(found[0].to_error("other words")) == "other words"


def test_a_pair_of_ones_own_takes_what_others_do_not():
    class Folded(ObjectPair):
        def __init__(self, actual, expected, **options):
            self._check_inputs_isinstance(actual, expected, cls=str)
            super().__init__(actual.lower(), expected.lower(), **options)

    assert not not_close_error_metas(["A", 1], ["a", 1], pair_types=(Folded, NumberPair))
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        not_close_error_metas(object(), 1, pair_types=(Folded, NumberPair))


def test_elements_that_differ_are_counted_and_found():
    actual, expected = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.5], [3.0, 8.0]])
    text = make_tensor_mismatch_msg(actual, expected, actual == expected, rtol=0, atol=0.1)
    assert text == (
        "Tensor-likes are not close!\n\nMismatched elements: 2 / 4 (50.0%)\n"
        "Greatest absolute difference: 4.0 at index (1, 1) (up to 0.1 allowed)\n"
        "Greatest relative difference: 0.5 at index (1, 1) (up to 0 allowed)"
    )


def test_small_floats_are_compared_bit_by_bit():
    x = torch.tensor([1.0, 2.0]).to(torch.float8_e4m3fn)
    torch.testing.assert_close(x, x, rtol=0, atol=0)
    with pytest.raises(AssertionError, match=re.escape("The first mismatched element is at index (1,)")):
        torch.testing.assert_close(x, torch.ones(2).to(torch.float8_e4m3fn), rtol=0, atol=0)


LINES = "line one\nadd mul\nadd\nsub relu\nend"


def test_parts_are_found_in_their_order():
    FileCheck().check("add").check("add").check_not("foo").check("end").run(LINES)
    FileCheck().check_dag("sub").check_dag("one").check("end").run(LINES)
    FileCheck().check_count("add", 2, exactly=True).run(LINES)
    FileCheck().check_regex("s.b").check_same("relu").check_next("end").run(LINES)
    FileCheck().run("# CHECK: add\n# CHECK-NOT: foo\n# CHECK-NEXT: add", LINES)
    FileCheck().check_source_highlighted("add").run("x add y\n  ~~~ <--- HERE")


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (
            FileCheck().check("zzz"),
            'Expected to find "zzz" but did not find it\nSearched string:\nline one\n~~~',
        ),
        (FileCheck().check("one").check_not("mul").check("sub"), 'Expected to not find "mul" but found it'),
        (FileCheck().check("one").check_next("sub"), 'Expected to not find "\\n" but found it'),
        (FileCheck().check_count("add", 1, exactly=True), "From CHECK-NOT: add"),
        (FileCheck().check_count("add", 3), "From CHECK-COUNT-3: add"),
        (FileCheck(), "No checks have been added"),
    ],
)
def test_what_is_not_so_is_told(check, text):
    with pytest.raises(RuntimeError, match=re.escape(text)):
        check.run(LINES)
