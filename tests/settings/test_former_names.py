"""Names that say what took their place, and what programs ask of libraries that are not there."""

import warnings

import numpy as np
import pytest
import rushlight as torch
import rushlight.utils.benchmark
import rushlight.utils.dlpack
from support import raises

matrix = torch.zeros(2, 2)


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda: torch.solve(matrix, matrix),
            "`torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.lin",
        ),
        (
            lambda: matrix.solve(matrix),
            "`torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has",
        ),
        (
            lambda: torch.lstsq(matrix, matrix),
            "`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.",
        ),
        (
            lambda: matrix.lstsq(matrix),
            "`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.",
        ),
        (
            lambda: torch.eig(matrix),
            "`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than",
        ),
        (
            lambda: matrix.eig(),
            "`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than",
        ),
        (
            lambda: torch.symeig(matrix),
            "The default behavior has changed from using the upper triangular portion of the mat",
        ),
        (
            lambda: matrix.symeig(),
            "The default behavior has changed from using the upper triangular portion of the mat",
        ),
    ],
)
def test_a_function_that_is_gone_names_what_took_its_place(call, text):
    with raises(RuntimeError, f"This function was deprecated since version 1.9 and is now removed. {text}"):
        call()


def test_other_names_that_are_gone():
    with raises(
        RuntimeError,
        "This function was deprecated since version 1.9 and is now removed.\nPlease use the `torch.l",
    ):
        torch.matrix_rank(matrix)
    with raises(
        RuntimeError,
        "reinforce() was removed.\nUse torch.distributions instead.\nSee https://pytorch.org/docs/m",
    ):
        matrix.reinforce(1)


def test_no_tensor_is_on_another_device():
    for name in ("ipu", "maia", "mkldnn", "mtia", "sparse_csr", "vulkan", "xla", "xpu", "cuda", "mps"):
        assert getattr(matrix, f"is_{name}") is False


def test_mixed_precision_can_be_asked_for_by_former_names():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not torch.is_autocast_cpu_enabled() and torch.get_autocast_gpu_dtype() is torch.float16
        torch.set_autocast_cpu_dtype(torch.float16)
        torch.set_autocast_cpu_enabled(True)
        assert torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is torch.float16
        torch.set_autocast_cpu_enabled(False)
        torch.set_autocast_cpu_dtype(torch.bfloat16)
        assert torch.get_autocast_cpu_dtype() is torch.bfloat16


@pytest.mark.own
def test_former_names_of_mixed_precision_warn():
    text = r"torch.is_autocast_cpu_enabled\(\) is deprecated. Please use torch.is_autocast_enabled\('cpu'\) instead."
    with pytest.warns(DeprecationWarning, match=text) as caught:
        torch.is_autocast_cpu_enabled()
    assert caught[0].filename == __file__


def test_switches_of_libraries_can_be_set():
    cudnn = torch.backends.cudnn
    assert cudnn.enabled and not cudnn.benchmark and not cudnn.deterministic
    cudnn.benchmark = True
    assert torch.backends.cudnn.benchmark
    with cudnn.flags(enabled=True, deterministic=True):
        assert cudnn.deterministic and not cudnn.benchmark
    assert cudnn.benchmark and not cudnn.deterministic
    cudnn.benchmark = False
    assert torch.backends.cuda.matmul.allow_tf32 is False and not torch.backends.mps.is_available()


@pytest.mark.own
def test_libraries_are_not_there():
    backends = torch.backends
    for one in (backends.cudnn, backends.mps, backends.mkl, backends.mkldnn, backends.openmp):
        assert not one.is_available()
    assert backends.cudnn.version() is None and not backends.cuda.is_built() and not backends.mps.is_built()
    assert not backends.cudnn.is_acceptable(matrix)
    assert torch.distributed.is_available() and not torch.distributed.is_initialized()


def test_nothing_is_being_compiled():
    compiler = torch.compiler
    assert not compiler.is_compiling() and not compiler.is_dynamo_compiling() and not compiler.is_exporting()


@pytest.mark.own
def test_functions_stay_as_they_are():
    compiler = torch.compiler
    assert (
        compiler.disable(len) is len
        and compiler.disable()(len) is len
        and compiler.allow_in_graph(len) is len
    )
    compiler.reset()
    compiler.cudagraph_mark_step_begin()


def test_types_have_names():
    assert torch.types.Number == int | float | bool and torch.types._int is int
    assert isinstance([1], list) and torch.types._size is not None


def test_close_tensors_may_differ_in_type():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.testing.assert_allclose(torch.ones(2) * (1 + 5e-5), torch.ones(2, dtype=torch.float64))
        torch.testing.assert_allclose([1.0], torch.ones(1))
    assert str(caught[0].message).startswith(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be"
    )
    assert caught[0].category is FutureWarning and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = "Tensor-likes are not close!\n\nMismatched elements: 2 / 2 (100.0%)\nGreatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)"
        with raises(AssertionError, text):
            torch.testing.assert_allclose(torch.ones(2), torch.zeros(2))


def test_other_libraries_share_memory():
    x = torch.arange(3.0)
    taken = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x))
    taken[0] = 7
    assert x[0] == 7
    array = np.ones(2)
    shown = torch.from_dlpack(array)
    shown[1] = 3
    assert array.tolist() == [1.0, 3.0] and shown.dtype is torch.float64


def test_a_statement_is_timed():
    timer = rushlight.utils.benchmark.Timer("x + 1", globals={"x": torch.ones(2)})
    once = timer.timeit(10)
    assert (
        once.number_per_run == 10
        and len(once.times) == 1
        and once.mean == once.median == once.raw_times[0] / 10
    )
    assert repr(once).splitlines()[1] == "x + 1" and repr(once).endswith("1 measurement, 10 runs , 1 thread")
    many = timer.blocked_autorange(min_run_time=0.01)
    assert sum(many.raw_times) >= 0.01 and many.iqr >= 0.0


def test_ways_to_share_memory_have_names():
    import rushlight.multiprocessing as processes

    assert processes.get_all_sharing_strategies() == {"file_descriptor", "file_system"}
    before = processes.get_sharing_strategy()
    processes.set_sharing_strategy("file_system")
    assert processes.get_sharing_strategy() == "file_system"
    processes.set_sharing_strategy(before)
    assert callable(processes.Process) and processes.cpu_count() > 0
    with pytest.raises(AssertionError):
        processes.set_sharing_strategy("other")
