"""A process that ends ends those that wait for it. Programs are started, by `run` and by MPI."""

import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
import rushlight as torch
from support import PARITY, begin_processes

pytestmark = pytest.mark.own
PACKAGE = str(Path(torch.__file__).parents[1])


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("raise ValueError('rank one is ill')", "RuntimeError: rank 1 has failed:"),
        ("os.kill(os.getpid(), 9)", "RuntimeError: Connection closed by peer [127.0.0.1]:"),
        ("os._exit(3)", "RuntimeError: Connection closed by peer [127.0.0.1]:"),
    ],
)
def test_others_end_with_the_error_of_who_fails(how, told):
    begin = time.monotonic()
    begun = begin_processes(3, f"if rank == 1: {how}\ndist.all_reduce(torch.ones(3))")
    texts = [process.communicate(timeout=60)[1] for process in begun]
    assert time.monotonic() - begin < 60 and all(process.returncode for process in begun)
    for rank in (0, 2):
        # Who waits for another that waits hears of it from that one.
        assert told in texts[rank] or "RuntimeError: rank " in texts[rank], texts[rank]
        assert texts[rank].startswith(f"[rank{rank}]: ")
    assert any(told in texts[rank] for rank in (0, 2))
    if "raise" in how:
        assert all("ValueError: rank one is ill" in text for text in texts)


def work(rank, path):
    dist = torch.distributed
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2)
    if rank == 1:
        raise ValueError("rank one is ill")
    dist.barrier()


def test_processes_that_spawn_has_started_end_together(tmp_path):
    # The exception of the one is what the other tells as well.
    with pytest.raises(torch.multiprocessing.ProcessRaisedException, match="ValueError: rank one is ill"):
        torch.multiprocessing.start_processes(work, (str(tmp_path / "store"),), nprocs=2, start_method="fork")


PROGRAM = """
import os, sys
import rushlight as torch
dist = torch.distributed
dist.init_process_group(sys.argv[2] if len(sys.argv) > 2 else None)
x = torch.full((5000,), float(dist.get_rank() + 1))
dist.all_reduce(x)
parts = [torch.zeros(3) for _ in range(dist.get_world_size())]
dist.all_gather(parts, torch.full((3,), float(dist.get_rank())))
assert [part[1].item() for part in parts] == list(range(dist.get_world_size()))
found = [None] * dist.get_world_size()
dist.all_gather_object(found, "x" * dist.get_rank())
group = dist.new_group([1, 0])
if dist.get_rank() < 2:
    one = torch.zeros(1)
    other = 1 - dist.get_rank()
    works = [dist.irecv(one, other, tag=3), dist.isend(torch.tensor([float(dist.get_rank())]), other, tag=3)]
    for work in works: work.wait()
    assert one.item() == other
    dist.all_reduce(one, group=group)
    assert one.item() == 1
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1), bucket_cap_mb=1e-6)
model(torch.ones(1, 2) * (dist.get_rank() + 1)).sum().backward()
if sys.argv[1] == "fail" and dist.get_rank() == 1: raise ValueError("rank one is ill")
dist.barrier()
if dist.get_rank() == 0:
    print(dist.get_world_size(), x[0].item(), model.module.weight.grad[0, 0].item(), dist.get_backend(), flush=True)
dist.destroy_process_group()
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return str(path)


def start(*command):
    known = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    path = os.pathsep.join([PACKAGE, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        command, capture_output=True, text=True, timeout=100, env={**known, "PYTHONPATH": path}, check=False
    )


def test_run_starts_processes(program):
    done = start(sys.executable, "-m", "rushlight.distributed.run", "--nproc-per-node", "2", program, "well")
    assert (done.returncode, done.stdout) == (0, "2 3.0 1.5 gloo\n"), done.stderr


def test_run_ends_processes_when_one_fails(program):
    done = start(sys.executable, "-m", "rushlight.distributed.run", "--nproc-per-node", "2", program, "fail")
    assert done.returncode == 1 and "[rank1]: ValueError: rank one is ill" in done.stderr


def test_run_begins_anew(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import os, sys\nprint(turn := os.environ['TORCHELASTIC_RESTART_COUNT'])\nsys.exit(turn == '0')"
    )
    done = start(sys.executable, "-m", "rushlight.distributed.run", "--max-restarts", "2", str(path))
    assert (done.returncode, done.stdout) == (0, "0\n1\n")


def mpiexec():
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if beside.exists() else shutil.which("mpiexec")


def test_without_mpi_it_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(RuntimeError, match="Distributed package doesn't have MPI built in"):
        torch.distributed.init_process_group("mpi")
    assert not torch.distributed.is_initialized()


def test_mpi_is_not_taken_for_processes_that_it_has_not_started(monkeypatch):
    from rushlight.distributed import _mpi

    monkeypatch.setattr(_mpi, "is_there", lambda: True)
    for name in (*_mpi._LAUNCHED, "RANK"):
        monkeypatch.delenv(name, raising=False)
    assert torch.distributed.is_mpi_available()
    monkeypatch.setenv("RANK", "0")
    assert not torch.distributed.is_mpi_available()
    monkeypatch.setenv(_mpi._LAUNCHED[0], "2")
    assert torch.distributed.is_mpi_available()


@pytest.mark.skipif(PARITY or not find_spec("mpi4py"), reason="mpi4py is not there")
def test_a_world_of_several_is_not_taken_for_several_of_one(program):
    done = start(
        sys.executable, "-m", "rushlight.distributed.run", "--nproc-per-node", "2", program, "well", "mpi"
    )
    assert done.returncode and "WORLD_SIZE is 2, but MPI knows of one process" in done.stderr


@pytest.mark.skipif(
    PARITY or not find_spec("mpi4py") or not mpiexec(), reason="mpi4py or mpiexec is not there"
)
@pytest.mark.parametrize("count", [2, 4])
def test_mpi_starts_processes(program, count):
    # More processes than there are cores, by whoever runs the tests: Open MPI asks.
    os.environ.update(PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", OMPI_ALLOW_RUN_AS_ROOT="1")
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    done = start(mpiexec(), "-n", str(count), sys.executable, program, "well")
    total = float(sum(range(1, count + 1)))
    expected = f"{count} {total} {total / count} mpi\n"
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
    failed = start(mpiexec(), "-n", str(count), sys.executable, program, "fail", "mpi")
    assert failed.returncode and "ValueError: rank one is ill" in failed.stderr
