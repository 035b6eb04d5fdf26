"""Arrays of classes below numpy's that show memory which is not theirs."""

import gc

import pytest
import rushlight as torch

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.own


class Liar(np.ndarray):
    """An array that says that it lies elsewhere, and is larger."""

    @property
    def __array_interface__(self):
        return {"version": 3, "typestr": "<f8", "shape": (1 << 20,), "data": (16, False), "strides": None}

    @property
    def __array_struct__(self):
        return np.full(1 << 10, 7.0).__array_struct__

    shape = property(lambda self: (1 << 20,))
    strides = property(lambda self: (1 << 10,))


@pytest.mark.parametrize("read", [torch.from_numpy, torch.tensor, torch.as_tensor])
def test_the_memory_is_asked_of_the_class_of_arrays(read):
    array = np.arange(4.0).view(Liar)
    x = read(array)
    del array
    gc.collect()
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]
