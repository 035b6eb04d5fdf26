"""Weak references to tensors, and dictionaries that have tensors as keys."""

import copy
import gc

import pytest
import rushlight as torch
from rushlight.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakIdRef, WeakTensorKeyDictionary
from support import raises


@pytest.fixture
def tensors():
    return [torch.ones(2), torch.ones(2), torch.ones(2)]


def test_keys_are_tensors_themselves(tensors):
    a, b, c = tensors
    notes = WeakTensorKeyDictionary({a: 1})
    notes[b] = 2
    assert (notes[a], notes[b], len(notes)) == (1, 2, 2)
    assert a in notes and c not in notes and 3 not in notes
    assert [key is tensor for key, tensor in zip(notes, tensors, strict=False)] == [True, True]
    assert [(key is b, value) for key, value in notes.items()] == [(False, 1), (True, 2)]
    assert (notes.get(c), notes.get(c, 5), notes.setdefault(a, 7), notes.setdefault(c, 9)) == (None, 5, 1, 9)
    assert notes.pop(b) == 2 and notes.pop(b, None) is None
    with pytest.raises(KeyError):
        notes[b]
    with raises(TypeError, "cannot create weak reference to 'int' object"):
        notes[3] = 1


def test_an_entry_goes_with_its_key(tensors):
    notes = WeakTensorKeyDictionary({tensors[0]: 0, tensors[1]: 1})
    reference = TensorWeakRef(tensors[0])
    assert reference() is tensors[0] and len(notes.keyrefs()) == 2
    for place, _ in enumerate(notes):
        if place == 0:
            del tensors[0], _
            gc.collect()
    assert reference() is None and list(notes.values()) == [1]


def test_a_key_that_a_graph_keeps_stays():
    x = torch.ones(2, requires_grad=True)
    notes = WeakTensorKeyDictionary({x: "leaf"})
    y = x * 2
    del x
    gc.collect()
    assert list(notes.values()) == ["leaf"]
    y.sum().backward()
    assert next(iter(notes)).grad.tolist() == [2, 2]


def test_dictionaries_are_joined_copied_and_compared(tensors):
    a, b, _ = tensors
    notes = WeakTensorKeyDictionary({a: [1]})
    joined = notes | {b: [2]}
    assert type(joined) is WeakIdKeyDictionary is WeakTensorKeyDictionary
    assert len(joined) == 2 and len({b: [2]} | notes) == 2 and len(notes) == 1
    assert joined != notes and notes.copy() == notes == {a: [1]}
    copied, deep = copy.copy(notes), copy.deepcopy(notes)
    assert copied[a] is notes[a] and deep[a] == [1] and deep[a] is not notes[a]
    notes |= {b: [3]}
    key, value = notes.popitem()
    assert key is b and value == [3] and len(notes) == 1


def test_references_to_one_object_are_equal(tensors):
    a, b, _ = tensors
    first, second = WeakIdRef(a), WeakIdRef(a)
    assert first == second and hash(first) == hash(second) == id(a) and not first == WeakIdRef(b)  # noqa: SIM201
    del a
    tensors.clear()
    gc.collect()
    assert first() is None and first == first and not first == second  # noqa: SIM201


def test_a_weak_reference_is_to_a_tensor():
    with raises(AssertionError, "expected torch.Tensor, got <class 'int'>."):
        TensorWeakRef(3)
