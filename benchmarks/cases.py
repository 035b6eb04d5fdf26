"""What is timed: a few lines of setup, the code itself, and what the code has to reach.

The code stands in the tables as it is here. A target is the least acceptable ratio
(time of the reference / time of rushlight).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    code: str
    setup: str = "x = torch.ones(2, 2, requires_grad=True)"
    name: str = ""
    target: float | None = None
    operations: int = 1
    """The times are divided by this: how many operations the code does, where they are what counts."""

    @property
    def title(self) -> str:
        return self.name or f"`{self.code}`"


@dataclass(frozen=True)
class Group:
    title: str
    cases: list[Case]


PLAIN = "x = torch.ones(2, 2); y = torch.ones(2, 2)"
RECORDED = "x = torch.ones(2, 2, requires_grad=True); y = torch.ones(2, 2, requires_grad=True)"

ONE_OPERATION = Group(
    "One operation on 2×2 numbers",
    [
        Case("x + y", PLAIN),
        Case("x + y", RECORDED, "`x + y`, recorded", target=10),
        Case("x * 3.0", name="`x * 3.0`, recorded", target=12),
        Case("x.exp()", name="`x.exp()`, recorded"),
        Case("x.sum()", name="`x.sum()`, recorded"),
        Case("x.sum(dim=1, keepdim=True)", name="`x.sum(dim=1, keepdim=True)`, recorded"),
        Case("x @ y", RECORDED, "`x @ y`, recorded"),
        Case("x[0]", name="`x[0]`, recorded"),
        Case("x[:, 1:]", name="`x[:, 1:]`, recorded"),
        Case("x.view(4)", name="`x.view(4)`, recorded"),
        Case("x.t()", name="`x.t()`, recorded"),
        Case("x.add_(y)", PLAIN),
        Case("s.item()", "s = torch.tensor(1.5)"),
        Case("x.shape"),
        Case("x.detach()"),
        Case("torch.tensor([1.0, 2.0, 3.0])"),
        Case("with torch.no_grad(): pass"),
    ],
)

GRAPHS = Group(
    "Graphs",
    [
        Case("((x * y + x).exp()).sum().backward()", RECORDED, "four operations, forward and backward", 15),
        Case(
            "z = x\nfor _ in range(1000): z = z * 1.0001\nz.sum().backward()",
            name="chain of 1,000, forward and backward, per operation",
            target=15,
            operations=1000,
        ),
        Case(
            "z = x\nfor _ in range(1000): z = z * 1.0001",
            name="chain of 1,000, forward and dropped, per operation",
            operations=1000,
        ),
        Case(
            "(g,) = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\n"
            "torch.autograd.grad(g.sum(), x)",
            name="second derivative of `x ** 3`",
        ),
    ],
)

OPTIMISED = """
parameters = [torch.ones(16, requires_grad=True) for _ in range(20)]
for parameter in parameters: parameter.grad = torch.ones(16)
optimiser = torch.optim.SGD(parameters, lr=0.01)
"""
MLP = """
F = torch.nn.functional
model = torch.nn.Sequential(torch.nn.Linear({0}, {1}), torch.nn.ReLU(), torch.nn.Linear({1}, {2}))
optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
inputs, wanted = torch.ones({3}, {0}), torch.ones({3}, {2})
"""
TRAINING_STEP = """
optimiser.zero_grad()
F.mse_loss(model(inputs), wanted).backward()
optimiser.step()
"""

HEADS = """
attend = torch.nn.functional.scaled_dot_product_attention
query, key, value = (torch.rand(4, 8, 64, 32, requires_grad=True) for _ in range(3))
"""

NETWORKS = Group(
    "Networks",
    [
        Case(
            "layer(x)", "layer = torch.nn.Linear(4, 4); x = torch.ones(1, 4)", "`nn.Linear(4, 4)` on one row"
        ),
        Case("optimiser.step()", OPTIMISED, "SGD step, 20 parameters of 16"),
        Case(TRAINING_STEP, MLP.format(8, 32, 1, 16), "training step, 8-32-1, batch 16"),
        Case(TRAINING_STEP, MLP.format(784, 128, 10, 32), "training step, 784-128-10, batch 32"),
        Case(
            "attend(query, key, value).sum().backward()",
            HEADS,
            "attention, 4 × 8 heads of 64 × 32, forward and backward",
        ),
    ],
)

MILLION = "x = torch.rand(1000, 1000) + 0.5; y = torch.rand(1000, 1000); row = torch.rand(1000)"

KERNELS = Group(
    "Kernels on 1,000,000 numbers",
    [
        Case(code, MILLION)
        for code in (
            "x + y",
            "x * row",
            "x.exp()",
            "x.log()",
            "x.tanh()",
            "x.sin()",
            "torch.sigmoid(x)",
            "torch.erf(x)",
            "torch.nn.functional.gelu(x)",
            "x ** y",
            "torch.atan2(x, y)",
            "torch.nn.functional.dropout(x)",
            "x.relu()",
            "x.sum()",
            "x.sum(dim=0)",
            "x.sum(dim=1)",
            "x.t().contiguous()",
        )
    ],
)

MATMUL = Group(
    "Matrix products",
    [
        Case("a @ b", f"a = torch.rand({n}, {n}); b = torch.rand({n}, {n})", f"`a @ b`, {n}×{n}")
        for n in (64, 128, 256, 512, 1024)
    ],
)

GROUPS = [ONE_OPERATION, GRAPHS, NETWORKS, KERNELS, MATMUL]

BRANCHES = """
leaves = [torch.full(({n}, {n}), 0.01, requires_grad=True) for _ in range(16)]
weights = [torch.full(({n}, {n}), 0.02) for _ in range(16)]
ends = []
for leaf, weight in zip(leaves, weights):
    end = leaf
    for _ in range(10): end = torch.tanh(end @ weight)
    ends.append(end.sum())
loss = torch.stack(ends).sum()
"""


def branches(n: int, target: float) -> Case:
    """Backward of branches that have nothing to do with each other: what threads can share.

    Its target is a ratio of rushlight to itself: the time with one thread / with two.
    """
    code = "loss.backward(retain_graph=True)"
    return Case(code, BRANCHES.format(n=n), f"backward of 16 branches, n = {n}", target)


PER_SAMPLE = """
F = torch.nn.functional
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
inputs, classes = torch.rand(64, 64), torch.arange(64) % 10
def loss(parameters, x, y):
    return F.cross_entropy(torch.func.functional_call(model, parameters, (x.unsqueeze(0),)), y.unsqueeze(0))
gradient = torch.func.grad(loss)
mapped = torch.func.vmap(gradient, in_dims=(None, 0, 0))
"""

# The gradients of each of 64 samples: one after the other, and all at once. The target is a ratio of
# rushlight to itself: the time of the first / of the second.
MAPPED = (
    Case("for x, y in zip(inputs, classes): gradient(parameters, x, y)", PER_SAMPLE, "gradients one by one"),
    Case("mapped(parameters, inputs, classes)", PER_SAMPLE, "gradients of 64 samples, 64-64-10", target=5),
)
WATCHED = "with torch.autograd.set_detect_anomaly({0}):\n"


def watched(case: Case) -> tuple[Case, Case]:
    """A case as it is, and in anomaly mode."""
    body = "\n".join(f"    {line}" for line in case.code.strip().splitlines())
    codes = (WATCHED.format(mode) + body for mode in (False, True))
    off, on = (Case(code, case.setup, case.title, operations=case.operations) for code in codes)
    return off, on


ANOMALY = [watched(case) for case in (GRAPHS.cases[0], GRAPHS.cases[1], *NETWORKS.cases[2:])]
PARALLEL = [branches(128, target=1.5), branches(32, target=0.95)]
EVERY_CASE = [case for group in GROUPS for case in group.cases] + PARALLEL + [*MAPPED]
EVERY_CASE += [case for pair in ANOMALY for case in pair]
EMPTY = Case("pass", "", "an empty function")
