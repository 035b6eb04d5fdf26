"""Operations that consist of others and are one node: their derivatives are those of what they consist of."""

import pytest
import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck
from support import raises

F = torch.nn.functional


def numbers(*shape):
    generator = torch.Generator().manual_seed(3)
    return torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()


def triangle():
    return (numbers(3, 3).detach().tril() + 3 * torch.eye(3, dtype=torch.float64)).requires_grad_()


def matrices():
    return (numbers(2, 3, 3).detach() + 3 * torch.eye(3, dtype=torch.float64)).requires_grad_()


TARGET = torch.tensor([0, 2, 1])
LABELS = torch.tensor([[0, 2, -1, 1]] * 3)
SOUND = torch.tensor([[1, 2], [2, 2]])

CASES = {
    "cholesky_solve": (lambda b, a: torch.cholesky_solve(b, a.tril()), (numbers(3, 2), triangle())),
    "cholesky_inverse": (lambda a: torch.cholesky_inverse(a.tril()), (triangle(),)),
    "linalg.lu": (lambda a: torch.linalg.lu(a)[1:], (matrices(),)),
    "linalg.lu of wide matrices": (lambda a: torch.linalg.lu(a)[1:], (numbers(2, 4),)),
    "lu_solve": (
        lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, left=False, adjoint=True),
        (matrices(), numbers(2, 2, 3)),
    ),
    "lu_unpack": (lambda a: torch.lu_unpack(*torch.linalg.lu_factor(a))[1:], (matrices(),)),
    "householder_product": (torch.linalg.householder_product, (numbers(4, 3), numbers(3))),
    "solve with a vector": (torch.linalg.solve, (matrices(), numbers(2, 3))),
    "solve from the right": (
        lambda a, b: torch.linalg.solve(a, b, left=False),
        (matrices(), numbers(2, 2, 3)),
    ),
    "solve_triangular from the right": (
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=False, left=False),
        (triangle(), numbers(2, 3)),
    ),
    "triangular_solve": (
        lambda b, a: torch.triangular_solve(b, a.triu(), transpose=True)[0],
        (numbers(3, 2), triangle()),
    ),
    "multi_margin_loss": (lambda x: F.multi_margin_loss(x, TARGET), (numbers(3, 4),)),
    "multilabel_margin_loss": (lambda x: F.multilabel_margin_loss(x, LABELS), (numbers(3, 4),)),
    "soft_margin_loss": (
        lambda x: F.soft_margin_loss(x, torch.ones(3, 4, dtype=torch.float64)),
        (numbers(3, 4),),
    ),
    "ctc_loss": (lambda x: F.ctc_loss(x.log_softmax(-1), SOUND, (4, 4), (2, 1)), (numbers(4, 2, 4),)),
    "max_unpool1d": (
        lambda x: F.max_unpool1d(x, torch.tensor([[[0, 3]]]), 2),
        (numbers(1, 1, 2),),
    ),
    "put": (lambda x, y: x.put(TARGET, y, accumulate=True), (numbers(3, 4), numbers(3))),
    "block_diag": (torch.block_diag, (numbers(2, 2), numbers(3), numbers())),
    "rrelu": (F.rrelu, (numbers(3, 4),)),
    "embedding_bag": (lambda w: F.embedding_bag(TARGET, w, torch.tensor([0, 2])), (numbers(3, 4),)),
    "grid_sample": (
        lambda x, y: F.grid_sample(x, y.tanh() * 0.8, align_corners=False),
        (numbers(1, 2, 4, 4), numbers(1, 2, 3, 2)),
    ),
    "affine_grid": (lambda x: F.affine_grid(x, (1, 2, 3, 4), align_corners=False), (numbers(1, 2, 3),)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_with_differences(name):
    assert gradcheck(*CASES[name])


@pytest.mark.own
@pytest.mark.parametrize("name", CASES)
def test_derivatives_agree_in_every_mode(name):
    assert gradcheck(*CASES[name], check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(*CASES[name], check_fwd_over_rev=True)


def test_hooks_for_saved_tensors_see_what_the_one_node_saves():
    shapes = []

    def pack(x):
        shapes.append(tuple(x.shape))
        return x

    x = numbers(3, 2)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        y = torch.cholesky_solve(x, triangle())
        assert sorted(shapes) == [(3, 2), (3, 2), (3, 3)]
        y.sum().backward()
    assert len(shapes) == 3


def test_a_result_that_was_written_to_is_an_error():
    y = torch.cholesky_solve(numbers(3, 2), triangle())
    with torch.no_grad():
        y.mul_(2)
    with raises(
        RuntimeError,
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.DoubleTensor [3, 2]], which is output 0 of CholeskySolve, is at version 1; expected "
        "version 0 instead.",
    ):
        y.sum().backward()


def test_targets_of_losses_have_no_gradient():
    with raises(
        RuntimeError,
        "The function 'soft_margin_loss' is not differentiable with respect to argument 'target'. This input "
        "cannot have requires_grad True.",
    ):
        F.soft_margin_loss(numbers(3), numbers(3))


@pytest.mark.own
def test_the_gradient_of_a_linear_operation_does_not_move():
    x = numbers(3, 2)
    y = torch.cholesky_solve(x, triangle().detach())
    (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert not gradient.requires_grad


def test_the_gradient_depends_on_the_other_input():
    x, a = numbers(3, 2), triangle()
    (gradient,) = torch.autograd.grad(torch.cholesky_solve(x, a).sum(), x, create_graph=True)
    assert torch.autograd.grad(gradient.sum(), a)[0].shape == (3, 3)


def test_backward_runs_in_inference_mode():
    x = numbers(2, 2)
    y = torch.block_diag(x, x).sum()
    with torch.inference_mode():
        y.backward()
    assert x.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_node_may_have_many_inputs():
    parts = [torch.ones(1, 1, requires_grad=True) for _ in range(300)]
    torch.block_diag(*parts).sum().backward()
    assert all(part.grad.item() == 1 for part in parts)


def test_what_is_saved_is_freed():
    y = F.soft_margin_loss(numbers(3), torch.ones(3))
    y.backward()
    text = "Trying to backward through the graph a second time"
    with raises(RuntimeError, text):
        y.backward()
    with raises(RuntimeError, text):
        y.grad_fn._saved_self  # noqa: B018


def test_packed_sequences_and_products_with_reflections_show_what_they_keep():
    padded = numbers(3, 2, 4)
    packed = torch.nn.utils.rnn.pack_padded_sequence(padded, torch.tensor([3, 2]))
    node = packed.data.grad_fn
    assert node.name() == "PackPaddedSequenceBackward0"
    assert not node._saved_batch_first
    assert node._saved_input_sym_sizes == (3, 2, 4)
    assert node._saved_result1.tolist() == [2, 2, 1]
    (gradient,) = torch.autograd.grad(packed.data.sum(), padded)
    assert gradient.sum(-1).tolist() == [[4, 4], [4, 4], [4, 0]]
    reflections, scales, other = numbers(3, 3), numbers(3), numbers(3, 2)
    product = torch.ormqr(reflections, scales, other, transpose=True)
    node = product.grad_fn
    assert node.name() == "OrmqrBackward0"
    assert (node._saved_left, node._saved_transpose) == (True, True)
    assert torch.equal(node._saved_input2, scales)
    assert torch.equal(node._saved_input3, other)
    assert torch.equal(node._saved_result, product)
