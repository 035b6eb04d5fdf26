"""Small things that are no documented part of torch, and which libraries import."""

import rushlight as torch
from rushlight._utils import _get_device_index
from rushlight.nn.modules.module import _addindent
from rushlight.profiler import ProfilerAction
from rushlight.profiler.profiler import _default_schedule_fn
from rushlight.serialization import normalize_storage_type
from support import raises


def test_devices_have_numbers():
    assert _get_device_index(2) == 2 and _get_device_index(torch.device("cuda:1")) == 1
    assert _get_device_index("cpu", allow_cpu=True) == -1
    assert _get_device_index("cuda", optional=True) is None and _get_device_index(None, optional=True) is None
    with raises(ValueError, "Expected a non cpu device, but got: cpu"):
        _get_device_index("cpu")
    with raises(ValueError, "Expected a torch.device with a specified index or an integer, but got:None"):
        _get_device_index(None)


def test_texts_schedules_and_storages():
    assert _addindent("a\nb\nc", 2) == "a\n  b\n  c"
    assert _default_schedule_fn(3) is ProfilerAction.RECORD
    assert normalize_storage_type(torch.FloatStorage) is torch.FloatStorage
    assert normalize_storage_type(torch.UntypedStorage) is torch.UntypedStorage


def test_settings_of_libraries_hold_for_a_block():
    with torch.backends.mkldnn.flags(enabled=False):
        assert torch.backends.mkldnn.enabled is False
    assert torch.backends.mkldnn.enabled is True
    with raises(RuntimeError, "Cannot execute isOnMacOSorNewer() without MPS backend."):
        torch.backends.mps.is_macos_or_newer(13, 0)
    assert torch.distributed.DeviceMesh is torch.distributed.device_mesh.DeviceMesh


def test_small_steps_of_linear_algebra():
    from rushlight import _linalg_utils as steps

    matrix, column = torch.tensor([[2.0, 1.0], [1.0, 3.0]]), torch.tensor([[1.0], [2.0]])
    assert steps.qform(matrix, column).item() == 18.0 and steps.qform(None, column).item() == 5.0
    values, vectors = steps.symeig(matrix, largest=True)
    torch.testing.assert_close(values, torch.tensor([3.6180, 1.3820]), atol=1e-4, rtol=0)
    torch.testing.assert_close(matrix @ vectors, vectors * values)
    basis = steps.basis(column)
    torch.testing.assert_close(basis.mT @ basis, torch.eye(1))
    assert steps.get_floating_dtype(matrix.int()) is torch.float32
    assert steps.is_sparse(matrix.to_sparse()) and not steps.is_sparse(matrix)
    with raises(TypeError, "expected Tensor but got <class 'int'>"):
        steps.is_sparse(3)
    with raises(RuntimeError, "This function was deprecated since version 1.9 and is now removed."):
        steps.solve(matrix, column)
