"""Many small programs, a table a family: what `survey.py` times.

A table has lines of setup by what is worked on, and expressions. Each expression is timed on each of them,
and, where a table says what to differentiate, both ways: forward, and backward from a gradient of ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cases import Case

BOTH_WAYS = "both ways"


@dataclass(frozen=True)
class Family:
    title: str
    setups: dict[str, str]
    expressions: tuple[str, ...]
    differentiated: tuple[str, ...] = ()
    """Names of the setup that require grad in what is timed both ways."""

    def cases(self) -> Iterator[Case]:
        for size, setup in self.setups.items():
            for expression in self.expressions:
                name = f"{self.title}: `{expression}`, {size}"
                yield Case(expression, setup, name)
                if self.differentiated:
                    yield both_ways(expression, setup, self.differentiated, name)


def both_ways(expression: str, setup: str, leaves: tuple[str, ...], name: str) -> Case:
    recorded = "".join(f"\n{leaf}.requires_grad_()" for leaf in leaves)
    forgotten = "".join(f"{leaf}.grad = None; " for leaf in leaves)
    return Case(
        f"{forgotten}({expression}).backward(ones)",
        f"{setup}{recorded}\nones = torch.ones_like({expression})",
        f"{name}, {BOTH_WAYS}",
    )


def sized(setup: str, *sizes: str) -> dict[str, str]:
    return {size.replace(", ", " × "): setup.format(size) for size in sizes}


ELEMENTS = "x = torch.rand({0}) + 0.1"
PAIRS = "x = torch.rand({0}) + 0.1; y = torch.rand({0}) + 0.5; z = torch.rand({0})"
ROWS = "x = torch.rand({0}) + 0.1; F = torch.nn.functional"
NUMBERS = ("64", "10000", "1000000")
TABLES = ("100, 100", "1000, 1000", "4096, 16", "16, 4096")

FAMILIES = (
    Family(
        "functions of elements",
        sized(f"{ELEMENTS}; F = torch.nn.functional", *NUMBERS),
        (
            "x.exp()",
            "x.log()",
            "x.sqrt()",
            "x.sin()",
            "x.tanh()",
            "torch.sigmoid(x)",
            "torch.erf(x)",
            "torch.expm1(x)",
            "F.gelu(x)",
            "F.silu(x)",
            "F.softplus(x)",
            "F.relu(x)",
            "F.elu(x)",
            "x ** 3",
            "x.clamp(0.2, 0.8)",
        ),
        ("x",),
    ),
    Family(
        "rounding and tests",
        sized(ELEMENTS, *NUMBERS),
        ("x.floor()", "x.round()", "x.frac()", "x.isnan()", "x > 0.5", "x == 0.5", "x.sign()", "x.neg()"),
    ),
    Family(
        "functions of double precision",
        sized("x = torch.rand({0}, dtype=torch.float64) + 0.1", "10000", "1000000"),
        ("x.exp()", "x.log()", "x.cos()", "x.tanh()", "torch.erf(x)", "torch.lgamma(x)", "x ** 1.5"),
        ("x",),
    ),
    Family(
        "arithmetic",
        sized(PAIRS, *NUMBERS),
        (
            "x + y",
            "x * y",
            "x / y",
            "torch.maximum(x, y)",
            "torch.atan2(x, y)",
            "x ** y",
            "torch.lerp(x, y, 0.3)",
            "torch.addcmul(x, y, z)",
            "torch.where(z > 0.5, x, y)",
        ),
        ("x", "y"),
    ),
    Family(
        "rows and columns against matrices",
        {
            f"{n} × {n}": f"x = torch.rand({n}, {n}); row = torch.rand({n}); column = torch.rand({n}, 1)"
            for n in (100, 1000)
        },
        ("x + row", "x * column", "x - x.mT", "x + row * column"),
        ("x",),
    ),
    Family(
        "integers, halves and complex numbers",
        sized(
            "i = torch.randint(1, 100, ({0},)); j = torch.randint(1, 9, ({0},)); b = i > 50\n"
            "h = torch.rand({0}).half(); c = torch.rand({0}, dtype=torch.complex64)",
            "10000",
            "1000000",
        ),
        (
            "i + j",
            "i * j",
            "i // j",
            "i & j",
            "i.sum()",
            "i.max()",
            "i.float()",
            "~b",
            "b.sum()",
            "h + h",
            "h.float()",
            "c * c",
            "c.abs()",
        ),
    ),
    Family(
        "sums and extremes",
        sized(ELEMENTS, *TABLES),
        ("x.sum()", "x.sum(0)", "x.sum(1)", "x.mean(1)", "x.var(0)", "x.amax(1)", "x.norm()", "x.prod(1)"),
        ("x",),
    ),
    Family("places of extremes", sized(ELEMENTS, *TABLES), ("x.argmax()", "x.argmax(1)", "x.argmin(0)")),
    Family(
        "rows",
        sized(ROWS, *TABLES),
        (
            "x.softmax(-1)",
            "x.log_softmax(-1)",
            "x.softmax(0)",
            "x.logsumexp(1)",
            "F.layer_norm(x, x.shape[-1:])",
            "F.rms_norm(x, x.shape[-1:])",
            "F.normalize(x)",
            "x.cumsum(1)",
            "x.cumsum(0)",
            "x.cumprod(1)",
        ),
        ("x",),
    ),
    Family(
        "moving elements",
        sized(ELEMENTS, *TABLES),
        (
            "x.clone()",
            "x.t().contiguous()",
            "torch.cat([x, x], 0)",
            "torch.cat([x, x], 1)",
            "torch.stack([x, x])",
            "x.flip(0)",
            "x.roll(3, 1)",
            "x.tril()",
            "torch.nn.functional.pad(x, (1, 2))",
            "x[1:, ::2].contiguous()",
            "x.repeat(2, 1)",
        ),
        ("x",),
    ),
    Family(
        "indexing",
        sized(
            f"{ELEMENTS}; rows = torch.randint(0, 16, (16,)); places = torch.randint(0, 16, x.shape)", *TABLES
        ),
        (
            "x[rows]",
            "x.index_select(0, rows)",
            "x.gather(0, places)",
            "x.masked_fill(x > 0.5, 0.0)",
            "x.index_add(0, rows, x[:16])",
            "x.scatter_add(0, places, x)",
        ),
        ("x",),
    ),
    Family(
        "selection and order",
        sized(f"{ELEMENTS}; n = (x * 50).long()", *TABLES),
        (
            "x[x > 0.5]",
            "x.sort()",
            "x.argsort()",
            "x.topk(5)",
            "x.median(1)",
            "n.unique()",
            "n.flatten().bincount()",
            "x.nonzero()",
            "torch.isin(n, n[0])",
            "torch.histc(x)",
        ),
    ),
    Family(
        "products",
        {
            f"{n} × {n}": f"a = torch.rand({n}, {n}); b = torch.rand({n}, {n}); v = torch.rand({n})"
            for n in (8, 64, 256)
        },
        (
            "a @ b",
            "a @ b.t()",
            "a.t() @ b",
            "a @ v",
            "torch.addmm(b, a, b)",
            "torch.einsum('ij,jk->ik', a, b)",
        ),
        ("a",),
    ),
    Family(
        "batched products",
        {
            "64 of 16 × 16": "a = torch.rand(64, 16, 16); b = torch.rand(64, 16, 16)",
            "1000 of 3 × 3": "a = torch.rand(1000, 3, 3); b = torch.rand(1000, 3, 3)",
        },
        ("a @ b", "torch.baddbmm(a, a, b)"),
        ("a",),
    ),
    Family(
        "factors",
        {
            "64 × 64": "a = torch.randn(64, 64); s = a @ a.mT + torch.eye(64); L = torch.linalg",
            "200 of 4 × 4": "a = torch.randn(200, 4, 4); s = a @ a.mT + torch.eye(4); L = torch.linalg",
        },
        (
            "L.solve(s, a)",
            "L.inv(s)",
            "L.cholesky(s)",
            "L.qr(a)",
            "L.det(s)",
            "L.eigh(s)",
            "L.svd(a)",
            "L.lstsq(s, a)",
            "L.matrix_exp(a)",
        ),
    ),
    Family(
        "images",
        {
            f"{n} × 16 × {side}²": f"x = torch.rand({n}, 16, {side}, {side}); F = torch.nn.functional\n"
            "w = torch.rand(16, 16, 3, 3); e = torch.rand(16, 1, 3, 3); m, q = torch.rand(16), torch.rand(16)"
            for n, side in ((1, 16), (8, 56))
        },
        (
            "F.conv2d(x, w, padding=1)",
            "F.conv2d(x, e, groups=16)",
            "F.conv_transpose2d(x, w, stride=2)",
            "F.max_pool2d(x, 2)",
            "F.avg_pool2d(x, 2)",
            "F.adaptive_avg_pool2d(x, 4)",
            "F.batch_norm(x, m, q, training=True)",
            "F.group_norm(x, 4)",
            "F.instance_norm(x)",
            "F.interpolate(x, scale_factor=2)",
            "F.interpolate(x, scale_factor=2, mode='bilinear')",
            "F.pad(x, (1, 1, 1, 1), 'reflect')",
            "F.unfold(x, 3)",
            "x.mean((2, 3))",
        ),
        ("x",),
    ),
    Family(
        "losses",
        {
            f"{n} × {c}": f"x = torch.randn({n}, {c}); y = torch.rand({n}, {c})\n"
            f"t = torch.randint(0, {c}, ({n},)); F = torch.nn.functional"
            for n, c in ((32, 10), (256, 1000))
        },
        (
            "F.cross_entropy(x, t)",
            "F.mse_loss(x, y)",
            "F.l1_loss(x, y)",
            "F.smooth_l1_loss(x, y)",
            "F.binary_cross_entropy_with_logits(x, y)",
            "F.kl_div(x.log_softmax(-1), y, reduction='batchmean')",
            "F.cosine_similarity(x, y)",
        ),
        ("x",),
    ),
    Family(
        "attention",
        {
            f"{b} × {h} × {n} × {d}": f"q, k, v = (torch.rand({b}, {h}, {n}, {d}) for _ in range(3))\n"
            "attend = torch.nn.functional.scaled_dot_product_attention"
            for b, h, n, d in ((1, 2, 8, 16), (4, 8, 64, 32))
        },
        ("attend(q, k, v)", "attend(q, k, v, is_causal=True)", "(q @ k.mT).softmax(-1) @ v"),
        ("q", "k", "v"),
    ),
    Family(
        "transforms",
        sized("x = torch.randn({0}); c = torch.randn({0}, dtype=torch.complex64)", "1000", "64, 512"),
        ("torch.fft.fft(c)", "torch.fft.ifft(c)", "torch.fft.rfft(x)"),
    ),
    Family(
        "new tensors",
        sized("n = {0}; numbers = torch.rand(n)", *NUMBERS),
        (
            "torch.empty(n)",
            "torch.zeros(n)",
            "torch.full((n,), 2.0)",
            "torch.arange(n)",
            "torch.linspace(0, 1, n)",
            "torch.rand(n)",
            "torch.randn(n)",
            "torch.randperm(n)",
            "torch.bernoulli(numbers)",
        ),
    ),
)

OPTIMISER = """
ps = [torch.rand({size}, requires_grad=True) for _ in range({count})]
for p in ps: p.grad = torch.rand({size})
o = torch.optim.{name}(ps)
"""

OPTIMISERS = [
    Case(
        "o.step()",
        OPTIMISER.format(size=size, count=count, name=name),
        f"optimisers: {name}, {count} of {size}",
    )
    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")
    for count, size in ((20, 16), (6, 100_000))
]

SURVEY = [case for family in FAMILIES for case in family.cases()] + OPTIMISERS
