"""Versions that compare as versions do."""

import pytest
from rushlight.torch_version import TorchVersion

ORDERED = [
    "1.9",
    "2.0.0a0",
    "2.0.0a0+git123",
    "2.0.1.dev20230101",
    "2.0.1rc1",
    "2.0.1",
    "2.0.1+cpu",
    "2.0.1+1",
    "2.0.1.post1",
    "2.10",
    "1!0.1",
]


@pytest.mark.parametrize("place", range(len(ORDERED) - 1))
def test_versions_are_in_order(place):
    lower, higher = TorchVersion(ORDERED[place]), ORDERED[place + 1]
    assert lower < higher
    assert lower <= higher
    assert not lower > higher
    assert not lower >= higher
    assert not lower == higher  # noqa: SIM201
    assert TorchVersion(higher) > lower


def test_versions_compare_with_parts_and_other_forms():
    version = TorchVersion("2.13.0")
    assert version == "2.13"
    assert version == (2, 13)
    assert version == "v2.13.0.0"
    assert version > [2, 4]
    assert version >= (2, 13, 0)
    assert version < (3,)


def test_what_is_no_version_compares_as_text():
    assert TorchVersion("2.13.0") < "parrot"
    assert TorchVersion("parrot") == "parrot"


def test_a_version_is_a_text():
    assert isinstance(TorchVersion("2.13.0+cpu"), str)
    assert TorchVersion("2.13.0+cpu").split("+") == ["2.13.0", "cpu"]
    assert {TorchVersion("2.13.0"): 1}["2.13.0"] == 1
