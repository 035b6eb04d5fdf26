"""When tensor objects stay, when they die, and what dies with them."""

import copy
import gc
import sys
import weakref

import pytest
import rushlight as torch


class Slotted(torch.Tensor):
    __slots__ = ("slot",)


class Plain(torch.Tensor):
    pass


class Silent(Plain):
    """A class that keeps its heirs from telling their ancestors."""

    def __init_subclass__(cls):
        pass


class Grandchild(Silent):
    __slots__ = ("slot",)


def of(cls, requires_grad=True):
    return torch.Tensor._make_subclass(cls, torch.ones(2), requires_grad)


def leaf_of(result):
    """The leaf at the far end of operations on one leaf and numbers."""
    node = result.grad_fn
    while node.next_functions:
        node = node.next_functions[0][0]
    return node.variable


@pytest.mark.parametrize("cls", [Slotted, Plain, Grandchild])
def test_an_object_of_a_subclass_lives_on_in_the_graph(cls):
    leaf = of(cls)
    leaf.note = "kept"
    identity, result = id(leaf), leaf * 2
    del leaf
    gc.collect()
    found = leaf_of(result)
    assert type(found) is cls and id(found) == identity and found.note == "kept"


@pytest.mark.parametrize(
    "keep",
    [hash, weakref.ref, lambda x: setattr(x, "note", 1), vars],
    ids=["hash", "weak reference", "attribute", "dict"],
)
def test_what_was_asked_of_a_plain_tensor_lives_on_in_the_graph(keep):
    leaf = torch.ones(2, requires_grad=True)
    kept = keep(leaf)
    identity, result = id(leaf), leaf * 2
    del leaf
    junk = [torch.ones(2) for _ in range(100)]
    assert id(leaf_of(result)) == identity and len(junk) == 100
    if isinstance(kept, weakref.ref):
        assert kept() is leaf_of(result)


def test_an_object_goes_with_the_graph_that_kept_it():
    leaf = of(Plain)
    alive = weakref.ref(leaf)
    result = leaf * 2
    del leaf
    assert alive() is not None
    del result
    assert alive() is None


def test_a_weak_reference_gives_a_tensor_with_its_numbers():
    leaf = torch.ones(2, requires_grad=True)
    again = weakref.ref(leaf)
    result = leaf * 2
    del leaf
    leaf = again()
    del result
    assert leaf is again() and leaf.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("cls", [Slotted, Plain, Grandchild])
def test_attributes_and_slots_die_with_the_object(cls):
    class Mark:
        pass

    x, mark = of(cls), Mark()
    alive = weakref.ref(mark)
    if cls is Plain:
        x.note = mark
    else:
        x.slot = mark
    del mark
    assert alive() is not None
    before = sys.getrefcount(cls)
    del x
    assert alive() is None and sys.getrefcount(cls) == before - 1


def test_a_finaliser_runs_once_and_may_save_the_object():
    saved = []

    class Saver(torch.Tensor):
        def __del__(self):
            saved.append(self)

    x = of(Saver)
    identity = id(x)
    del x
    assert len(saved) == 1 and id(saved[0]) == identity and saved[0].tolist() == [1.0, 1.0]
    saved.clear()
    assert saved == []


@pytest.mark.own
def test_a_finaliser_waits_until_the_graph_is_gone():
    log = []

    class Logger(torch.Tensor):
        def __del__(self):
            log.append(self.tolist())

    x = of(Logger)
    result = x * 2
    del x
    assert log == []
    del result
    assert log == [[2.0, 2.0], [1.0, 1.0]]


@pytest.mark.parametrize("cls", [torch.Tensor, Slotted, Plain, Grandchild])
def test_a_tensor_that_refers_to_itself_is_collected(cls):
    x = of(cls)
    x.itself = x
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    "register", [lambda x, hook: x.register_hook(hook), lambda x, hook: (x * 1).register_hook(hook)]
)
def test_a_hook_that_refers_to_its_tensor_is_collected(register):
    x = torch.ones(2, requires_grad=True)
    alive = weakref.ref(x)
    register(x, lambda grad, x=x: None)
    del x
    gc.collect()
    assert alive() is None


@pytest.mark.own
def test_a_hook_on_a_node_that_refers_to_the_result_is_collected():
    result = torch.ones(2, requires_grad=True) * 2
    alive = weakref.ref(result)
    result.grad_fn.register_hook(lambda inputs, outputs, result=result: None)
    del result
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("cls", [torch.Tensor, Slotted])
def test_a_long_chain_of_objects_dies_without_recursion(cls):
    name = "slot" if cls is Slotted else "note"
    head = of(cls)
    for _ in range(100_000):
        before, head = head, of(cls)
        setattr(head, name, before)
    last = weakref.ref(head)
    del before
    del head
    assert last() is None


def test_the_class_of_an_object_may_be_assigned():
    x = torch.ones(2, requires_grad=True)
    x.__class__ = Plain
    x.note = 1
    result = x * 2
    del x
    assert leaf_of(result).note == 1
    y = of(Plain)
    y.__class__ = torch.Tensor
    del y


def test_a_keyword_of_the_class_statement_reaches_the_next_in_line():
    seen = []

    class Mixin:
        def __init_subclass__(cls, **keywords):
            seen.append(keywords)

    class Mixed(torch.Tensor, Mixin, colour="red"):
        pass

    assert seen == [{"colour": "red"}] and issubclass(Mixed, torch.Tensor)


def test_only_classes_below_the_tensor_hold_tensors():
    with pytest.raises(TypeError, match="does not inherit from Tensor"):
        torch.Tensor._make_subclass(int, torch.ones(1))
    with pytest.raises(TypeError, match="does not inherit from Tensor"):
        torch.ones(1).as_subclass(int)


def test_a_node_is_one_object_while_it_is_looked_at():
    result = torch.ones(2, requires_grad=True) * 2
    node = result.grad_fn
    node.metadata["seen"] = True
    assert result.grad_fn is node and (result + 1).grad_fn.next_functions[0][0] is node
    assert result.grad_fn.metadata == {"seen": True} and type(node).__name__ == "MulBackward0"
    with pytest.raises(TypeError, match="cannot create 'MulBackward0' instances"):
        type(node)()


def test_a_shallow_copy_is_a_leaf_on_the_same_memory():
    x = torch.ones(2, requires_grad=True)
    x.name_of_mine = "x"
    for tensor in (x, x * 1):
        copied = copy.copy(tensor)
        assert copied is not tensor and copied.is_leaf and copied.requires_grad
        assert copied.data_ptr() == tensor.data_ptr()
    assert copy.copy(x).name_of_mine == "x"
