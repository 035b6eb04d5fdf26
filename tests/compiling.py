"""What the tests of compiled functions share: two of everything, one compiled and one as it is written."""

import rushlight as torch


def state_of(*things):
    """All numbers of tensors, modules and optimisers, as bytes, with the versions of tensors."""
    found = []
    for thing in things:
        if isinstance(thing, torch.Tensor):
            found.append((thing.detach().clone().reshape(-1).tolist(), thing._version, thing.requires_grad))
            gradient = thing.grad if thing.is_leaf else None
            # How often a gradient was written to while it came into being is not the same where that is watched.
            found.append(None if gradient is None else gradient.reshape(-1).tolist())
        elif isinstance(thing, torch.nn.Module):
            found.extend(state_of(*thing.state_dict(keep_vars=True).values()))
        elif isinstance(thing, torch.optim.Optimizer):
            for state in thing.state.values():
                found.extend(
                    state_of(*(value for value in state.values() if isinstance(value, torch.Tensor)))
                )
        else:
            found.append(thing)
    return repr(found)


def run_both(make, calls, changes=None):
    """Call what `make` gives so often, compiled and not, with what `changes` has done before a call.

    `make` returns a function, its arguments for a call's number, and everything whose state is to be the same.
    Returns the compiled function.
    """
    states, compiled = [], None
    for compiling in (False, True):
        torch.manual_seed(0)
        function, arguments, things = make()
        if compiling:
            function = compiled = torch.compile(function, backend="eager")
        seen = []
        for number in range(calls):
            if changes is not None:
                changes(number, things)
            result = function(*arguments(number))
            seen.append(state_of(*(result if isinstance(result, tuple) else (result,)), *things))
        states.append(seen)
    for number, (plain, own) in enumerate(zip(*states, strict=True)):
        assert plain == own, f"call {number} differs"
    return compiled


def repeat_both(make, calls):
    """Call what `make` gives so often, without arguments: one by one, and compiled in one call."""
    states = []
    for at_once in (False, True):
        torch.manual_seed(0)
        function, _, things = make()
        if at_once:
            torch.compiler.repeat(torch.compile(function, backend="eager"), calls)
        else:
            for _ in range(calls):
                function()
        states.append(state_of(*things))
    assert states[0] == states[1]


def training():
    """What a step of training consists of."""
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 2)
    return net, torch.optim.Adam(net.parameters(), lr=0.1)


def stepping(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    return loss


def outcome(make, compiling, capsys, calls=20):
    """What all calls returned, printed and left behind."""
    step, state = make()
    compiled = torch.compile(step, backend="eager") if compiling else step
    torch.manual_seed(1)
    found = []
    for _ in range(calls):
        result = compiled(torch.randn(4, 3), torch.randint(0, 2, (4,)))
        found.append(repr((result, state())))
    return found, capsys.readouterr().out, compiled


def same_outcome(make, capsys):
    """Compare all that a function returns, prints and leaves behind with what it does compiled; return the latter."""
    plain, printed, _ = outcome(make, False, capsys)
    own, own_printed, compiled = outcome(make, True, capsys)
    assert own == plain and own_printed == printed
    return compiled


class Meter:
    """Averages numbers, as programs of today do."""

    def __init__(self):
        self.total, self.count, self.average = 0.0, 0, 0.0

    def update(self, value, count=1):
        self.value = value
        self.total += value * count
        self.count += count
        self.average = self.total / self.count
