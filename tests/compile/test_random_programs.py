"""Programs that nobody wrote, with state, branches and writes: compiled ones and others never differ in a bit."""

import contextlib
import io
import linecache
import random

import pytest
import rushlight as torch
from compiling import state_of

pytestmark = pytest.mark.own

CALLS = 12
PURE = [
    "{a} + {b}", "{a} * {b}", "{a} - {n}", "{a} / ({b}.abs() + 1)", "torch.tanh({a})", "torch.relu({a})", "{a}.t().t()",
    "{a} @ {b}", "{a}.sum(0, keepdim=True) + {b}", "torch.where({a} > {n}, {a}, {b})", "{a}.clone()", "{a}.detach()",
    "torch.cat([{a}, {b}])[1:4]", "{a}.view(-1)[:3] + {b}", "torch.exp(-{a}.abs())", "{a}.mean() * {b}",
    "torch.randn(3, 3) * {a}", "torch.zeros(3, 3) + {a}", "{a}.sort(1)[0]", "{a}.softmax(1)", "{a}.cumsum(0) * {n}",
    "torch.nn.functional.dropout({a}, 0.5)", "torch.ones_like({a}) * scale", "{a}.max(1, keepdim=True)[0] - {b}",
    "{a}[..., :1] * {b}", "{a}[:1] + {b}.sum()", "torch.addmm({a}.flatten()[:3], {b}, {b}.t())", "{n} / ({a}.exp() + 1)",
    "{a}.gather(1, ({b} > {n}).long())", "torch.nn.functional.cross_entropy({a}, ({b} > 0).long()[:, 0]) * {b}",
    "torch.nn.functional.embedding(({b} > {n}).long()[0], {a})", "{a} @ {b}.flatten()[:3]",
    "{a} @ w", "w.tanh() - {a}", "{a} * w[0]", "{a}.view(-1)[3:6]", "{a}.argmax(1, keepdim=True) * {b}",
    "torch.bernoulli(torch.sigmoid({a}.detach())) + {b}",
    "net({a})", "norm({a}) - {b}", "net(norm({a})).relu()", "torch.randperm(3)[:, None] * {a}", "{a}[[2, 0, 1]] * {b}",
    "torch.stack([{a}.expand(3, 3), {b}.expand(3, 3)]).amax(0)", "{a}.masked_fill({b} > {n}, 0.0)", "{a}.flip(0).roll(1, 0)",
    "torch.linalg.solve(w @ w.t() + torch.eye(3) * 9, {a})", "torch.einsum('ij,jk->ik', {a}, {b})",
    "torch.nn.functional.layer_norm({a}, (3,))", "torch.vmap(torch.sin)({a}) * {b}", "{a}.narrow(0, 0, 1) + {b}",
    "torch.func.grad(lambda v: (v * {b}.detach()).sin().sum())({a}.detach())", "torch.rand_like({a}).round() * {b}",
    "torch.nn.functional.one_hot(({a} > {n}).long(), 2).sum(2) * {b}", "{a} * {a}.shape[0] + {b}.logsumexp(0)",
    "(({a}.repeat(64, 64).tanh() + {n}) * {b}.sum() - {a}.repeat(64, 64)).exp().sin()[60:63, :3]",
    "helper({a})", "held.scaled({a})", "table['t'] * {a}", "pair[0] - {b}", "[{a}, {b}][counts[0] % 2] * 2", "list(steps({b}))[-1]",
    "{a}.double().sum().float() + {b}", "{a}.bfloat16().float() * {b}", "{a}.int().float()", "torch.zeros(0, 3).sum() + {b}",
    "torch.cat([{a}.flatten()[:0], {b}.flatten()[:3]])", "{a}.unbind(0)[0] * {b}", "{a}[{a} > -9][:3] + {n}", "torch.nn.functional.leaky_relu({a}, 0.1)",
    "torch.bincount(({a} > 0).flatten().long(), minlength=3)[:3] * {b}.flatten()[:3]", "torch.allclose({a}, {a}) * {b}",
    "torch.utils.checkpoint.checkpoint(lambda v: v.tanh() * {n}, {a}, use_reentrant=False)", "{a}.repeat_interleave(2)[:3]",
    "torch.where(({a} > {b}) & ~({b} <= {n}), {a}, 0.0)", "{a}.clamp(-0.5, 0.5) * {b}", "{a}.clamp(min={b}, max={b} + 1)",
    "torch.where(torch.logical_or({a} == {b}, {b} != {n}), {a}, {b})", "({a} >= {b}).float() * {b}", "torch.maximum({a}, {b})",
    "{a}[{b}.argmax(0) % {a}.shape[0]]", "{a}.index_select(0, {b}.flatten()[:3].argsort() % {a}.shape[0])", "other({a}) + net({b})",
    "{a} * min(total, 1.0)", "{a} * len(losses)", "{a} * held.turns", "{a} + book['sum']", "torch.linalg.inv_ex(w + 9 * torch.eye(3))[0] @ {a}",
    "noted({a})", "held.noted({a}, {n})", "noting({a})", "deeper({a}, times=2)",
    "torch.linalg.qr({a}.expand(3, 3) + torch.eye(3))[1] * {b}", "torch.aminmax({a})[1] * {b}", "{a}.topk(2, 1)[0].sum(1, keepdim=True) * {b}",
]  # fmt: skip
WRITES = [
    "state.add_({a}.detach())",
    "state[1].mul_({n})",
    "state.t()[0] = 2",
    "settings['scale'] = {n}",
    "state.copy_(torch.tanh({a}.detach()))",
    "counts[0] += 1",
    "seen.append({n})",
    "state.zero_()",
    "w.data.mul_(0.5)",
    "w.data -= 0.1",
    "net.weight.data = net.weight.data * 0.9 + {a}.detach()",
    "torch.nn.utils.clip_grad_norm_([w], 1.0)",
    "net.weight.data.add_({a}.detach(), alpha=0.01)",
    "norm.running_mean.add_(1)",
    "state.index_add_(0, torch.tensor([0, 2]), {a}.detach()[:2])",
    "w.grad = {a}.detach() * 0.1",
    "norm.train(not norm.training)",
    "state[0] = {n}",
    "state.copy_(net({a}).detach())",
    "state += 0.5",
    "state.view(-1)[2:4] = {a}.detach().view(-1)[:2]",
    "state = {a}.detach()",
    "table['t'] = {a}.detach()",
    "pair[0].add_({n})",
    "held.value = {n}",
    "held.count += 1",
    "state.normal_()",
    "state.fill_diagonal_({n})",
    "optimizer.param_groups[0]['lr'] = 0.1",
    "net.bias.requires_grad_(not net.bias.requires_grad)",
    "schedule.step()",
    "average.update_parameters(net)",
    "hooks.append(w.register_hook(lambda g: g * 0.5)) if not hooks else hooks.pop().remove()",
    "x.mul_(0.5)",
    "assert {a}.dim() < 9",
    "state[{a}.detach().abs().argmax(0)[0] % 3].mul_({n})",
    "state[:, 1] -= {a}.detach().sum()",
    "state.view(-1)[::2].add_(1)",
    "hooks.append(other.register_forward_hook(lambda m, i, o: o * 0.5)) if not hooks else hooks.pop().remove()",
]
LEFT = [
    "losses.append({a}.sum().item())",
    "losses.append({a}.detach())",
    "losses.append(x)",
    "total += {a}.mean().item()",
    "total += float({a}.mean().detach()) * {a}.shape[0]",
    "best = min(best, {a}.sum().item())",
    "best = {a}.detach().sum().item() if turns % 3 else best",
    "book['sum'] += {a}.sum().item()",
    "book['last'] = {a}.detach()",
    "book['all'].append(({a}.sum().item(), turns))",
    "held.total += {a}.sum().item()",
    "held.turns += 1",
    "turns += 1",
    "print(f'{{turns}} {{total:.3f}} {{{a}.mean().item():.2e}}', {n})",
    "losses.extend([{a}.max().item(), {a}.shape])",
    "kept.add({a}.detach().sum().item())",
    "losses.append({a}.argmax().item() > 2)",
    "found = {a}.sum().item(); losses.append(found); total += found",
    "noted({a}, {n})",
    "held.noted(x, {n})",
    "noting({a})",
]
"""What is left in variables, lists and attributes, or printed."""
LAST = [
    "meter.update({a}.detach().sum().item())",
    "held.meter.update({a}.mean().item(), {a}.shape[0])",
    "print({a}.detach())",
    "losses.append(1 / (1 + abs({a}.sum().item())))",
    "plateau.step({a}.sum().item())",
    "held.count += int({a}.sum().item() > 0)",
    "noted({a})",
    "told({a})",
]
"""What is done in the end."""
BLOCKS = [
    "    try:\n        {v} = {p}\n        if {c}: raise ValueError('it is so')\n    except ValueError:\n        {v} = {q}",
    "    {v} = {p}\n    for turn in range(3):\n        {v} = {v} * {n}",
    "    with torch.autocast('cpu', dtype=torch.bfloat16):\n        {v} = ({p}).float()",
    "    def inner(z, s=scale):\n        return z * s + x.sum()\n    {v} = inner({a})",
    "    if {c}:\n        return {a}\n    {v} = {p}",
    "    with torch.no_grad():\n        {v} = {p}\n        {w}",
]
SETUP = """
def helper(z):
    return z * scale + 1
def steps(z):
    yield z + 1
    yield z * scale
class Meter:
    def __init__(self):
        self.all, self.count, self.average = 0.0, 0, 0.0
    def update(self, value, count=1):
        self.all += value * count
        self.count += count
        self.average = self.all / self.count
meter = Meter()
class Held:
    def __init__(self):
        self.value, self.count, self.turns, self.total = 1.5, 0, 0, 0.0
        self.meter = Meter()
    def scaled(self, z):
        return z * self.value
    def noted(self, z, factor):
        self.total += z.sum().item() * factor
        self.turns += 1
        return z * self.value
held = Held()
def noted(z, factor=1.0):
    global total, turns
    turns += 1
    losses.append(z.detach().sum().item())
    if losses:
        total += z.mean().item() * factor
    return z * factor
def deeper(z, times=1):
    for _ in range(times):
        z = noted(held.noted(z, 0.5)) * scale
    print(f'{z.sum():.3f}')
    return z
def told(z):
    meter.update(z.sum().item(), 2)
    losses.append(1 / meter.count)
class Noting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.seen = torch.nn.Linear(3, 3), 0
    def forward(self, z):
        self.seen += 1
        book['all'].append((z.sum().item(), z.shape[0]))
        return self.inner(z)
noting = Noting()
"""  # fmt: skip
BRANCHES = [
    "flag",
    "({a} > 2).any()",
    "torch.isfinite({a}).all()",
    "int(({a} > {n}).sum()) > 4",
    "norm.training",
    "settings['scale'] > 1",
    "counts[0] % 2",
    "x.shape[0] == 3",
    "w.grad is None",
    "{a}.sum() > 0",
    "turns % 2 == 0",
    "held.turns > 3 and flag",
    "2 < turns - 1 < 9",
]
BACKWARD = """
    loss = ({a} * w).tanh().sum()
    loss.backward()
    with torch.no_grad():
        w.sub_(w.grad, alpha=0.1)
"""


def source(draw):
    """The text of a function of `x`."""
    names, lines = ["x", "state"], []

    def fill(text, **pieces):
        a, b = draw.choice(names), draw.choice(names)
        return text.format(a=a, b=b, n=draw.choice(["0.5", "2.0", "-1.5", "scale", "held.value"]), **pieces)

    backward = draw.random() < 0.5
    if backward:
        lines.append(f"    {draw.choice(['w.grad = None', 'optimizer.zero_grad()', 'pass'])}")
    for number in range(draw.randint(1, 8)):
        kind = draw.random()
        if kind < 0.1:
            pieces = {
                "p": fill(draw.choice(PURE)),
                "q": fill(draw.choice(PURE)),
                "w": fill(draw.choice(WRITES)),
            }
            lines.append(fill(draw.choice(BLOCKS), v=f"v{number}", c=fill(draw.choice(BRANCHES)), **pieces))
            names.append(f"v{number}")
        elif kind < 0.7:
            lines.append(f"    v{number} = {fill(draw.choice(PURE))}")
            if draw.random() < 0.1:
                lines[-1] = f"    with torch.no_grad():\n    {lines[-1]}"
            names.append(f"v{number}")
        elif kind < 0.8:
            lines.append(f"    {fill(draw.choice(WRITES))}")
        elif kind < 0.87:
            lines.append(f"    {fill(draw.choice(LEFT))}")
            if draw.random() < 0.2:
                test = draw.choice(["turns % 3 == 0", "{a}.sum().item() < best", "flag"])
                lines[-1] = f"    if {fill(test)}:\n    {lines[-1]}"
        else:
            lines.append(f"    if {fill(draw.choice(BRANCHES))}:")
            lines.append(f"        {draw.choice(names[1:])} = {fill(draw.choice(PURE))}")
    if backward:
        lines.append(
            draw.choice(
                [BACKWARD.format(a=draw.choice(names)), f"    (w * {draw.choice(names)}).sum().backward()"]
            )
        )
        if draw.random() < 0.5:
            lines.append("    optimizer.step()")
        if draw.random() < 0.3:
            lines.append("    schedule.step()")
    result = draw.choice(names[1:])
    while draw.random() < 0.25:
        lines.append(f"    {fill(draw.choice(LAST))}")
    if draw.random() < 0.3:
        # A number that is only returned, taken out as soon as it can be: what comes later may write to it.
        made = {line.split(" = ")[0].strip(): at for at, line in enumerate(lines) if line.startswith("    v")}
        taken = draw.choice(["x", "state", *made])
        kind = draw.choice(["{}.sum()", "{}.flatten()[:1].sum()", "({} > 0).sum()"])
        at = made.get(taken, -1) + 1
        lines.insert(at, f"    number = {kind.format(taken)}.item()")
        result = draw.choice([f"{result}, number", f"{result}, {{'number': [number]}}"])
    return "\n".join(
        ["def program(x):", "    global state, total, best, turns", *lines, f"    return {result}"]
    )


def differentiated(result, seed):
    """Differentiate a result that leads back, in one of several ways; return what went wrong."""
    if result.requires_grad and result.grad_fn is not None:
        gradient = torch.ones(()).expand(result.shape) if seed % 3 else torch.full(result.shape, 0.5)
        try:
            result.backward(gradient, create_graph=seed % 5 == 0)
        except RuntimeError as error:
            return str(error)[:40]
    return None


def outcome(text, seed, compiling):
    """What every call returned, and what it left behind."""
    torch.manual_seed(seed)
    draw = random.Random(seed)
    w = torch.randn(3, 3, requires_grad=True)
    net, norm, other = torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 3)
    other.bias = net.bias
    parameters = [w, *net.parameters(), *norm.parameters(), other.weight]
    names = ["SGD", "Adam", "RMSprop", "AdamW", "NAdam", "Adamax", "RAdam", "ASGD", "Adadelta", "Adafactor"]
    optimizer = getattr(torch.optim, names[seed % len(names)])(parameters, lr=0.05)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
    average = torch.optim.swa_utils.AveragedModel(net)
    scope = {
        "torch": torch, "w": w, "net": net, "norm": norm, "optimizer": optimizer, "state": torch.randn(3, 3), "settings": {"scale": 2.0},
        "scale": 1.5, "flag": True, "counts": [0], "seen": [], "table": {"t": torch.ones(3)}, "pair": (torch.ones(3), 2), "hooks": [],
        "schedule": schedule, "average": average, "plateau": plateau, "other": other, "losses": [], "total": 0.0, "best": 9.0, "turns": 0, "kept": set(),
        "book": {"sum": 0.0, "all": [], "last": None},
    }  # fmt: skip
    for name, part in ((f"<setup {seed}>", SETUP), (f"<program {seed}>", text)):
        exec(compile(part, name, "exec"), scope)
        linecache.cache[name] = len(part), None, part.splitlines(True), name
    program = scope["program"]
    if compiling:
        program = torch.compile(program, backend="eager")
    found = []
    for _ in range(CALLS):
        if draw.random() < 0.1:
            scope["flag"] = not scope["flag"]
        if draw.random() < 0.1:
            scope["scale"] = draw.choice([0.5, 1.5])
        if draw.random() < 0.05:
            w.data = torch.randn(3, 3)
        if draw.random() < 0.05:
            scope["held"].value = draw.choice([0.5, 1.5])
        x = torch.randn(3, 3) if draw.random() < 0.9 else torch.randn(draw.choice([0, 1, 2]), 3)
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                result = program(x)
            result, number = result if isinstance(result, tuple) else (result, None)
            found.append(repr(number))
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            result = torch.zeros(1)
            found.append(str(error))
        found.append(printed.getvalue())
        found.append(differentiated(result, seed))
        found.append(
            state_of(
                result,
                x,
                w,
                net,
                norm,
                scope["state"],
                optimizer,
                scope["settings"],
                scope["counts"],
                scope["seen"],
                scope["table"]["t"],
                scope["pair"][0],
                scope["held"].value,
                scope["held"].count,
                scope["held"].turns,
                scope["noting"].seen,
                scope["noting"],
                vars(scope["held"].meter),
                vars(scope["meter"]),
                plateau.best,
                scope["held"].total,
                scope["total"],
                scope["best"],
                scope["turns"],
                sorted(scope["kept"]),
                state_of(*scope["losses"]),
                state_of(*scope["book"]["all"], scope["book"]["sum"], scope["book"]["last"]),
                other,
                average,
                schedule.last_epoch,
                optimizer.param_groups[0]["lr"],
            )
        )
    return found, program


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True:UserWarning")
@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
@pytest.mark.filterwarnings("ignore:grad and param do not obey")
@pytest.mark.parametrize("block", range(10))
def test_compiled_and_not_they_do_the_same(block):
    recorded = 0
    for seed in range(block * 30, block * 30 + 30):
        text = source(random.Random(seed))
        plain, _ = outcome(text, seed, False)
        own, program = outcome(text, seed, True)
        assert plain == own, text
        recorded += bool(program.programs)
    assert recorded >= 5
