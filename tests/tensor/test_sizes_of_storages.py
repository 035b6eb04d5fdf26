"""Memory whose size changes: everybody who is on it sees it, and nobody reads what is not there."""

import sys
from pathlib import Path

import numpy as np
import pytest
import rushlight as torch
from support import raises

FIXED = "Trying to resize storage that is not resizable"


def on_one_memory():
    base = torch.arange(4.0)
    return base, [base.view(2, 2), base[1:3], base.detach(), base.data]


@pytest.mark.parametrize("size", [5, 100, 1 << 20])
def test_views_and_aliases_share_memory_that_grows(size):
    base, others = on_one_memory()
    base.resize_(size)
    assert base[:4].tolist() == [0.0, 1.0, 2.0, 3.0] and base.untyped_storage().nbytes() == 4 * size
    base.fill_(7)
    assert all((other == 7).all() for other in others)
    assert others[0]._version == base._version == 2 and others[3]._version == 0
    assert others[1].data_ptr() - base.data_ptr() == 4


def test_memory_grows_by_a_view_too():
    base, (_, view, *_) = on_one_memory()
    view.resize_(200)
    assert base.untyped_storage().nbytes() == 804 and base.tolist() == [0.0, 1.0, 2.0, 3.0]
    view.fill_(9)
    assert base.tolist() == [0.0, 9.0, 9.0, 9.0]


def test_memory_grows_again_and_again():
    base, others = on_one_memory()
    for size in range(5, 3000, 7):
        base.resize_(size)
    others[0].fill_(5)
    assert base[:4].tolist() == [5.0] * 4


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_what_is_put_into_larger_memory_is_seen_by_views():
    base, (square, *_) = on_one_memory()
    torch.add(torch.ones(10), 1, out=base)
    assert base.tolist() == [2.0] * 10 and square.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_storage_gives_its_bytes_away_and_gets_others():
    base, others = on_one_memory()
    storage = base.untyped_storage()
    storage.resize_(0)
    assert storage.nbytes() == others[0].untyped_storage().nbytes() == base.data_ptr() == 0
    assert base.shape == (4,) and base.view(2, 2).shape == (2, 2)
    storage.resize_(16)
    assert base.untyped_storage() is storage and base.data_ptr() != 0
    base.copy_(torch.full((4,), 2.0))
    assert all((other == 2).all() for other in others)


def test_a_storage_grows_beneath_tensors():
    storage = torch.UntypedStorage([1, 2])
    x = torch.zeros(0, dtype=torch.uint8).set_(storage)
    storage.resize_(64)
    storage[0] = 5
    assert x.tolist() == [5, 2] and x.untyped_storage().nbytes() == 64
    assert x.resize_(64).untyped_storage() is storage


def test_typed_storages_change_with_the_memory():
    x = torch.ones(3)
    storage = x._typed_storage()
    storage.resize_(5)
    assert storage.size() == 5 and storage.nbytes() == 20 and x.tolist() == [1.0] * 3


def test_what_a_graph_keeps_can_be_put_away_and_brought_back():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    y.untyped_storage().resize_(0)
    y.untyped_storage().resize_(12)
    y.data.copy_(torch.full((3,), 2.0))
    z.backward()
    assert x.grad.tolist() == [8.0] * 3


@pytest.mark.own
def test_what_is_beyond_the_memory_is_not_read():
    for size in (4, 1 << 20):
        x = torch.ones(size)
        view = x[1:]
        x.untyped_storage().resize_(0)
        for method in ("tolist", "numpy"):
            for tensor in (x, view):
                words = f"{method}() shouldn't be called on a tensor with unallocated storage"
                with raises(RuntimeError, words):
                    getattr(tensor, method)()
        # Whatever it is, it is somebody's own memory.
        (x + 1).sum(), x.clone(), x[2:], view.mul_(2), repr(x)


@pytest.mark.own
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the memory is kept")
def test_pages_of_memory_that_is_given_away_go_back():
    def pages():
        return int(Path("/proc/self/statm").read_text().split()[1])

    x = torch.ones(1 << 24)
    before = pages()
    x.untyped_storage().resize_(0)
    assert before - pages() > 12000


SEEN = {
    "by numpy": lambda x: x.numpy(),
    "by an array of it": np.asarray,
    "by numpy, of a part": lambda x: x[1:].numpy(),
}


@pytest.mark.parametrize("name", SEEN)
def test_memory_that_is_seen_keeps_its_size(name):
    x = torch.ones(3)
    array = SEEN[name](x)
    assert x.resize_(2).tolist() == [1.0, 1.0] and not x.untyped_storage().resizable()
    with raises(RuntimeError, FIXED):
        x.resize_(10)
    for size in (0, 12, 100):
        with raises(RuntimeError, FIXED):
            x.untyped_storage().resize_(size)
    assert array.sum() == array.size


def test_copies_for_pickles_and_files_are_not_seen():
    import copy
    import io
    import pickle

    x = torch.ones(3)
    copy.deepcopy(x), pickle.dumps(x), torch.save(x, io.BytesIO())
    assert x.untyped_storage().resizable() and x.resize_(10).shape == (10,)


def test_sizes_that_are_none_are_refused():
    storage = torch.UntypedStorage(4)
    with raises(RuntimeError, "[enforce fail at alloc_cpu.cpp:98]"):
        storage.resize_(-1)
    with raises(RuntimeError, "resize_ expects an int, but got float"):
        storage.resize_(2.0)
    with pytest.raises(RuntimeError):
        storage.resize_(2**62)
    assert storage.nbytes() == 4
