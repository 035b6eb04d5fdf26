"""`nn.utils.parametrizations`: orthogonal matrices, weights of norm one, weights of length and direction."""

import pytest
import rushlight as torch
from support import raises

nn = torch.nn
made = torch.nn.utils.parametrizations


@pytest.fixture(autouse=True)
def _double():
    torch.set_default_dtype(torch.float64)


def distance_from_one(weight):
    if weight.size(-2) < weight.size(-1):
        weight = weight.mT
    return (weight.mH @ weight - torch.eye(weight.size(-1), dtype=weight.dtype)).abs().max()


@pytest.mark.parametrize("size", [(3, 3), (4, 2), (2, 4), (5, 1)])
@pytest.mark.parametrize("how", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("trivial", [True, False])
def test_a_weight_stays_orthogonal(size, how, trivial):
    layer = nn.Linear(size[1], size[0])
    assert made.orthogonal(layer, orthogonal_map=how, use_trivialization=trivial) is layer
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        assert distance_from_one(layer.weight) < 1e-10
        optimizer.zero_grad()
        layer(torch.arange(float(size[1]))).pow(2).sum().backward()
        assert layer.parametrizations.weight.original.grad is not None
        optimizer.step()


@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder"])
def test_an_orthogonal_weight_can_be_assigned(how):
    layer = made.orthogonal(nn.Linear(3, 3), orthogonal_map=how)
    wanted = torch.linalg.qr(torch.randn(3, 3))[0]
    layer.weight = wanted
    assert torch.allclose(layer.weight, wanted)
    assert torch.equal(layer.parametrizations.weight.original, -torch.eye(3))
    with raises(
        ValueError, "Expected a matrix or batch of matrices of shape torch.Size([3, 3]). Got a tensor of sha"
    ):
        layer.parametrizations.weight[0].right_inverse(torch.ones(2, 2))


def test_mirrors_find_the_matrix_that_is_assigned():
    layer = made.orthogonal(nn.Linear(2, 4), orthogonal_map="householder", use_trivialization=False)
    wanted = torch.linalg.qr(torch.randn(4, 2))[0]
    layer.weight = wanted
    assert torch.allclose(layer.weight, wanted)
    other = made.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley", use_trivialization=False)
    with raises(NotImplementedError, "It is not possible to assign to the matrix exponential or the Cayley"):
        other.weight = torch.eye(3)


def test_complex_and_batched_matrices_are_orthogonal_too():
    module = nn.Module()
    module.weight = nn.Parameter(torch.randn(2, 3, 3, dtype=torch.complex128))
    made.orthogonal(module)
    assert distance_from_one(module.weight) < 1e-12 and module.weight.is_complex()
    module.other = nn.Parameter(torch.randn(3, 3, dtype=torch.complex128))
    with raises(ValueError, "The householder parametrization does not support complex tensors."):
        made.orthogonal(module, "other", "householder")


def test_what_cannot_be_orthogonal():
    layer = nn.Linear(2, 2)
    with raises(ValueError, "Expected a matrix or batch of matrices. Got a tensor of 1 dimensions."):
        made.orthogonal(layer, "bias")
    text = "Module 'Linear(in_features=2, out_features=2, bias=True)' has no parameter or buffer with name 'nothing'"
    for function in (made.orthogonal, made.spectral_norm):
        with raises(ValueError, text):
            function(layer, "nothing")
    text = 'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: other'
    with raises(ValueError, text):
        made.orthogonal(layer, orthogonal_map="other")


def test_a_weight_has_a_length_and_a_direction():
    layer = nn.Linear(3, 2)
    before = layer.weight.detach().clone()
    assert made.weight_norm(layer) is layer
    assert torch.allclose(layer.weight, before)
    assert torch.allclose(layer.parametrizations.weight.original0.flatten(), before.norm(dim=1))
    layer.weight = before * 3
    assert torch.allclose(layer.weight, before * 3)
    layer(torch.ones(1, 3)).sum().backward()
    assert torch.allclose(
        layer.parametrizations.weight.original0.grad.flatten(),
        (before / before.norm(dim=1, keepdim=True)).sum(1),
    )
    for dim, count in ((0, 2), (1, 3), (None, 1)):
        length = made.weight_norm(nn.Linear(3, 2), dim=dim).parametrizations.weight.original0
        assert length.numel() == count


def test_states_of_the_former_way_are_understood():
    with pytest.warns(FutureWarning):
        old = nn.utils.weight_norm(nn.Linear(3, 2))
    layer = made.weight_norm(nn.Linear(3, 2))
    assert str(layer.load_state_dict(old.state_dict())) == "<All keys matched successfully>"
    assert torch.allclose(layer.weight, old.weight)


def test_a_weight_has_norm_one():
    layer = made.spectral_norm(nn.Linear(5, 4), n_power_iterations=5)
    for _ in range(20):
        layer(torch.ones(1, 5))
    assert abs(torch.linalg.matrix_norm(layer.weight.detach(), 2).item() - 1) < 1e-6
    layer.eval()
    u = layer.parametrizations.weight[0]._u.clone()
    assert torch.equal(layer.weight, layer.weight) and torch.equal(layer.parametrizations.weight[0]._u, u)
    first = layer(torch.ones(1, 5))
    layer.train()
    second = layer(torch.ones(1, 5))
    (first - second).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None


def test_a_vector_is_made_a_unit():
    layer = made.spectral_norm(nn.Linear(3, 4), "bias")
    assert abs(layer.bias.norm().item() - 1) < 1e-12
    assert dict(layer.parametrizations.bias[0].named_buffers()) == {}


def test_a_convolution_that_goes_back_has_its_outputs_second():
    assert made.spectral_norm(nn.ConvTranspose1d(2, 3, 4)).parametrizations.weight[0]._u.shape == (3,)
    assert made.spectral_norm(nn.Conv1d(2, 3, 4)).parametrizations.weight[0]._u.shape == (3,)
    assert made.spectral_norm(nn.Linear(2, 3), dim=-1).parametrizations.weight[0]._u.shape == (2,)
    with raises(IndexError, "Dimension out of range (expected to be in range of [-2, 1] but got 2)"):
        made.spectral_norm(nn.Linear(2, 3), dim=2)
    with raises(ValueError, "Expected n_power_iterations to be positive, but got n_power_iterations=0"):
        made.spectral_norm(nn.Linear(2, 3), n_power_iterations=0)


def test_they_are_shown_by_their_names():
    shown = repr(made.orthogonal(nn.Linear(2, 2)))
    assert "      (0): _Orthogonal()" in shown.splitlines() and shown.startswith("ParametrizedLinear(")
    assert "(0): _SpectralNorm()" in repr(made.spectral_norm(nn.Linear(2, 2)))
    assert "(0): _WeightNorm()" in repr(made.weight_norm(nn.Linear(2, 2)))
