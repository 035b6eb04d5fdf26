"""Steps of optimisers as functions: parameters, gradients and states come as lists."""

import pytest
import rushlight as torch
from rushlight.optim import _functional

BETAS = {"beta1": 0.9, "beta2": 0.99}
MOMENTS = ("exp_avg", "exp_avg_sq")

# The class, its options, the names of its states in the order of the function's arguments, and what the function calls
# the options.
KINDS = {
    "adadelta": (
        torch.optim.Adadelta,
        {"lr": 0.3, "rho": 0.8, "eps": 1e-5, "weight_decay": 0.1},
        ("square_avg", "acc_delta", "step"),
        {},
    ),
    "adagrad": (
        torch.optim.Adagrad,
        {"lr": 0.3, "lr_decay": 0.1, "eps": 1e-8, "weight_decay": 0.1},
        ("sum", "step"),
        {},
    ),
    "adam": (
        torch.optim.Adam,
        {"lr": 0.1, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1, "amsgrad": True},
        (*MOMENTS, "max_exp_avg_sq", "step"),
        BETAS,
    ),
    "adamw": (
        torch.optim.AdamW,
        {"lr": 0.1, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1, "amsgrad": False},
        (*MOMENTS, None, "step"),
        BETAS,
    ),
    "adamax": (
        torch.optim.Adamax,
        {"lr": 0.1, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1},
        ("exp_avg", "exp_inf", "step"),
        BETAS,
    ),
    "asgd": (
        torch.optim.ASGD,
        {"lr": 0.1, "lambd": 1e-3, "alpha": 0.75, "t0": 2.0, "weight_decay": 0.1},
        ("ax", "mu", "eta", "step"),
        {},
    ),
    "nadam": (
        torch.optim.NAdam,
        {"lr": 0.1, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1, "momentum_decay": 0.004},
        (*MOMENTS, "mu_product", "step"),
        BETAS,
    ),
    "radam": (
        torch.optim.RAdam,
        {"lr": 0.1, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1},
        (*MOMENTS, "step"),
        BETAS,
    ),
    "rmsprop": (
        torch.optim.RMSprop,
        {"lr": 0.1, "alpha": 0.9, "eps": 1e-8, "weight_decay": 0.1, "momentum": 0.5, "centered": True},
        ("square_avg", "grad_avg", "momentum_buffer", "step"),
        {},
    ),
    "rprop": (
        torch.optim.Rprop,
        {"lr": 0.1, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50.0)},
        ("prev", "step_size", "step"),
        {"etaminus": 0.5, "etaplus": 1.2, "step_size_min": 1e-6, "step_size_max": 50.0},
    ),
}


def gradients(step):
    return [torch.full((2, 2), 0.5 - step), torch.tensor([1.0, -2.0, 0.25]) * (step + 1)]


def parameters():
    return [torch.ones(2, 2, requires_grad=True), torch.arange(3.0).requires_grad_()]


@pytest.mark.parametrize("name", KINDS)
def test_a_step_is_the_one_of_the_optimiser(name):
    kind, options, names, others = KINDS[name]
    by_class, by_function = parameters(), parameters()
    optimizer = kind(by_class, foreach=False, **options)
    states = None
    left_out = ("betas", "etas", "step_sizes") + (("lr",) if name == "rprop" else ())
    given = {key: value for key, value in options.items() if key not in left_out}
    if name not in ("adamax", "asgd", "nadam", "radam", "rmsprop", "rprop"):
        given["maximize"] = False
    for step in range(4):
        for parameter, gradient in zip(by_class, gradients(step), strict=True):
            parameter.grad = gradient
        optimizer.step()
        if states is None:
            # The states of the first step are what the function goes on with.
            first = [optimizer.state[parameter] for parameter in by_class]
            copies = [
                [] if key is None else [state[key].detach().clone() for state in first] for key in names
            ]
            states = copies
            with torch.no_grad():
                for own, other in zip(by_function, by_class, strict=True):
                    own.copy_(other)
            continue
        with torch.no_grad():
            getattr(_functional, name)(by_function, gradients(step), *states, **given, **others)
    for own, other in zip(by_function, by_class, strict=True):
        torch.testing.assert_close(own, other)
    for key, listed in zip(names, states, strict=True):
        if key is not None:
            for value, parameter in zip(listed, by_class, strict=True):
                torch.testing.assert_close(value, optimizer.state[parameter][key])


def test_sgd_makes_the_buffers_that_are_not_there():
    by_class, by_function = parameters(), parameters()
    optimizer = torch.optim.SGD(
        by_class, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1, foreach=False
    )
    buffers = [None, None]
    options = {"lr": 0.1, "momentum": 0.9, "dampening": 0, "nesterov": True, "weight_decay": 0.1}
    for step in range(3):
        for parameter, gradient in zip(by_class, gradients(step), strict=True):
            parameter.grad = gradient
        optimizer.step()
        with torch.no_grad():
            _functional.sgd(by_function, gradients(step), buffers, **options, maximize=False)
    for own, other, buffer in zip(by_function, by_class, buffers, strict=True):
        torch.testing.assert_close(own, other)
        torch.testing.assert_close(buffer, optimizer.state[other]["momentum_buffer"])


def test_steps_are_counted_by_tensors():
    with pytest.raises(RuntimeError, match="`state_steps` argument must contain a list of singleton tensors"):
        _functional.rmsprop(
            [torch.ones(1)], [torch.ones(1)], [torch.ones(1)], [], [], [1],
            lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False,
        )  # fmt: skip
    with pytest.raises(RuntimeError, match="API has changed"):
        _functional.adam(
            [torch.ones(1)], [torch.ones(1)], [torch.ones(1)], [torch.ones(1)], [], [1],
            amsgrad=False, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.0, eps=1e-8, maximize=False,
        )  # fmt: skip
