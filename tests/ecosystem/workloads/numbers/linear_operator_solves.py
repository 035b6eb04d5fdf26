"""Matrices that are known by their structure."""

import torch
from linear_operator import to_linear_operator
from linear_operator.operators import (
    DiagLinearOperator,
    KroneckerProductLinearOperator,
    ToeplitzLinearOperator,
)


def work():
    torch.manual_seed(0)
    root = torch.randn(5, 5, dtype=torch.float64)
    matrix = (root @ root.T + 5 * torch.eye(5, dtype=torch.float64)).requires_grad_()
    right = torch.randn(5, 1, dtype=torch.float64)
    operator = to_linear_operator(matrix).add_diagonal(torch.tensor(0.5, dtype=torch.float64))
    quadratic, logarithm = operator.inv_quad_logdet(inv_quad_rhs=right, logdet=True)
    (quadratic + logarithm).backward()
    kron = KroneckerProductLinearOperator(to_linear_operator(torch.eye(2).double() * 2), operator)
    toeplitz = ToeplitzLinearOperator(torch.tensor([3.0, 1.0, 0.5]))
    plus = DiagLinearOperator(torch.ones(3)) + toeplitz
    return {
        "quadratic": quadratic,
        "logarithm": logarithm,
        "grad": matrix.grad,
        "solved": kron.solve(torch.ones(10, 1, dtype=torch.float64)),
        "toeplitz": plus @ torch.ones(3, 1),
    }
