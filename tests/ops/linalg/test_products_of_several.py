"""Products of several tensors: Kronecker's, of chains of matrices, and in Einstein's notation."""

import gc
import itertools
import weakref

import numpy as np
import pytest
import rushlight as torch
from support import raises


def numbers(*shape):
    return torch.arange(1.0, 1 + int(np.prod(shape)), dtype=torch.float64).reshape(shape)


VIEWS = {
    "as it lies": lambda x: x,
    "transposed": lambda x: x.t(),
    "with steps": lambda x: x[:, ::2],
    "from the middle": lambda x: x[1:],
}


@pytest.mark.parametrize("view", VIEWS)
def test_the_product_of_kronecker_reads_views(view):
    x, y = VIEWS[view](numbers(3, 4)), VIEWS[view](numbers(4, 3))
    np.testing.assert_array_equal(torch.kron(x, y).numpy(), np.kron(x.numpy(), y.numpy()))


EQUATIONS = [
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("ij,jk,kl->", [(2, 3), (3, 4), (4, 5)]),
    ("i,ij,j", [(2,), (2, 3), (3,)]),
    ("ii,jj->ij", [(3, 3), (4, 4)]),
    ("iij->ji", [(3, 3, 2)]),
    ("iji->j", [(3, 2, 3)]),
    ("ij,ij,ij->i", [(2, 3), (2, 3), (2, 3)]),
    ("ab,bc,ac->", [(2, 3), (3, 4), (2, 4)]),
    ("ab,b->a", [(2, 1), (3,)]),
    ("ab,cd->dbca", [(2, 3), (4, 5)]),
    ("...a,...b->...ab", [(2, 3), (2, 4)]),
    ("b...,b...->...", [(2, 3, 4), (2, 3, 4)]),
    ("...->", [(2, 3)]),
    ("a...,b->ab", [(2, 3), (4,)]),
    ("Ba,aB->Ba", [(2, 3), (3, 2)]),
    (",a->a", [(), (3,)]),
]


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=[equation for equation, _ in EQUATIONS])
def test_equations_of_einstein_say_sums_of_products(equation, shapes):
    tensors = [numbers(*shape) / 7 for shape in shapes]
    letters = equation.replace("...", "")
    found = torch.einsum(equation, *tensors)
    arrays = [x.numpy() for x in tensors]
    if equation == "ab,b->a":
        arrays[0] = np.broadcast_to(arrays[0], (2, 3))
    if equation in ("...->", "a...,b->ab"):
        # numpy wants every dimension in the result.
        arrays[0] = arrays[0].sum(tuple(range(letters.split(",")[0].count("a"), arrays[0].ndim)))
        equation = {"...->": "->", "a...,b->ab": "a,b->ab"}[equation]
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), rtol=1e-12)


@pytest.mark.parametrize(("equation", "shapes"), EQUATIONS, ids=[equation for equation, _ in EQUATIONS])
def test_sums_of_products_can_be_differentiated(equation, shapes):
    tensors = [(numbers(*shape) / 7).requires_grad_() for shape in shapes]
    assert torch.autograd.gradcheck(lambda *tensors: torch.einsum(equation, *tensors), tensors)


@pytest.mark.parametrize("sizes", [(2, 3, 4), (5, 2, 6, 3), (2, 7, 1, 4, 3), (3, 3, 3, 3, 3, 3)])
def test_chains_of_matrices_are_multiplied_in_any_order(sizes):
    matrices = [numbers(*pair) / 9 for pair in itertools.pairwise(sizes)]
    expected = np.linalg.multi_dot([matrix.numpy() for matrix in matrices])
    np.testing.assert_allclose(torch.linalg.multi_dot(matrices).numpy(), expected, rtol=1e-12)


def test_a_chain_is_multiplied_where_it_is_cheapest():
    a, b, c = numbers(30, 2).requires_grad_(), numbers(2, 30), numbers(30, 1)
    node = torch.linalg.multi_dot([a, b, c]).grad_fn.next_functions[0][0]
    assert node._saved_mat2.shape == (2, 1)


def test_ends_of_a_chain_may_be_vectors():
    row, matrix, column = numbers(2), numbers(2, 3), numbers(3)
    assert torch.linalg.multi_dot([row, matrix]).shape == (3,)
    assert torch.linalg.multi_dot([matrix, column]).shape == (2,)
    assert torch.linalg.multi_dot([row, matrix, column]).shape == ()


MISTAKES = {
    "multi_dot(): the first tensor must be 1D or 2D but got 3D": [(2, 2, 2), (2, 2)],
    "multi_dot(): the last tensor must be 1D or 2D but got 0D": [(2, 2), ()],
    "multi_dot(): tensor 1 must be 2D but got 1D": [(2, 2), (2,), (2, 2)],
    "multi_dot(): tensors 1 and 2 with shapes [2, 2] and [3, 3] cannot be multiplied": [
        (2, 2),
        (2, 2),
        (3, 3),
    ],
}


@pytest.mark.parametrize("text", MISTAKES)
def test_what_is_no_chain_is_told(text):
    with raises(RuntimeError, text):
        torch.linalg.multi_dot([numbers(*shape) if shape else torch.tensor(1.0) for shape in MISTAKES[text]])


def test_matrices_of_a_chain_have_one_type():
    text = "multi_dot(): all tensors must have be the same dtype but tensor 0 is double and tensor 1 long int"
    with raises(RuntimeError, text):
        torch.linalg.multi_dot([numbers(2, 2), torch.ones(2, 2, dtype=torch.int64)])


@pytest.mark.own
def test_a_product_of_several_leaves_nothing_for_the_garbage_collector():
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(2, 2)
        seen = weakref.ref(x)
        torch.linalg.multi_dot([x, x, x])
        del x
        assert seen() is None
    finally:
        gc.enable()
