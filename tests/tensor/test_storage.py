"""The memory of a tensor as an object: who shares it, and what is in it."""

import gc

import numpy as np
import pytest
import rushlight as torch


def test_tensors_that_share_memory_have_one_storage():
    x = torch.arange(6.0).view(2, 3)
    storage = x.untyped_storage()
    assert storage is x[1].untyped_storage() and storage is x.detach().untyped_storage()
    assert storage.data_ptr() == x.data_ptr() == x[1].untyped_storage().data_ptr()
    assert storage._cdata == x[1].untyped_storage()._cdata
    assert x.clone().untyped_storage().data_ptr() != storage.data_ptr()


def test_a_storage_is_bytes():
    x = torch.tensor([1.0, 2.0])
    storage = x.untyped_storage()
    assert storage.nbytes() == storage.size() == len(storage) == 8
    assert storage.element_size() == 1 and storage.tolist() == [0, 0, 128, 63, 0, 0, 0, 64]
    assert storage[3] == 63 and not storage.is_cuda and storage.device == torch.device("cpu")
    copy = storage.clone()
    storage.fill_(0)
    assert x.tolist() == [0.0, 0.0] and copy[3] == 63
    lines = repr(torch.zeros(1, dtype=torch.uint8).untyped_storage()).splitlines()
    assert lines == [" 0", "[torch.storage.UntypedStorage(device=cpu) of size 1]"]


def test_a_storage_keeps_its_memory():
    storage = torch.full((3,), 7, dtype=torch.uint8).untyped_storage()
    gc.collect()
    assert storage.tolist() == [7, 7, 7]


def test_an_empty_tensor_has_an_empty_storage():
    storage = torch.empty(0).untyped_storage()
    assert storage.nbytes() == 0 and storage.data_ptr() == 0


def test_a_typed_storage_is_elements_and_deprecated():
    x = torch.arange(6.0).view(2, 3)
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        storage = x[1].storage()
    assert storage.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and len(storage) == 6
    assert storage.dtype is torch.float32 and storage.data_ptr() == x.data_ptr()
    assert x._typed_storage()._cdata == x.untyped_storage()._cdata


def test_a_storage_is_no_tensor():
    x = torch.ones(2)
    assert torch.is_storage(x.untyped_storage()) and torch.is_storage(x._typed_storage())
    assert not torch.is_storage(x) and isinstance(x.untyped_storage(), torch.UntypedStorage)


def test_memory_that_numpy_owns_is_not_made_larger():
    lent = torch.from_numpy(np.zeros((2, 3), dtype=np.float32))
    with pytest.raises(RuntimeError, match=r"^Trying to resize storage that is not resizable$"):
        lent.resize_(7)
    assert lent.resize_(3, 2).shape == (3, 2)
    nothing = torch.from_numpy(np.zeros(0, dtype=np.float32))
    with pytest.raises(RuntimeError, match=r"^Trying to resize storage that is not resizable$"):
        nothing.resize_(1)
    parts = [torch.ones(2, 3), torch.ones(4, 3)]
    with (
        pytest.warns(UserWarning, match="An output with one or more elements was resized"),
        pytest.raises(RuntimeError, match=r"^Trying to resize storage that is not resizable$"),
    ):
        torch.cat(parts, out=lent)
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        assert torch.cat(parts, out=torch.zeros(2, 3)).shape == (6, 3)
