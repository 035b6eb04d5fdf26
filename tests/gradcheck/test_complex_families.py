"""Derivatives of convolutions and factors of complex numbers, of transforms and of eigenvalues."""

import pytest
import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck
from rushlight.nn import functional as F


def numbers(*shape, shift=0.0):
    count = torch.arange(torch.Size(shape).numel(), dtype=torch.float64).view(shape) + shift
    return torch.complex((count * 1.7).sin(), (count * 0.9).cos()).requires_grad_()


def signal(*shape):
    return numbers(*shape).real.detach().clone().requires_grad_()


CALLS = {
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, padding=1), numbers(1, 2, 4), numbers(2, 2, 2), numbers(2)),
    "conv2d": (lambda x, w: F.conv2d(x, w, stride=2), numbers(1, 1, 3, 4), numbers(1, 1, 2, 2)),
    "conv_transpose1d": (F.conv_transpose1d, numbers(1, 2, 3), numbers(2, 1, 2)),
    "svd": (lambda x: torch.linalg.svd(x, full_matrices=False)[0].abs(), numbers(3, 2)),
    "svd of a wide matrix": (lambda x: torch.linalg.svd(x, full_matrices=False)[2].abs(), numbers(2, 3)),
    "svdvals": (torch.linalg.svdvals, numbers(2, 2, 3)),
    "eigh": (lambda x: torch.linalg.eigh(x + x.mH)[1].abs(), numbers(3, 3)),
    "eigvalsh": (lambda x: torch.linalg.eigvalsh(x + x.mH), numbers(3, 3)),
    "qr": (lambda x: torch.linalg.qr(x), numbers(3, 2, shift=0.5)),
    "qr of a wide matrix": (lambda x: torch.linalg.qr(x), numbers(2, 3, shift=0.5)),
    "lu": (lambda x: torch.linalg.lu_factor(x)[0], numbers(3, 3)),
    "pinv": (torch.linalg.pinv, numbers(3, 2)),
    "matrix_exp": (torch.linalg.matrix_exp, numbers(2, 2)),
    "solve_triangular": (
        lambda a, b: torch.linalg.solve_triangular(a, b, upper=True),
        numbers(2, 2, shift=1.0),
        numbers(2, 3),
    ),
    "cholesky_solve": (
        lambda b, x: torch.cholesky_solve(b, torch.linalg.cholesky(x @ x.mH + 4 * torch.eye(2))),
        numbers(2, 1),
        numbers(2, 2),
    ),
    "logdet": (torch.logdet, numbers(2, 2)),
    "eigvals": (torch.linalg.eigvals, numbers(3, 3)),
    "eigvals of a real matrix": (torch.linalg.eigvals, signal(3, 3)),
    "eig": (lambda x: torch.linalg.eig(x)[1].abs(), signal(3, 3)),
    "ormqr": (lambda a, x: torch.ormqr(*torch.geqrf(a.detach()), x), numbers(3, 2), numbers(3, 2)),
    "fft": (lambda x: torch.fft.fft(x, n=5), numbers(2, 4)),
    "ifft2": (torch.fft.ifft2, numbers(3, 2)),
    "rfftn": (lambda x: torch.fft.rfftn(x, norm="ortho"), signal(2, 3, 4)),
    "irfft": (lambda x: torch.fft.irfft(x, n=5), numbers(2, 3)),
    "irfft2": (torch.fft.irfft2, numbers(2, 3)),
    "hfft": (lambda x: torch.fft.hfft(x, n=4), numbers(2, 3)),
    "ihfftn": (torch.fft.ihfftn, signal(3, 4)),
    "stft": (
        lambda x: torch.stft(x, 4, window=torch.hann_window(4, dtype=torch.float64), return_complex=True),
        signal(9),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_derivatives_are_those_of_differences(name):
    function, *inputs = CALLS[name]
    inputs = tuple(x.detach().clone().requires_grad_() for x in inputs)
    if name == "ormqr":
        inputs = inputs[0].detach(), inputs[1]
    assert gradcheck(function, inputs, check_forward_ad=name != "ormqr")


@pytest.mark.parametrize("name", ["conv1d", "svdvals", "eigvalsh", "pinv", "eigvals", "irfft", "rfftn"])
def test_derivatives_can_be_differentiated(name):
    function, *inputs = CALLS[name]
    assert gradgradcheck(function, tuple(x.detach().clone().requires_grad_() for x in inputs))


def test_gradients_that_depend_on_a_choice_are_refused():
    x = numbers(2, 2)
    with pytest.raises(RuntimeError, match="svd_backward: The singular vectors in the complex case"):
        torch.linalg.svd(x)[0].real.sum().backward()
    with pytest.raises(RuntimeError, match="linalg_eigh_backward: The eigenvectors in the complex case"):
        torch.linalg.eigh(x + x.mH)[1].imag.sum().backward()
    with pytest.raises(RuntimeError, match="linalg_eig_backward: The eigenvectors in the complex case"):
        torch.linalg.eig(x)[1].imag.sum().backward()


@pytest.mark.parametrize(
    "function", [torch.linalg.svdvals, torch.linalg.eigvals, torch.fft.fft, torch.linalg.pinv]
)
def test_many_samples_come_to_what_each_comes_to(function):
    x = numbers(3, 2, 2).detach()
    mapped = torch.func.vmap(function)(x)
    assert torch.allclose(mapped, torch.stack([function(one) for one in x]))
