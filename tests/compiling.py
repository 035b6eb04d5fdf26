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
