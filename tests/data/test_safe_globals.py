"""Classes that files may name though they are read carefully."""

import pickle

import pytest
import rushlight as torch
from support import raises

serialization = torch.serialization


class Point:
    def __init__(self, x):
        self.x = x

    def __reduce__(self):
        return Point, (self.x,)


class Plain:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Stateful(Plain):
    def __setstate__(self, state):
        self.x = state["x"] + 1


@pytest.fixture
def file(tmp_path):
    torch.save({"point": Point(3)}, tmp_path / "point.pt")
    return tmp_path / "point.pt"


def test_a_class_is_allowed_when_it_was_added(file):
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=True)
    serialization.add_safe_globals([Point])
    try:
        assert (
            torch.load(file, weights_only=True)["point"].x == 3 and Point in serialization.get_safe_globals()
        )
    finally:
        serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=True)


def test_a_class_is_allowed_in_a_block(file):
    with serialization.safe_globals([Point]):
        assert torch.load(file, weights_only=True)["point"].x == 3
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=True)


@pytest.mark.parametrize(("kind", "read"), [(Plain, 3), (Slotted, 3), (Stateful, 4)])
def test_what_was_added_gets_its_attributes(tmp_path, kind, read):
    path = tmp_path / "object.pt"
    torch.save({"object": kind(3), "weight": torch.ones(2)}, path)
    with serialization.safe_globals([kind]):
        found = torch.load(path, weights_only=True)["object"]
    assert type(found) is kind and found.x == read
    with pytest.raises(pickle.UnpicklingError):
        torch.load(path, weights_only=True)


@pytest.mark.own
def test_pairs_that_are_none_are_refused_when_they_are_added():
    with raises(
        ValueError, "Expected tuple of length 2 (global, str of callable full path), but got tuple of"
    ):
        torch.serialization.add_safe_globals([(int,)])
    with raises(
        TypeError, "Expected second item in tuple to be str of callable full path, but got: <class 'i"
    ):
        torch.serialization.add_safe_globals([(int, 2)])
    assert torch.serialization.get_safe_globals() == []
