"""Elements by their order, Einstein sums, linear algebra and other operations made of operations."""

import pickle

import pytest
import rushlight as torch
from support import assert_tensor, raises


def test_sorting_says_where_elements_were_and_passes_gradients_back_there():
    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, indices = torch.sort(x)
    assert indices.tolist() == [1, 2, 0]
    (values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert_tensor(x.grad, [100, 1, 10])


def test_the_middle_of_an_even_number_is_the_lower_one():
    assert torch.tensor([4.0, 1.0, 3.0, 2.0]).median().item() == 2.0
    assert torch.tensor([1.0, float("nan")]).median().isnan()
    assert torch.tensor([1.0, float("nan")]).nanmedian().item() == 1.0


def test_running_extremes_point_at_the_last_of_equals():
    values, indices = torch.tensor([1.0, 3.0, 3.0, 2.0]).cummax(0)
    assert values.tolist() == [1, 3, 3, 3]
    assert indices.tolist() == [0, 1, 2, 2]


def test_einstein_sums_agree_with_products():
    torch.manual_seed(0)
    a, b = torch.randn(2, 3, 4), torch.randn(2, 4, 5)
    assert_tensor(torch.einsum("bij,bjk->bik", a, b), (a @ b).numpy(), tolerance=1e-5)
    assert_tensor(torch.einsum("...ij->...", a), a.sum((1, 2)).numpy(), tolerance=1e-5)
    assert_tensor(torch.einsum("ii", torch.eye(3)), 3.0)
    with raises(RuntimeError, "einsum(): fewer operands were provided than specified in the equation"):
        torch.einsum("ij,jk->ik", a[0])


def test_equations_and_inverses_are_differentiated():
    a = torch.tensor([[2.0, 1.0], [0.0, 4.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    x = torch.linalg.solve(a, b)
    assert_tensor(a.detach() @ x.detach(), [1, 2])
    assert torch.autograd.gradcheck(torch.linalg.solve, (a, b))
    assert torch.autograd.gradcheck(torch.linalg.inv, (a,))
    assert torch.autograd.gradcheck(torch.linalg.det, (a,))


def test_a_matrix_without_inverse_is_an_error_of_its_own_class():
    with pytest.raises(torch.linalg.LinAlgError) as caught:
        torch.linalg.inv(torch.zeros(2, 2))
    assert str(caught.value) == (
        "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input "
        "matrix is singular."
    )

    assert torch._C._LinAlgError is torch.linalg.LinAlgError
    assert torch.linalg.LinAlgError.__module__ == torch._C.__name__
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_blends_weigh_and_add():
    x, a, b = torch.ones(2), torch.tensor([2.0, 3.0]), torch.tensor([4.0, 5.0])
    assert_tensor(torch.addcmul(x, a, b, value=2), [17, 31])
    assert_tensor(torch.addcdiv(x, a, b), [1.5, 1.6])
    assert_tensor(torch.lerp(a, b, 0.5), [3, 4])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: torch.nn.functional.gelu(x), "GeluBackward0"),
        (lambda x: torch.nn.functional.selu(x), "EluBackward0"),
        (lambda x: torch.addcmul(x, x, x), "AddcmulBackward0"),
        (lambda x: torch.lerp(x, x, 0.5), "LerpBackward0"),
        (lambda x: torch.special.i0e(x), "SpecialI0EBackward0"),
        (lambda x: torch.linalg.det(x), "LinalgDetBackward0"),
        (lambda x: x.logcumsumexp(0), "LogcumsumexpBackward0"),
    ],
)
def test_nodes_have_the_names_of_their_operations(call, name):
    assert type(call(torch.eye(2).add(0.5).requires_grad_()).grad_fn).__name__ == name


def test_a_view_of_another_type_shows_the_same_bytes():
    x = torch.tensor([1.0, 2.0])
    assert x.view(torch.int32).tolist() == [1065353216, 1073741824]
    assert x.view(torch.int16).shape == (4,)
    with raises(
        RuntimeError,
        "self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), but got 3",
    ):
        torch.ones(3).view(torch.float64)


def test_a_grid_is_made_of_vectors_or_of_a_list_of_them():
    a, b = torch.tensor([1, 2]), torch.tensor([3])
    for grid in (torch.meshgrid(a, b, indexing="ij"), torch.meshgrid([a, b], indexing="ij")):
        assert [x.tolist() for x in grid] == [[[1], [2]], [[3], [3]]]


def test_the_name_of_a_type_is_told():
    assert [torch.typename(x) for x in (torch.tensor(1), 3, [])] == ["torch.LongTensor", "int", "list"]


def test_a_weight_can_be_made_the_identity():
    weight = torch.empty(2, 3, requires_grad=True)
    assert torch.nn.init.eye_(weight) is weight
    assert weight.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    with pytest.raises(ValueError, match="Only tensors with 2 dimensions are supported"):
        torch.nn.init.eye_(torch.empty(2))


def test_integers_are_added_to_outer_products_in_the_type_of_the_sum():
    most = torch.iinfo(torch.int64).max
    found = torch.addr(torch.tensor([1, 2]), torch.ones(2), torch.ones(2), beta=most)
    assert found.tolist() == [[2.0**63, 2.0**64], [2.0**63, 2.0**64]]
