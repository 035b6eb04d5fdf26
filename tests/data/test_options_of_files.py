"""Settings of reading and writing files of tensors: what a file does not tell, maps, and numbers left out."""

import io
import mmap
import pickle
import zipfile
from collections import Counter
from fractions import Fraction

import pytest
import rushlight as torch
from rushlight import serialization


def saved(obj):
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return file


def test_numbers_can_be_left_out():
    with serialization.skip_data():
        file = saved({"x": torch.ones(3), "n": 7})
    found = torch.load(file)
    assert found["x"].tolist() == [0.0, 0.0, 0.0] and found["n"] == 7
    file = saved(torch.ones(3))
    with serialization.skip_data():
        assert torch.load(file).shape == (3,)
    file.seek(0)
    assert torch.load(file).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.own
def test_the_order_of_bytes_in_files_that_do_not_tell():
    file = io.BytesIO()
    torch.save(torch.tensor([1, 256], dtype=torch.int16), file, _disable_byteorder_record=True)
    assert serialization.get_default_load_endianness() is None
    try:
        serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
        file.seek(0)
        assert torch.load(file).tolist() == [256, 1]
    finally:
        serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        serialization.set_default_load_endianness("big")


def test_maps_that_write_to_the_file(tmp_path):
    path = tmp_path / "tensor"
    torch.save(torch.zeros(2), path)
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    torch.load(path, mmap=True).fill_(5)
    assert torch.load(path).tolist() == [0.0, 0.0]
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        torch.load(path, mmap=True).fill_(5)
    assert torch.load(path, mmap=True).tolist() == [5.0, 5.0]
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with pytest.raises(ValueError, match=r"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 77"):
        serialization.set_default_mmap_options(77)


@pytest.mark.own
def test_where_members_begin():
    from rushlight.utils.serialization import config

    config.save.storage_alignment = 4096
    try:
        file = saved(torch.ones(3))
    finally:
        config.save.storage_alignment = 64
    content = file.getvalue()
    member = zipfile.ZipFile(file).getinfo("archive/data/0")
    name, extra = (int.from_bytes(content[member.header_offset + at :][:2], "little") for at in (26, 28))
    assert (member.header_offset + 30 + name + extra) % 4096 == 0


def test_what_a_file_names_that_is_refused():
    file = saved({"a": torch.ones(1, dtype=torch.uint16), "b": Fraction(1, 2), "c": Counter("ab")})
    assert serialization.get_unsafe_globals_in_checkpoint(file) == ["fractions.Fraction"]
    file.seek(0)
    with serialization.safe_globals([Fraction]):
        assert serialization.get_unsafe_globals_in_checkpoint(file) == []
    with pytest.raises(ValueError, match=r"Expected input to be a checkpoint returned by torch.save"):
        serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(b"nothing"))


@pytest.mark.parametrize(("protocol", "operand"), [(3, None), (4, 149), (5, 149)])
def test_pickles_of_later_protocols_are_told_of(protocol, operand):
    file = io.BytesIO()
    torch.save({"a": torch.ones(1)}, file, pickle_protocol=protocol)
    file.seek(0)
    with pytest.warns(UserWarning, match=f"Detected pickle protocol {protocol} in the checkpoint"):
        if operand is None:
            assert torch.load(file)["a"] == 1
        else:
            with pytest.raises(pickle.UnpicklingError, match=f"Unsupported operand {operand}"):
                torch.load(file)


def test_text_of_python_2_has_an_encoding():
    file = io.BytesIO()
    torch.save(["#", torch.ones(1)], file, _use_new_zipfile_serialization=False)
    written = file.getvalue().replace(b"X\x01\x00\x00\x00#", b"U\x02\xc5\xbc")
    assert torch.load(io.BytesIO(written))[0] == "ż"
    with pytest.warns(UserWarning, match="pickle_load_args only works if `weights_only=False`"):
        assert torch.load(io.BytesIO(written), encoding="latin1")[0] == "Å¼"
    assert torch.load(io.BytesIO(written), weights_only=False, encoding="bytes")[0] == b"\xc5\xbc"


def test_what_was_written_to_an_open_file_is_in_it(tmp_path):
    with open(tmp_path / "tensor.pt", "wb") as file:
        torch.save(torch.ones(2), file, _use_new_zipfile_serialization=False)
        assert torch.load(tmp_path / "tensor.pt").tolist() == [1, 1]


def test_places_of_sparse_tensors_are_checked_when_all_is_read():
    for layout, found in (
        ("to_sparse", "size is inconsistent"),
        ("to_sparse_csr", r"crow_indices\[..., 0\] == 0`"),
    ):
        for is_archive in (True, False):
            file = io.BytesIO()
            torch.save(
                Spoofed(getattr(torch.eye(2), layout)()), file, _use_new_zipfile_serialization=is_archive
            )
            assert torch.load(io.BytesIO(file.getvalue())).shape == (2, 2)
            with torch.sparse.check_sparse_tensor_invariants(), pytest.raises(RuntimeError, match=found):
                torch.load(io.BytesIO(file.getvalue()))


class Spoofed:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        make, (layout, parts) = self.tensor.__reduce_ex__(2)
        parts[0].view(-1)[0] = 7
        return make, (layout, parts)


def test_records_of_which_only_the_size_is_known():
    file = io.BytesIO()
    with torch.serialization._open_zipfile_writer(file) as archive:
        archive.write_record_metadata("data/0", 5)
    with torch.serialization._open_zipfile_reader(io.BytesIO(file.getvalue())) as archive:
        assert archive.get_record("data/0") == bytes(5)
