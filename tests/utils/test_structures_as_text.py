"""Structures of nested containers as text, classes that become containers or constants, and structures by hand."""

import enum
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import pytest
import rushlight as torch
from rushlight.utils import _pytree as pytree
from support import raises

Named = namedtuple("Named", "a b")
Known = namedtuple("Known", "a b")
pytree._register_namedtuple(Known, serialized_type_name="tests.Known")


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    "tree",
    [
        3,
        {"a": [1, (2, 3)], "b": None},
        OrderedDict(a=1, b=[]),
        defaultdict(list, {"x": 1}),
        deque([1, 2], maxlen=4),
        Known(1, [2]),
        {Colour.RED: 1},
        (),
    ],
)
def test_a_structure_is_read_as_it_was_written(tree):
    spec = pytree.tree_structure(tree)
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec


def test_the_text_is_of_a_form_that_others_read():
    text = pytree.treespec_dumps(pytree.tree_structure([1]))
    leaf = '{"type": null, "context": null, "children_spec": []}'
    assert text == f'[1, {{"type": "builtins.list", "context": "null", "children_spec": [{leaf}]}}]'


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


def test_a_class_of_ones_own_has_a_name_in_texts():
    pytree.register_pytree_node(
        Pair,
        lambda pair: ([pair.a, pair.b], "context"),
        lambda children, context: Pair(*children),
        serialized_type_name="tests.Pair",
        to_dumpable_context=str.upper,
        from_dumpable_context=str.lower,
    )
    spec = pytree.tree_structure(Pair(1, [2]))
    text = pytree.treespec_dumps(spec)
    assert '"type": "tests.Pair", "context": "CONTEXT"' in text and pytree.treespec_loads(text) == spec


def test_what_has_no_text_is_refused():
    with raises(ValueError, "Unknown protocol 99. Available protocols: [1]"):
        pytree.treespec_dumps(pytree.tree_structure(1), protocol=99)
    with raises(ValueError, "Unknown protocol 2. Available protocols: [1]"):
        pytree.treespec_loads("[2, {}]")
    with raises(
        TypeError, "Expected `treespec` to be an instance of PyTreeSpec but got item of type <class 'int'>."
    ):
        pytree.treespec_dumps(3)
    with raises(NotImplementedError, "Can't serialize TreeSpec of namedtuple class"):
        pytree.treespec_dumps(pytree.tree_structure(Named(1, 2)))
    with raises(NotImplementedError, "Deserializing nope in pytree is not registered."):
        pytree.treespec_loads('[1, {"type": "nope", "context": "null", "children_spec": []}]')
    with raises(NotImplementedError, "Serializing <class 'int'> in pytree is not registered."):
        pytree.treespec_dumps(pytree.TreeSpec(int, None, []))
    with pytest.raises(ValueError, match="Both to_dumpable_context and from_dumpable_context"):
        pytree.register_pytree_node(Colour, list, list, to_dumpable_context=str)


@dataclass(frozen=True)
class Setting:
    name: str


def test_constants_are_part_of_the_structure():
    pytree.register_constant(Setting)
    leaves, spec = pytree.tree_flatten([Setting("fast"), 3])
    assert leaves == [3] and pytree.is_constant_class(Setting)
    assert pytree.tree_unflatten([5], spec) == [Setting("fast"), 5]
    assert spec == pytree.tree_structure([Setting("fast"), 1])
    assert spec != pytree.tree_structure([Setting("slow"), 1])

    class Incomparable:
        pass

    with raises(
        TypeError, "register_constant(cls) expects `cls` to have a non-default `__eq__` implementation."
    ):
        pytree.register_constant(Incomparable)


@dataclass
class Point:
    x: float
    y: list
    z: int = 5


@dataclass
class Partly:
    x: float
    y: float = 0.0


def test_classes_with_fields_become_containers():
    pytree.register_dataclass(Point)
    leaves, spec = pytree.tree_flatten(Point(1.0, [2, 3]))
    assert leaves == [1.0, 2, 3, 5] and pytree.tree_unflatten([4, 5, 6, 7], spec) == Point(4, [5, 6], 7)
    paths = [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(Point(1.0, [2]))[0]]
    assert paths == [".x", ".y[0]", ".z"]
    with raises(ValueError, "field_names does not include all dataclass fields."):
        pytree.register_dataclass(Partly, field_names=["zz"])
    with raises(ValueError, "field_names must be specified with a list of all fields used to initialize"):
        pytree.register_dataclass(int)
    pytree.register_dataclass(Partly, field_names=["x"], drop_field_names=["y"])
    assert pytree.tree_map(lambda x: x + 1, Partly(1.0)) == Partly(2.0)


def test_structures_are_put_together_by_hand():
    leaf = pytree.treespec_leaf()
    assert pytree.treespec_tuple([leaf, leaf]) == pytree.tree_structure((1, 2))
    assert pytree.treespec_dict({"a": leaf}, b=leaf) == pytree.tree_structure({"a": 1, "b": 2})
    with raises(ValueError, "Expected a tuple of TreeSpec values, got: [1]."):
        pytree.treespec_tuple([1])
    with raises(ValueError, "Expected a dictionary of TreeSpec values, got: {'a': 1}."):
        pytree.treespec_dict({"a": 1})


def test_tuples_with_names_are_told_apart():
    several = torch.max(torch.ones(2, 2), 0)
    assert (
        pytree.is_namedtuple(Named) and pytree.is_namedtuple(Named(1, 2)) and not pytree.is_namedtuple((1, 2))
    )
    assert pytree.is_structseq(several) and pytree.is_structseq_class(type(several))
    assert not pytree.is_structseq(Named(1, 2))


class Again:
    pass


@pytest.mark.filterwarnings("ignore:.* is already registered as pytree node")
def test_an_old_name_registers_again():
    for _ in range(2):
        with pytest.warns(
            FutureWarning, match="Please use `torch.utils._pytree.register_pytree_node` instead."
        ):
            pytree._register_pytree_node(Again, lambda again: ([], None), lambda children, _: Again())
        assert pytree.tree_leaves([Again(), 1]) == [1]
