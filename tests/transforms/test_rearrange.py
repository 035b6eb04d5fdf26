"""`func.rearrange`: dimensions by their names."""

import pytest
import rushlight as torch
from rushlight.func import rearrange, vmap

X = torch.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("pattern", "sizes", "expected"),
    [
        ("a b c -> c b a", {}, X.permute(2, 1, 0)),
        ("a b c -> (a b) c", {}, X.reshape(6, 4)),
        ("a b c -> (c a) b", {}, X.permute(2, 0, 1).reshape(8, 3)),
        ("a b (c d) -> a d b c", {"d": 2}, X.reshape(2, 3, 2, 2).permute(0, 3, 1, 2)),
        ("a b (c d) -> a d b c", {"c": 2, "d": 2}, X.reshape(2, 3, 2, 2).permute(0, 3, 1, 2)),
        ("a ... -> ... a", {}, X.permute(1, 2, 0)),
        ("a ... -> (a ...)", {}, X.reshape(24)),
        ("... -> (...)", {}, X.reshape(24)),
        ("a b c -> a 1 b () c", {}, X.reshape(2, 1, 3, 1, 4)),
        ("a  b   c->b c    a", {}, X.permute(1, 2, 0)),
        ("a b (c 1) -> a b c", {}, X),
    ],
)
def test_the_right_side_says_where_dimensions_go(pattern, sizes, expected):
    assert rearrange(X, pattern, **sizes).equal(expected)


def test_several_tensors_are_stacked():
    assert rearrange([X, X + 1], "n a b c -> a n b c").equal(torch.stack([X, X + 1], 1))


def test_samples_are_rearranged_each():
    assert vmap(lambda x: rearrange(x, "a b -> (b a)"))(X).equal(X.mT.reshape(2, 12))


@pytest.mark.parametrize(
    ("pattern", "sizes", "kind", "message"),
    [
        ("a b c", {}, ValueError, "Pattern must contain a single '->' separator"),
        (
            "a b -> b a",
            {},
            ValueError,
            "Number of dimensions in pattern (2) must be equal to the number of dimensions in the tensor (3)",
        ),
        ("a b b -> a b", {}, ValueError, "Indexing expression contains duplicate dimension 'b'"),
        (
            "a b c -> a b",
            {},
            ValueError,
            "Identifiers only on one side of rearrange expression (should be on both): {'c'}",
        ),
        ("a b c -> a b c", {"d": 2}, ValueError, "Identifiers not found in rearrange expression: {'d'}"),
        ("a b 2 -> a b", {}, ValueError, "rearrange only supports unnamed axes of size 1"),
        ("a b c) -> a b c", {}, ValueError, "Brackets are not balanced"),
        ("a b (c -> a b c", {}, ValueError, "Imbalanced parentheses in expression: 'a b (c '"),
        ("a b c* -> a b c", {}, ValueError, "Unknown character '*'"),
        ("a b 3c -> a b 3c", {}, ValueError, "Invalid axis identifier: 3c\nnot a valid python identifier"),
        (
            "a (...) -> a",
            {},
            ValueError,
            "Ellipsis is parenthesis in the left side is not allowed: a (...) -> a",
        ),
        (
            "a b (c d) -> a b c d",
            {"c": 2.0},
            TypeError,
            "rearrange axis lengths must be integers, got: <class 'float'>",
        ),
    ],
)
def test_patterns_that_make_no_sense_are_refused(pattern, sizes, kind, message):
    with pytest.raises(kind) as caught:
        rearrange(X, pattern, **sizes)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("pattern", "sizes", "message"),
    [
        (
            "a b (c d) -> a b c d",
            {"d": 3},
            "inferred dimension does not evenly fit into larger dimension: 4 vs ('?', 3)",
        ),
        ("a b (c d) -> a b c d", {}, "cannot infer the sizes of two dimensions at once d2 and d3"),
        (
            "a b (c d) -> a b c d",
            {"c": 2, "d": 3},
            "Dimension sizes to do not match (4 != 6) when matching dimension pack (d2, d3)",
        ),
    ],
)
def test_sizes_that_do_not_fit_are_refused(pattern, sizes, message):
    with pytest.raises(Exception) as caught:
        rearrange(X, pattern, **sizes)
    assert type(caught.value).__name__ == "DimensionBindError"
    assert str(caught.value) == message
