"""What a program asks about the machine, and tensors of files."""

import pytest
import rushlight as torch


def test_operations_run_beside_each_other_as_often_as_was_said_once():
    assert torch.get_num_interop_threads() >= 1
    with pytest.raises(RuntimeError, match="set_num_interop_threads expects a positive integer"):
        torch.set_num_interop_threads(-1)
    with pytest.raises(ValueError, match="Overflow when unpacking long"):
        torch.set_num_interop_threads(2**65)


def test_tensors_are_on_no_numbered_device_and_in_no_other_process():
    x = torch.ones(2)
    assert (torch.get_device(x), torch.is_distributed(x)) == (-1, False)
    assert torch.compiled_with_cxx11_abi() is True


def test_a_shared_file_is_made_and_written(tmp_path):
    path = str(tmp_path / "numbers")
    x = torch.from_file(path, shared=True, size=3, dtype=torch.int32)
    assert x.tolist() == [0, 0, 0]
    x.copy_(torch.tensor([1, 2, 3]))
    assert torch.from_file(path, shared=True, size=2, dtype=torch.int32).tolist() == [1, 2]


def test_a_file_that_is_not_shared_stays(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(8))
    x = torch.from_file(str(path), shared=False, size=2)
    x.fill_(1.0)
    assert (x.dtype, path.read_bytes()) == (torch.float32, bytes(8))
    with pytest.raises(RuntimeError, match="> size <8> is smaller than the required mapping size <12>"):
        torch.from_file(str(path), size=3)
    with pytest.raises(RuntimeError, match=r"unable to open file <.*> in read-only mode: No such file"):
        torch.from_file(str(tmp_path / "none"), size=3)


def test_the_version_is_said_with_what_was_built():
    assert torch.version.__version__ == torch.__version__
    assert (torch.version.debug, torch.version.hip, torch.version.xpu) == (False, None, None)


@pytest.mark.own
def test_nothing_was_built_for_other_devices():
    assert torch.version.cuda is None
