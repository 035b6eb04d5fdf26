"""What containers by name are filled with: in which order, and what they refuse."""

from collections import OrderedDict

import pytest
import rushlight as torch
from rushlight import nn


def test_that_plain_dictionaries_are_sorted_and_others_not():
    one, two = torch.ones(1), torch.ones(1)
    assert list(nn.ParameterDict({"b": one, "a": two})) == ["a", "b"]
    assert list(nn.ParameterDict(OrderedDict(b=one, a=two))) == ["b", "a"]
    assert list(nn.ParameterDict([("b", one), ["a", two]])) == ["b", "a"]
    kept = nn.ParameterDict([("b", one), ("a", two)])
    assert list(kept | {"d": one, "c": two}) == ["b", "a", "c", "d"]
    assert list(kept.copy()) == list(kept.fromkeys(["b", "a"])) == ["b", "a"]
    assert list(nn.ModuleDict({"b": nn.ReLU(), "a": nn.ReLU()})) == ["b", "a"]


@pytest.mark.parametrize(
    ("entries", "kind", "words"),
    [
        (3, TypeError, "should be called with an iterable of key/value pairs, but got int"),
        ([1], TypeError, "update sequence element #0 should be Iterable; isint"),
        ([("a", 2, 3)], ValueError, "update sequence element #0 has length 3; 2 is required"),
    ],
)
@pytest.mark.parametrize("container", [nn.ParameterDict, nn.ModuleDict])
def test_that_other_entries_are_refused(container, entries, kind, words):
    with pytest.raises(kind, match=words):
        container(entries)


def test_that_names_that_are_numbers_are_not_offered():
    assert not any(name.isdigit() for name in dir(nn.Sequential(nn.ReLU())))


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((2, 5, 5.0), "must be tuple of ints, but found element of type float at pos 2"),
        (3, "must be a tuple of ints, but found type int"),
    ],
)
def test_that_unflatten_refuses_other_sizes_at_once(size, words):
    with pytest.raises(TypeError, match=words):
        nn.Unflatten(1, size)
