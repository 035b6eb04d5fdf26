"""Expressions of SymPy as modules whose numbers are trained."""

import sympy
import sympytorch
import torch


def work():
    x = sympy.symbols("x_name")
    expressions = [sympy.cos(1.0 * sympy.sin(x) * 2.0), sympy.sin(x) ** 2 + sympy.exp(-x)]
    module = sympytorch.SymPyModule(expressions=expressions)
    result = module(x_name=torch.linspace(0, 1, 5))
    result.sum().backward()
    gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
    return {"result": result, "gradients": gradients}
