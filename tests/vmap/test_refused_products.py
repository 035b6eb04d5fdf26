"""Products of samples that do not fit: errors tell what all samples together are multiplied as."""

import pytest
import rushlight as torch
from rushlight.func import hessian, jacfwd, vmap

DIMS = "Shape mismatch: Got incorrect dims for {0}(a, b). a has dim {1}and b has dim {2}but expected them to have dim {3} and dim {4}"


def wrong_dims(*parts):
    return DIMS.format(*parts)


def batches(left, right):
    return f"Expected size for first two dimensions of batch2 tensor to be: {left} but got: {right}."


CASES = {
    "matrix and vector": (torch.mm, (2, 2), (2,), (0, 0), wrong_dims("mm", 2, 1, 2, 2)),
    "batch and matrix": (torch.bmm, (2, 2, 2), (2, 2), (0, None), wrong_dims("bmm", 3, 2, 3, 3)),
    "vector and vector": (torch.mv, (2,), (2,), (None, 0), wrong_dims("mv", 1, 1, 2, 1)),
    "no vectors": (torch.dot, (2, 2), (2, 2), (0, 0), "Got wrong shapes for dot"),
    "matrices, both": (torch.mm, (2, 3), (2, 3), (0, 0), batches("[4, 3]", "[4, 2]")),
    "matrices, first": (
        torch.mm,
        (2, 3),
        (2, 3),
        (0, None),
        "mat1 and mat2 shapes cannot be multiplied (8x3 and 2x3)",
    ),
    "matrices, second": (torch.matmul, (2, 3), (2, 3), (None, 0), batches("[4, 3]", "[4, 2]")),
    "matrix times vector, first": (
        torch.mv,
        (2, 2),
        (3,),
        (0, None),
        "size mismatch, got input (8), mat (8x2), vec (3)",
    ),
    "matrix times vector, second": (
        torch.mv,
        (2, 2),
        (3,),
        (None, 0),
        "mat1 and mat2 shapes cannot be multiplied (2x2 and 3x4)",
    ),
    "vectors, both": (torch.dot, (2,), (3,), (0, 0), batches("[4, 2]", "[4, 3]")),
    "vectors, first": (torch.dot, (2,), (3,), (0, None), "size mismatch, got input (4), mat (4x2), vec (3)"),
    "vectors, second": (
        torch.vdot,
        (2,),
        (3,),
        (None, 0),
        "mat1 and mat2 shapes cannot be multiplied (1x2 and 3x4)",
    ),
    "batches": (torch.bmm, (2, 2, 2), (2, 3, 2), (0, 0), batches("[8, 2]", "[8, 3]")),
    "added to": (
        lambda a, b: torch.addmm(a, a, b),
        (2, 3),
        (2, 3),
        (0, None),
        "mat1 and mat2 shapes cannot be multiplied (8x3 and 2x3)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_error_tells_of_all_samples(name):
    function, left, right, dims, text = CASES[name]
    shapes = [(4, *shape) if dim == 0 else shape for shape, dim in zip((left, right), dims, strict=True)]
    with pytest.raises(RuntimeError) as caught:
        vmap(function, dims)(*(torch.ones(shape) for shape in shapes))
    assert str(caught.value) == text


@pytest.mark.parametrize("derive", [jacfwd, hessian])
def test_an_error_tells_of_the_one_value_that_many_tangents_share(derive):
    x = torch.ones(2, 3)
    for function, text in [
        (torch.mm, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        (torch.matmul, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        (torch.dot, "1D tensors expected, but got 2D and 2D tensors"),
        (torch.bmm, "batch1 must be a 3D tensor"),
    ]:
        with pytest.raises(RuntimeError) as caught:
            derive(lambda x, function=function: function(x, x).sum())(x)
        assert str(caught.value) == text


def test_what_does_not_fit_a_copy_is_told_of_all_samples():
    with pytest.raises(
        RuntimeError, match=r"must match the size of tensor b \(5\) at non-singleton dimension 2$"
    ):
        vmap(lambda x: x.clone().copy_(torch.ones(5)))(torch.ones(4, 2, 3))
