"""Memory of others that does not begin where an element of every type can lie."""

import pytest
import rushlight as torch

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.own


def odd_bytes(count, offset=1):
    """Bytes of numpy's that begin `offset` behind an address that any type may have."""
    room = np.zeros(count + 32, dtype=np.uint8)
    start = -room.__array_interface__["data"][0] % 16 + offset
    return room[start : start + count]


@pytest.mark.parametrize("dtype", [torch.int16, torch.float16, torch.float32, torch.int64, torch.complex128])
def test_bytes_at_an_odd_address_are_no_wider_elements(dtype):
    x = torch.from_numpy(odd_bytes(32))
    with pytest.raises(RuntimeError, match="does not begin where an element of torch"):
        x.view(dtype)
    assert x.clone().view(dtype).numel() == 32 // dtype.itemsize
    assert torch.equal(x.view(torch.int8), torch.zeros(32, dtype=torch.int8))


def test_bytes_at_the_address_of_a_short_are_shorts_and_no_more():
    x = torch.from_numpy(odd_bytes(32, offset=2))
    assert x.view(torch.int16).numel() == 16
    with pytest.raises(RuntimeError, match="use clone\\(\\) first"):
        x.view(torch.float32)


def test_a_storage_at_an_odd_address_is_read_as_bytes_only():
    storage = torch.from_numpy(odd_bytes(32)).untyped_storage()
    assert torch.tensor([], dtype=torch.uint8).set_(storage).numel() == 32
    with pytest.raises(RuntimeError, match="does not begin where"):
        torch.tensor([], dtype=torch.float32).set_(storage)


def test_numbers_that_do_not_begin_at_a_pair_are_no_complex_numbers():
    x = torch.from_numpy(odd_bytes(32, offset=4).view(np.float32))
    with pytest.raises(RuntimeError, match="where an element of torch\\.complex64 can lie"):
        torch.view_as_complex(x.reshape(4, 2))
    assert torch.view_as_complex(x.clone().reshape(4, 2)).shape == (4,)


def test_elements_that_are_aligned_are_shared():
    array = np.zeros(4, dtype=np.float32)
    x = torch.from_numpy(array).view(torch.int32)
    x[0] = 1
    assert array[0] != 0
