"""Nested containers taken apart into leaves, and put together again."""

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest
import rushlight as torch
from rushlight.utils import _pytree as pytree
from support import raises

Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "tree",
    [
        1,
        None,
        (),
        (1, 2),
        [1, (2, [None])],
        {"b": 1, "a": [2]},
        Pair(1, (2,)),
        OrderedDict(a=1),
        defaultdict(list, {"a": 1}),
        deque([1, 2], maxlen=3),
    ],
)
def test_what_is_taken_apart_can_be_put_together(tree):
    leaves, spec = pytree.tree_flatten(tree)
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    assert spec.num_leaves == len(leaves) == len(pytree.tree_leaves(tree))


def test_none_is_a_leaf_and_an_empty_container_has_none():
    assert pytree.tree_leaves([None, (), {}]) == [None]


def test_named_results_are_containers():
    leaves, spec = pytree.tree_flatten(torch.max(torch.ones(2, 3), 0))
    assert len(leaves) == 2
    assert spec.unflatten([1, 2]).indices == 2


def test_a_structure_shows_its_containers():
    spec = pytree.tree_structure((1, {"k": [2]}, Pair(3, 4)))
    assert repr(spec) == (
        "TreeSpec(tuple, None, [*,\n  TreeSpec(dict, ['k'], [TreeSpec(list, None, [*])]),\n"
        f"  TreeSpec(namedtuple, {Pair}, [*,\n    *])])"
    )


def test_structures_are_equal_by_containers_and_order_of_keys():
    structure = pytree.tree_structure
    assert structure((1, [2])) == structure((5, [6]))
    assert structure({"a": 1, "b": 2}) != structure({"b": 1, "a": 2})
    assert structure((1, 2)) != structure([1, 2])


def test_functions_are_mapped_over_leaves_of_several_trees():
    assert pytree.tree_map(lambda a, b: a + b, (1, {"k": 2}), (10, {"k": 20})) == (11, {"k": 22})
    assert pytree.tree_map_only(int, lambda x: x + 1, [1, "a", (2,)]) == [2, "a", (3,)]


@pytest.mark.parametrize(
    ("trees", "text"),
    [
        (((1, 2), [3, 4]), "Node type mismatch; expected <class 'tuple'>, but got <class 'list'>."),
        (((1, 2), (3,)), "Node arity mismatch; expected 2, but got 1."),
        (({"a": 1}, {"b": 1}), "Node keys mismatch; missing key(s): {'a'}; extra key(s): {'b'}."),
    ],
)
def test_trees_that_do_not_fit_are_refused(trees, text):
    with raises(ValueError, text):
        pytree.tree_map(lambda a, b: a, *trees)


def test_a_wrong_number_of_leaves_is_refused():
    with raises(
        ValueError, "treespec.unflatten(leaves): `leaves` has length 1 but the spec refers to a pytree"
    ):
        pytree.tree_unflatten([1], pytree.tree_structure((1, 2)))


def test_a_prefix_is_spread_over_the_leaves_below_it():
    spec = pytree.tree_structure((1, [2, 3], {"k": 4}))
    assert pytree._broadcast_to_and_flatten(0, spec) == [0, 0, 0, 0]
    assert pytree._broadcast_to_and_flatten((0, None, {"k": 1}), spec) == [0, None, None, 1]
    assert pytree._broadcast_to_and_flatten((0, None), spec) is None
    assert pytree._broadcast_to_and_flatten((0, (1, 1), 0), spec) is None


def test_a_class_can_be_made_a_container_once():
    class Box:
        def __init__(self, content):
            self.content = content

    pytree.register_pytree_node(Box, lambda box: ([box.content], None), lambda children, _: Box(*children))
    assert pytree.tree_map(lambda x: x + 1, [Box(1)])[0].content == 2
    with raises(ValueError, f"{Box} is already registered as pytree node."):
        pytree.register_pytree_node(
            Box, lambda box: ([box.content], None), lambda children, _: Box(*children)
        )


def test_leaves_come_with_the_keys_that_lead_to_them():
    tree = {"a": [1, (2,)], "b": Pair(3, 4)}
    paths = [(pytree.keystr(path), leaf) for path, leaf in pytree.tree_leaves_with_path(tree)]
    assert paths == [("['a'][0]", 1), ("['a'][1][0]", 2), ("['b'].first", 3), ("['b'].second", 4)]
    assert all(pytree.key_get(tree, path) == leaf for path, leaf in pytree.tree_leaves_with_path(tree))


def test_leaves_are_chosen_by_a_union_of_types():
    assert pytree.tree_map_only(int | float, lambda x: -x, [1, 2.0, "a"]) == [-1, -2.0, "a"]


def test_sizes_are_written_as_text():
    spec = pytree.tree_structure(torch.Size([1, 2]))
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec


def test_a_class_with_fields_that_is_registered_again_takes_the_place():
    kind = dataclasses.make_dataclass("Pair", ["a", "b"])
    pytree.register_dataclass(kind)
    with pytest.warns(UserWarning, match="is already registered as pytree node. Overwriting the previous"):
        pytree.register_dataclass(kind, field_names=["a", "b"])
    assert pytree.tree_leaves(kind(1, 2)) == [1, 2]
