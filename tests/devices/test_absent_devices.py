"""Modules of devices that are not there: they load, and say so when they are needed."""

import pytest
import rushlight as torch
from support import raises


@pytest.mark.parametrize("name", ["xpu", "mps", "mtia", "cuda", "accelerator"])
def test_there_is_no_other_device(name):
    module = getattr(torch, name)
    assert not module.is_available() and module.device_count() == 0


@pytest.mark.own
@pytest.mark.parametrize(
    "name", ["cuda", "xpu", "mps", "mtia", "accelerator", "cpu", "hub", "jit", "_dynamo", "compiler"]
)
def test_everything_that_a_module_names_is_there(name):
    module = getattr(torch, name)
    assert [one for one in getattr(module, "__all__", ()) if not hasattr(module, one)] == []


def test_counts_of_memory_are_zero():
    assert (
        torch.cuda.max_memory_reserved() == torch.xpu.memory_allocated() == torch.mtia.memory_allocated() == 0
    )
    assert torch.cuda.memory_stats() == {} and torch.accelerator.memory_allocated() == 0


def test_seeds_go_nowhere():
    for module in (torch.xpu, torch.mps, torch.mtia):
        assert module.manual_seed(1) is None
    assert torch.cuda.seed_all() is None and torch.cuda.get_rng_state_all() == []


def test_what_needs_a_device_is_an_error():
    with raises(AssertionError, "Torch not compiled with XPU enabled"):
        torch.xpu.synchronize()
    with raises(RuntimeError, "Cannot execute deviceSynchronize() without MPS backend."):
        torch.mps.synchronize()
    with raises(RuntimeError, "Cannot execute setCurrentDevice() without MTIA backend."):
        torch.mtia.set_device(0)
    with raises(RuntimeError, "Tried to instantiate dummy base class Stream"):
        torch.xpu.Stream()


@pytest.mark.own
def test_what_needs_cuda_is_an_error():
    for name in ["init", "current_stream", "mem_get_info", "get_device_capability", "ipc_collect", "cudart"]:
        with raises(AssertionError, "Torch not compiled with CUDA enabled"):
            getattr(torch.cuda, name)()
    for name in ("Stream", "Event", "CUDAGraph"):
        with raises(RuntimeError, f"Tried to instantiate dummy base class {name}"):
            getattr(torch.cuda, name)()
    with raises(RuntimeError, "NVTX functions not installed. Are you sure you have a CUDA build?"):
        torch.cuda.nvtx.range_push("a")
    with raises(AssertionError, "Torch not compiled with CUDA enabled"), torch.cuda.device(0):
        pass


def test_blocks_on_no_stream_run():
    with torch.cuda.stream(None), torch.cuda.device(-1), torch.cuda.device_of(torch.ones(1)):
        assert torch.ones(1).item() == 1.0
    with torch.accelerator.device_index(None), torch.cpu.stream(torch.cpu.current_stream()):
        assert torch.ones(1).item() == 1.0


def test_classes_of_cuda_have_no_instances():
    assert not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    assert repr(torch.cuda.FloatTensor).endswith(".cuda.FloatTensor'>")
    assert torch.cuda.FloatTensor.dtype is torch.float32 and torch.cuda.FloatTensor.is_cuda
    assert torch.cuda.sparse.DoubleTensor.dtype is torch.float64


def test_the_processor_has_streams():
    stream = torch.Stream("cpu")
    assert stream.device == torch.device("cpu") and repr(stream) == (
        "torch.Stream device_type=cpu, device_index=-1, stream_id=0"
    )
    assert (
        repr(torch.Event("cpu")) == "torch.Event device_type=cpu, device_index=-1, event_flag=0, event_id=0"
    )


@pytest.mark.own
def test_time_passes_between_events():
    first, second = torch.Event(enable_timing=True), torch.Event(enable_timing=True)
    with raises(ValueError, "Both events must be recorded before calculating elapsed time."):
        first.elapsed_time(second)
    torch.Stream().record_event(first)
    second.record()
    assert first.elapsed_time(second) >= 0.0 and first.query()
    with raises(ValueError, "Both events must be created with argument 'enable_timing=True'."):
        first.elapsed_time(torch.Event())
    with pytest.raises(RuntimeError, match="there is none"):
        torch.Stream("cuda")


def test_devices_have_modules():
    assert torch.get_device_module("cpu") is torch.cpu and torch.get_device_module("cuda") is torch.cuda


def test_errors_of_devices_are_errors_of_running():
    assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError)
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
    assert issubclass(torch.AcceleratorError, RuntimeError)


def test_types_and_layouts_that_are_named():
    for name in ("uint16", "float8_e4m3fn", "complex32", "sparse_coo", "sparse_csr", "qint8"):
        assert repr(getattr(torch, name)) == f"torch.{name}"
    assert torch.ones(1).layout != torch.sparse_coo and torch.ones(1).dtype != torch.uint16
    assert torch.uint16.itemsize == 2 and torch.float8_e5m2.is_floating_point


def test_what_devices_exchange_is_found_by_its_former_name():
    from rushlight.cuda import comm

    ones, twos = torch.ones(2), torch.full((2,), 2.0)
    copies = comm.broadcast_coalesced([ones, twos], (0, 1))
    assert [[one.tolist() for one in each] for each in copies] == [[[1, 1], [2, 2]]] * 2
    sums = comm.reduce_add_coalesced([[ones, twos], [twos, twos]])
    assert [one.tolist() for one in sums] == [[3, 3], [4, 4]]
