"""Models that processes train together: their gradients are those of one process with all inputs."""

import warnings

import pytest
import rushlight as torch
from support import raises, run_processes

with warnings.catch_warnings():
    # Torch's own import of it warns.
    warnings.simplefilter("ignore")
    from rushlight.distributed.algorithms.join import Join
    from rushlight.distributed.optim import ZeroRedundancyOptimizer

dist = torch.distributed
Parallel = torch.nn.parallel.DistributedDataParallel
SIZES = pytest.mark.parametrize("count", [2, 4])

BEGIN = """
import itertools
nn = torch.nn
Parallel = nn.parallel.DistributedDataParallel
def net():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 70), nn.Tanh(), nn.Linear(70, 30), nn.Tanh(), nn.Linear(30, 3))
torch.manual_seed(1)
x, y = torch.randn(world * 4, 5), torch.randn(world * 4, 3)
own = slice(rank * 4, rank * 4 + 4)
def loss(model, part=slice(None)): return (model(x[part]) - y[part]).square().mean()
def same(one, other, how=1e-6): return all(torch.allclose(a, b, atol=how) for a, b in zip(one, other, strict=True))
def gradients(model): return [one.grad for one in model.parameters()]
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
    def forward(self, x, other=False): return {"found": [self.b(x) if other else self.a(x)]}
"""

TRAINING = """
for options in ({}, {"bucket_cap_mb": 0.002}, {"gradient_as_bucket_view": True}, {"static_graph": True}):
    whole, shared = net(), net()
    if rank:
        # What the first has is what all begin with.
        for one in shared.parameters(): one.data.zero_()
    parallel = Parallel(shared, **options)
    assert list(parallel.state_dict()) == ["module." + name for name in whole.state_dict()]
    steps = [torch.optim.Adam(model.parameters(), 0.01) for model in (whole, parallel)]
    for _ in range(3):
        for step in steps: step.zero_grad()
        loss(whole).backward(); loss(parallel, own).backward()
        assert same(gradients(whole), gradients(parallel)), options
        for step in steps: step.step()
    assert same(whole.parameters(), parallel.parameters(), 1e-5)
whole, parallel = net(), Parallel(net())
for _ in range(2): loss(whole).backward()
with parallel.no_sync(): loss(parallel, own).backward()
loss(parallel, own).backward()
assert same(gradients(whole), gradients(parallel))
with torch.no_grad(): assert parallel(x).grad_fn is None
"""

PARTS = """
parallel = Parallel(Two())
parallel(torch.ones(1, 2))["found"][0].sum().backward()
try:
    parallel(torch.ones(1, 2))
except RuntimeError as failure:
    assert str(failure).startswith("Expected to have finished reduction in the prior iteration before starting")
else:
    raise AssertionError
parallel = Parallel(Two(), find_unused_parameters=True)
a, b = parallel.module.a.weight, parallel.module.b.weight
parallel(torch.ones(1, 2))["found"][0].sum().backward()
assert b.grad is None and a.grad[0, 0] == 1
parallel(torch.ones(1, 2), other=rank > 0)["found"][0].sum().backward()
assert a.grad[0, 0] == 1 + 1 / world and b.grad[0, 0] == (world - 1) / world
# Two backwards of one call.
parallel = Parallel(nn.Linear(2, 1))
found = parallel(torch.ones(1, 2)).sum()
found.backward(retain_graph=True)
found.backward()
assert parallel.module.weight.grad.tolist() == [[2, 2]]
# Two calls before one backward.
parallel.zero_grad()
(parallel(torch.ones(1, 2) * (rank + 1)).sum() + parallel(torch.ones(1, 2)).sum()).backward()
assert parallel.module.weight.grad.tolist() == [[(world + 1) / 2 + 1] * 2]
"""

UNEQUAL = """
def everybody(found):
    gathered = [None] * world
    dist.all_gather_object(gathered, found)
    return gathered
for mean_of_all in (True, False):
    model = nn.Linear(2, 1, bias=False); nn.init.zeros_(model.weight)
    parallel = Parallel(model)
    step = torch.optim.SGD(parallel.parameters(), 1.0)
    with parallel.join(divide_by_initial_world_size=mean_of_all):
        for _ in range(1 + rank):
            step.zero_grad(); parallel(torch.ones(1, 2)).sum().backward(); step.step()
    counts = [sum(turn <= one for one in range(world)) for turn in range(world)]
    moved = sum(count / world for count in counts) if mean_of_all else world
    assert everybody(model.weight.tolist()) == [[[-moved, -moved]]] * world
model = nn.BatchNorm1d(3)
parallel = Parallel(model)
for turn in range(3):
    parallel(torch.randn(4, 3, generator=torch.Generator().manual_seed(10 * rank + turn)) + rank).sum().backward()
parallel(torch.zeros(4, 3))
# The call began with what the first process had.
means = everybody(model.running_mean.tolist())
assert all(torch.allclose(torch.tensor(one), torch.tensor(means[0])) for one in means)
"""

HOOKS = """
from rushlight.distributed.algorithms.ddp_comm_hooks import default_hooks
half = default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)
for hook in (default_hooks.allreduce_hook, default_hooks.fp16_compress_hook, half):
    parallel = Parallel(nn.Linear(2, 1))
    parallel.register_comm_hook(None, hook)
    parallel(torch.ones(1, 2) * (rank + 1)).sum().backward()
    assert parallel.module.weight.grad.tolist() == [[(world + 1) / 2] * 2]
seen = []
def largest(state, bucket):
    state.append((bucket.index(), bucket.is_last(), len(bucket.gradients()), bucket.buffer().numel()))
    return dist.all_reduce(bucket.buffer(), dist.ReduceOp.MAX, async_op=True).get_future().then(lambda one: one.value()[0])
parallel = Parallel(nn.Linear(2, 1))
parallel.register_comm_hook(seen, largest)
parallel(torch.ones(1, 2) * (rank + 1)).sum().backward()
assert parallel.module.weight.grad.tolist() == [[world, world]] and seen == [(0, True, 2, 3)]
"""

SHARED_STATE = """
from rushlight.distributed.optim import ZeroRedundancyOptimizer
for view in (False, True):
    whole, parallel = net(), Parallel(net())
    plain = torch.optim.Adam(whole.parameters(), 0.01)
    def make(rate): return ZeroRedundancyOptimizer(
        parallel.parameters(), torch.optim.Adam, parameters_as_bucket_view=view, lr=rate)
    zero = make(0.01)
    for turn in range(4):
        plain.zero_grad(); zero.zero_grad()
        loss(whole).backward(); loss(parallel, own).backward()
        plain.step(); zero.step()
        assert same(whole.parameters(), parallel.parameters(), 1e-5)
        if turn == 1:
            try:
                zero.state_dict()
            except RuntimeError as failure:
                assert str(failure).startswith("Optimizer state has not been consolidated on this rank.")
            zero.consolidate_state_dict()
            said = [zero.state_dict() if rank == 0 else None]
            dist.broadcast_object_list(said)
            assert list(said[0]["state"]) == list(plain.state_dict()["state"])
            assert torch.allclose(said[0]["state"][2]["exp_avg"], plain.state_dict()["state"][2]["exp_avg"], atol=1e-6)
            zero = make(0.5)
            zero.load_state_dict(said[0])
            assert zero.param_groups[0]["lr"] == 0.01
    # Each keeps the state of its own parameters only.
    counts = [None] * world
    dist.all_gather_object(counts, len(zero.optim.state))
    assert sum(counts) == len(list(parallel.parameters())) and max(counts) < sum(counts)
"""


@SIZES
@pytest.mark.parametrize("source", [TRAINING + PARTS, UNEQUAL + HOOKS + SHARED_STATE])
def test_processes_train_together(count, source):
    run_processes(count, BEGIN + source)


@pytest.mark.own
def test_models_that_differ_are_refused_by_all():
    source = """
    for make in (lambda: torch.nn.Linear(2, rank + 1), lambda: torch.nn.Linear(2, 2, bias=rank > 0)):
        try:
            torch.nn.parallel.DistributedDataParallel(make())
        except RuntimeError as failure:
            print(failure)
    """
    first, second = (shown.splitlines() for shown in run_processes(2, source))
    assert first[0] == second[0] and "appears not to match sizes of the same param in process 0." in first[0]
    assert first[1].startswith(
        "DDP expects same model across all ranks, but Rank 0 has 1 params, while rank 1"
    )
    assert second[1].startswith(
        "DDP expects same model across all ranks, but Rank 1 has 2 params, while rank 0"
    )


@pytest.mark.own
def test_gradients_travel_while_backward_goes_on():
    source = """
    from rushlight.distributed._process_group import ProcessGroup
    order, begin = [], ProcessGroup.allreduce
    def told(self, tensors, *rest, **named):
        order.append(tensors[0].numel())
        return begin(self, tensors, *rest, **named)
    ProcessGroup.allreduce = told
    layers = [torch.nn.Linear(8, 8, bias=False) for _ in range(3)]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=1e-5)
    out = model(torch.ones(1, 8, requires_grad=True))
    layers[0].weight.register_hook(lambda gradient: order.append("first layer"))
    out.sum().backward()
    print(order)
    """
    assert run_processes(2, source)[0] == "[64, 64, 'first layer', 64]\n"


@pytest.fixture
def alone():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_a_model_says_what_it_is(alone):
    model = Parallel(torch.nn.Linear(2, 1))
    assert repr(model).splitlines()[:2] == [
        "DistributedDataParallel(",
        "  (module): Linear(in_features=2, out_features=1, bias=True)",
    ]
    assert (
        model.device_ids is None and model.output_device is None and model.process_group is dist.group.WORLD
    )
    assert model.broadcast_buffers and not model.find_unused_parameters and model.require_backward_grad_sync
    with model.no_sync():
        assert not model.require_backward_grad_sync


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            "Parallel(torch.nn.ReLU())",
            RuntimeError,
            "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.",
        ),
        (
            "Parallel(torch.nn.Linear(1, 1), device_ids=[0])",
            ValueError,
            "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device",
        ),
        (
            "Parallel(torch.nn.Linear(1, 1), device_ids=[0, 1])",
            ValueError,
            "device_ids can only be None or contain",
        ),
        (
            "Zero([], torch.optim.SGD, lr=1)",
            ValueError,
            "ZeroRedundancyOptimizer got an empty parameter list",
        ),
        (
            "Zero(torch.ones(1), torch.optim.SGD, lr=1)",
            TypeError,
            "`params` argument should be an iterable of Tensors, but got torch.FloatTensor",
        ),
        ("Join([])", ValueError, "The join context manager requires at least one joinable"),
    ],
)
def test_what_cannot_be_is_refused(alone, call, kind, text):
    with raises(kind, text):
        eval(call, {"Parallel": Parallel, "Zero": ZeroRedundancyOptimizer, "Join": Join, "torch": torch})


def test_each_process_draws_its_share(alone):
    sampler = torch.utils.data.DistributedSampler
    assert list(sampler(range(5), shuffle=False)) == [0, 1, 2, 3, 4]
    drawn = [list(sampler(range(11), 4, rank, seed=3)) for rank in range(4)]
    assert {len(one) for one in drawn} == {3} and set().union(*drawn) == set(range(11))
    assert [list(sampler(range(11), 4, rank, False, drop_last=True)) for rank in (0, 3)] == [[0, 4], [3, 7]]
    with raises(ValueError, "Invalid rank 4, rank should be in the interval [0, 3]"):
        sampler(range(11), 4, 4)
