"""Operations that all processes take part in, with two and with four."""

import importlib

import pytest
import rushlight as torch
from support import raises, run_processes

dist = torch.distributed
SIZES = pytest.mark.parametrize("count", [2, 4])

REDUCING = """
import math
def everybody(make): return [make(one) for one in range(world)]
def combined(make, step):
    found = make(0)
    for one in range(1, world): found = step(found, make(one))
    return found
def whole(one): return torch.arange(5000) % 7 + one + 1
def real(one): return whole(one).float() / 8
# Short and long ones go different ways.
for cut in (0, 1, 3, 5000):
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.complex64):
        mine = whole(rank)[:cut].to(dtype)
        dist.all_reduce(mine)
        assert mine.dtype is dtype and mine.equal(combined(lambda one: whole(one)[:cut].to(dtype), torch.add))
op = dist.ReduceOp
for kind, step in [(op.PRODUCT, torch.mul), (op.MIN, torch.minimum), (op.MAX, torch.maximum),
                   (op.BAND, torch.bitwise_and), (op.BOR, torch.bitwise_or), (op.BXOR, torch.bitwise_xor)]:
    mine = whole(rank)
    dist.all_reduce(mine, op=kind)
    assert mine.equal(combined(whole, step)), kind
mine = real(rank)
dist.all_reduce(mine, op.AVG)
assert mine.equal(combined(real, torch.add) / world)
flags = torch.tensor([rank == 1, False])
dist.all_reduce(flags, op.MAX)
assert flags.tolist() == [True, False]
for root in range(world):
    mine = real(rank)
    dist.reduce(mine, root)
    if rank == root: assert mine.equal(combined(real, torch.add))
turned = torch.arange(12.0).view(3, 4).t()
dist.all_reduce(turned)
assert turned.equal(torch.arange(12.0).view(3, 4).t() * world)
scalar, nan = torch.tensor(1.0), torch.tensor([float("nan"), 1.0])
dist.all_reduce(scalar); dist.all_reduce(nan)
assert scalar.item() == world and nan[0].isnan() and nan[1] == world
out = torch.zeros(2)
dist.reduce_scatter(out, [torch.full((2,), float(one)) for one in range(world)])
assert out.tolist() == [rank * world] * 2
out = torch.zeros(1)
dist.reduce_scatter_single(out, torch.arange(float(world)))
assert out.item() == rank * world
"""

MOVING = """
def of(one): return torch.full((3,), float(one))
for root in range(world):
    mine = of(rank)
    dist.broadcast(mine, root)
    assert mine.equal(of(root))
    parts = [torch.zeros(3) for _ in range(world)] if rank == root else None
    dist.gather(of(rank), parts, root)
    if rank == root: assert torch.stack(parts).equal(torch.stack([of(one) for one in range(world)]))
    mine = torch.zeros(3)
    dist.scatter(mine, [of(one) for one in range(world)] if rank == root else None, root)
    assert mine.equal(of(rank))
parts = [torch.zeros(3) for _ in range(world)]
dist.all_gather(parts, of(rank))
assert [part[0].item() for part in parts] == list(range(world))
flat = torch.zeros(3 * world)
dist.all_gather_single(flat, of(rank))
assert flat.view(world, 3)[:, 0].tolist() == list(range(world))
out = torch.zeros(world)
dist.all_to_all_single(out, torch.arange(float(world)) + 10 * rank)
assert out.tolist() == [10 * one + rank for one in range(world)]
# Each sends one more to the next than to the one before.
given = torch.arange(float(sum(range(1, world + 1))))
sizes = list(range(1, world + 1))
out = torch.zeros((rank + 1) * world)
dist.all_to_all_single(out, given, [rank + 1] * world, sizes)
assert out.tolist() == given.split(sizes)[rank].tolist() * world
received = [torch.zeros(1) for _ in range(world)]
dist.all_to_all(received, [torch.tensor([float(10 * rank + one)]) for one in range(world)])
assert torch.cat(received).tolist() == [10 * one + rank for one in range(world)]
dist.barrier(); dist.monitored_barrier()
"""

LATER = """
works = [dist.all_reduce(torch.full((3000,), float(place)), async_op=True) for place in range(6)]
last = dist.barrier(async_op=True)
for place, work in enumerate(works):
    assert work.wait() and work.is_completed()
    assert work.get_future().wait()[0][7] == place * world
last.wait()
x = torch.ones(2)
doubled = dist.all_reduce(x, async_op=True).get_future().then(lambda one: one.value()[0] * 2)
assert doubled.wait().tolist() == [2 * world] * 2
"""

MESSAGES = """
after, before = (rank + 1) % world, (rank - 1) % world
big = torch.zeros(300000)
ops = [dist.P2POp(dist.isend, torch.full((300000,), float(rank)), after), dist.P2POp(dist.irecv, big, before)]
for work in dist.batch_isend_irecv(ops): work.wait()
assert big[7] == before
small = torch.zeros(1)
if rank == 0:
    senders = {dist.recv(small) for _ in range(world - 1)}
    assert senders == set(range(1, world))
else:
    dist.send(torch.tensor([float(rank)]), 0)
dist.barrier()
# By their tags, messages are told apart.
if rank == 0:
    works = [dist.isend(torch.tensor([float(tag)]), 1, tag=tag) for tag in (5, 6)]
    for work in works: work.wait()
    dist.send_object_list([1, "two", {"three": torch.ones(3)}], 1)
if rank == 1:
    second, first = torch.zeros(1), torch.zeros(1)
    assert dist.recv(second, 0, tag=6) == 0 and dist.irecv(first, 0, tag=5).wait()
    assert (first.item(), second.item()) == (5, 6)
    found = [None] * 3
    dist.recv_object_list(found, 0)
    assert found[:2] == [1, "two"] and found[2]["three"].sum() == 3
"""

OBJECTS = """
found = [None] * world
dist.all_gather_object(found, {"rank": rank, "text": "x" * rank})
assert found == [{"rank": one, "text": "x" * one} for one in range(world)]
found = [rank, "a"]
dist.broadcast_object_list(found, 1)
assert found == [1, "a"]
found = [None]
dist.scatter_object_list(found, ["x" * one for one in range(world)] if rank == 0 else None)
assert found == ["x" * rank]
found = [None] * world if rank == 1 else None
dist.gather_object(rank, found, dst=1)
assert found is None or found == list(range(world))
"""

GROUPS = """
import warnings
pair = dist.new_group([1, 0])
assert dist.get_process_group_ranks(dist.group.WORLD) == list(range(world))
assert dist.get_rank(pair) == (rank if rank < 2 else -1) and dist.get_world_size(pair) == (2 if rank < 2 else -1)
x = torch.ones(1)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    assert dist.all_reduce(x, group=pair) is None
assert x.item() == (2 if rank < 2 else 1)
if rank >= 2:
    assert str(told[-1].message) == f"Running all_reduce on global rank {rank} which does not belong to the given group."
last = dist.new_group([world - 1])
if rank == world - 1:
    assert dist.get_rank(last) == 0 and dist.get_global_rank(last, 0) == rank and dist.get_group_rank(last, rank) == 0
mine, all_of_them = dist.new_subgroups(2)
x = torch.tensor([float(rank)])
dist.broadcast(x, rank - rank % 2, group=mine)
assert x.item() == rank - rank % 2 and len(all_of_them) == world // 2
# In two groups at once.
ones = [torch.ones(2000), torch.ones(2000)]
works = [dist.all_reduce(ones[0], async_op=True), dist.all_reduce(ones[1], group=mine, async_op=True)]
for work in works[::-1]: work.wait()
assert [one[0].item() for one in ones] == [world, 2]
dist.destroy_process_group(mine)
mesh = dist.device_mesh.init_device_mesh("cpu", (world // 2, 2), mesh_dim_names=("rows", "columns"))
assert mesh.get_coordinate() == (rank // 2, rank % 2) and mesh.get_group("columns").size() == 2
"""


@SIZES
@pytest.mark.parametrize("source", [REDUCING + MOVING, LATER + MESSAGES + OBJECTS + GROUPS])
def test_processes_compute_together(count, source):
    run_processes(count, source)


@pytest.mark.own
def test_all_have_the_same_bits():
    source = """
    import hashlib
    torch.manual_seed(rank)
    for size in (1, 1000, 50001):
        mine = torch.randn(size)
        dist.all_reduce(mine)
        print(hashlib.sha256(mine.numpy().tobytes()).hexdigest())
    """
    shown = run_processes(4, source)
    assert len(shown[0].split()) == 3 and len(set(shown)) == 1


@pytest.mark.own
def test_tensors_can_come_along_a_new_dimension():
    source = """
    rows = torch.zeros(world, 3)
    dist.all_gather_single(rows, torch.full((3,), float(rank)))
    print(rows[:, 0].tolist())
    """
    assert run_processes(2, source) == ["[0.0, 1.0]\n"] * 2


@pytest.mark.own
def test_what_does_not_fit_is_an_error():
    source = """
    if rank == 0:
        dist.send(torch.ones(3), 1)
    else:
        try:
            dist.recv(torch.ones(2), 0)
        except RuntimeError as failure:
            print(failure)
    """
    assert "rank 0 sent 12 bytes, but 8 were expected" in run_processes(2, source)[1]


def test_who_comes_too_late_is_not_waited_for():
    source = """
    import datetime, time
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
    group = dist.new_group(timeout=datetime.timedelta(milliseconds=300))
    if rank == 0:
        try:
            dist.all_reduce(torch.ones(1), group=group)
        except RuntimeError as failure:
            print("Timed out waiting 300ms" in str(failure))
    else:
        time.sleep(2)
    """
    assert run_processes(2, source, join=False)[0] == "True\n"


@pytest.fixture
def alone():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_one_process_is_a_world(alone):
    x = torch.ones(2)
    assert dist.all_reduce(x) is None and dist.all_reduce(x, async_op=True).wait()
    dist.broadcast(x, 0)
    dist.barrier()
    parts, found = [torch.zeros(2)], [None]
    dist.all_gather(parts, x)
    dist.all_gather_object(found, "it")
    assert x.tolist() == parts[0].tolist() == [1, 1] and found == ["it"]
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
    assert dist.group.WORLD.name() == "gloo" and dist.is_initialized()
    # It is written to as it is: what was saved of it does not know.
    assert x._version == 0


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            "all_reduce(3)",
            TypeError,
            "Invalid function argument. Expected parameter `tensor` of type torch.Tensor",
        ),
        ("all_reduce(x, op=R.BAND)", RuntimeError, "Cannot use ReduceOp.BAND with non-integral dtype"),
        ("all_reduce(x, op='sum')", TypeError, "(): incompatible function arguments."),
        ("all_reduce(x, op=R.PREMUL_SUM)", (RuntimeError, TypeError), ""),
        (
            "all_reduce(torch.ones(1, dtype=torch.cfloat), op=R.MAX)",
            ValueError,
            "all_reduce does not support RedOpType.MAX on complex tensors",
        ),
        ("broadcast(x)", ValueError, "Must specify global_rank or group_rank"),
        ("broadcast(x, 5)", RuntimeError, "ProcessGroupGloo::broadcast: invalid root rank: 5"),
        (
            "all_gather([x, x, x], x)",
            RuntimeError,
            "ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length 1, got 3)",
        ),
        (
            "all_gather([torch.ones(3)], x)",
            RuntimeError,
            "ProcessGroupGloo::allgather: invalid tensor size at index 0 (expected (2), got (3))",
        ),
        (
            "all_gather([torch.ones(2, dtype=torch.int64)], x)",
            ValueError,
            "Invalid usage of tensors with different dtypesFound torch.int64 and  torch.float32",
        ),
        (
            "all_gather((x,), x)",
            TypeError,
            "Invalid function argument. Expected parameter `tensor_list` of type List",
        ),
        (
            "all_gather_single(torch.ones(5), x)",
            RuntimeError,
            "ProcessGroupGloo::allgather: invalid tensor size",
        ),
        ("gather(x)", ValueError, "Argument ``gather_list`` must be specified on destination rank."),
        ("scatter(x)", ValueError, "Argument ``scatter_list`` must be specified on source rank."),
        (
            "scatter(x, [x, x])",
            RuntimeError,
            "ProcessGroupGloo::scatter: Incorrect input list size 2. Input list size should be 1, same as size of",
        ),
        ("all_to_all_single(x, x, [1], [2])", RuntimeError, "Split sizes doesn't match total dim 0 size"),
        (
            "send(x, 0)",
            ValueError,
            "Invalid destination rank: destination rank should not be the same as the rank",
        ),
        ("new_group([0, 0])", ValueError, "ranks list must not contain duplicate entries, got [0, 0]"),
        ("new_group([5])", ValueError, "Rank 5 is out of range. Valid ranks are 0 to 0 (world_size=1)"),
        ("get_group_rank(3, 0)", ValueError, "Group 3 is not registered, please create group with"),
        ("init_process_group('gloo')", ValueError, "trying to initialize the default process group twice!"),
        (
            "scatter_object_list([])",
            ValueError,
            "Expected argument scatter_object_output_list to be a list of size",
        ),
        ("P2POp(dist.send, x, 0)", ValueError, "Invalid ``op``. Expected ``op`` to be of type"),
        (
            "batch_isend_irecv([3])",
            ValueError,
            "Invalid ``p2p_op_list``. Each op is expected to to be of type",
        ),
        ("new_subgroups(3)", ValueError, "The arg 'group_size' (3) must not exceed the world size (1)"),
    ],
)
def test_what_cannot_be_is_refused(alone, call, kind, text):
    given = {"x": torch.ones(2), "R": dist.ReduceOp, "torch": torch, "dist": dist}
    kinds = kind if isinstance(kind, tuple) else (kind,)
    with pytest.raises(kinds) as caught:
        eval(f"dist.{call}", given)
    assert type(caught.value) in kinds and str(caught.value).startswith(text), str(caught.value)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            "get_rank()",
            ValueError,
            "Default process group has not been initialized, please make sure to call",
        ),
        ("barrier()", ValueError, "Default process group has not been initialized, please make sure to call"),
        ("destroy_process_group()", AssertionError, "Process group cannot be None"),
        ("Backend(3)", ValueError, "Backend constructor parameter must be string-ish"),
        (
            "init_process_group('gloo')",
            ValueError,
            "Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, but",
        ),
        (
            "init_process_group('gloo', init_method='tcp://localhost', rank=0, world_size=1)",
            ValueError,
            "Error initializing torch.distributed using tcp:// rendezvous: port number missing",
        ),
        (
            "init_process_group('gloo', init_method='bad://x', rank=0, world_size=1)",
            RuntimeError,
            "No rendezvous handler for bad://",
        ),
        (
            "init_process_group('gloo', store=dist.HashStore())",
            AssertionError,
            "world_size must be positive if using",
        ),
        (
            "init_process_group('gloo', timeout=3, store=dist.HashStore(), rank=0, world_size=1)",
            TypeError,
            "Expected timeout argument to be of type datetime.timedelta, got 3",
        ),
    ],
)
def test_what_needs_others_says_that_there_are_none(monkeypatch, call, kind, text):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    with raises(kind, text):
        eval(f"dist.{call}", {"dist": dist})
    assert not dist.is_initialized()


@pytest.mark.own
def test_what_is_not_there_says_so():
    store = {"store": dist.HashStore(), "rank": 0, "world_size": 1}
    with raises(ValueError, "ProcessGroupNCCL is only supported with GPUs, no GPUs found!"):
        dist.init_process_group("nccl", **store)
    with raises(RuntimeError, "Distributed package doesn't have UCC built in"):
        dist.init_process_group("ucc", **store)
    with raises(AssertionError, "Unknown backend type foo"):
        dist.init_process_group("foo", **store)
    with raises(NotImplementedError, "torch.distributed.fsdp: parameters are not spread over processes here"):
        dist.fsdp.FullyShardedDataParallel(torch.nn.Linear(1, 1))
    assert not dist.is_initialized()


def test_settings_of_what_is_spread_are_told_apart():
    api = importlib.import_module("rushlight.distributed.fsdp.api")
    assert api.FullStateDictConfig(rank0_only=True) == dist.fsdp.FullStateDictConfig(False, True)
    assert isinstance(api.LocalStateDictConfig(), api.StateDictConfig)
    assert not isinstance(api.LocalStateDictConfig(), api.FullStateDictConfig)
    assert api.OptimStateDictConfig().offload_to_cpu and api.ShardedOptimStateDictConfig().offload_to_cpu
    assert not api.LocalOptimStateDictConfig().offload_to_cpu
    settings = api.StateDictSettings(
        api.StateDictType.LOCAL_STATE_DICT, api.LocalStateDictConfig(), api.LocalOptimStateDictConfig()
    )
    assert settings.state_dict_type is dist.fsdp.StateDictType.LOCAL_STATE_DICT
    assert api.MixedPrecision()._module_classes_to_ignore == (torch.nn.modules.batchnorm._BatchNorm,)


def test_names_are_where_libraries_look_for_them():
    assert dist.is_available() and not dist.is_initialized() and dist.is_gloo_available()
    assert repr(dist.ReduceOp.SUM) == "<RedOpType.SUM: 0>" and isinstance(dist.ReduceOp.SUM, dist.ReduceOp)
    assert dist.ReduceOp(dist.ReduceOp.MAX) == dist.ReduceOp.MAX and dist.Backend("GLOO") == "gloo"
    assert dist.ReduceOp.RedOpType.AVG is dist.ReduceOp.AVG
    assert dist.group.WORLD is None and dist.GroupMember.NON_GROUP_MEMBER == -100
    from rushlight.distributed.algorithms.join import Join  # noqa: F401
    from rushlight.distributed.constants import default_pg_timeout
    from rushlight.distributed.distributed_c10d import _get_default_group, all_reduce  # noqa: F401

    assert all_reduce is dist.all_reduce and default_pg_timeout.total_seconds() == 1800


@pytest.mark.own
def test_what_is_not_there_has_its_names():
    from rushlight.distributed.tensor import DTensor, Shard, distribute_tensor

    assert not isinstance(torch.ones(1), DTensor) and Shard(1) == Shard(1) != Shard(0)
    with raises(NotImplementedError, "tensors whose parts lie in several processes are not there"):
        distribute_tensor(torch.ones(1))
