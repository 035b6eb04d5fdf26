"""Fourier transforms: of any length, along any dimensions, of every type, and the same bits whatever the number of
threads."""

import numpy as np
import pytest
import rushlight as torch

F = torch.fft


def numbers(*shape, complex=True):
    state = np.random.RandomState(0)
    real = state.randn(*shape)
    return real + 1j * state.randn(*shape) if complex else real


def assert_near(found, wanted, single=False):
    assert found.dtype == (
        torch.tensor(wanted).to(torch.complex64).dtype if single else torch.tensor(wanted).dtype
    )
    scale = np.abs(wanted).max()
    assert np.allclose(found.numpy(), wanted, rtol=0, atol=scale * (1e-6 if single else 1e-13))


@pytest.mark.parametrize("size", [*range(1, 40), 64, 97, 210, 1009, 4096, 10007])
def test_lines_of_any_length_are_transformed(size):
    x, real = numbers(3, size), numbers(3, size, complex=False)
    assert_near(F.fft(torch.tensor(x)), np.fft.fft(x))
    assert_near(F.ifft(torch.tensor(x), norm="ortho"), np.fft.ifft(x, norm="ortho"))
    assert_near(F.fft(torch.tensor(real)), np.fft.fft(real))
    assert_near(F.rfft(torch.tensor(real)), np.fft.rfft(real))
    assert_near(F.irfft(torch.tensor(x), n=size), np.fft.irfft(x, n=size))
    assert_near(F.hfft(torch.tensor(x), n=size), np.fft.hfft(x, n=size))


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 1), (2, 0), (1, 2), (2, 1, 0), (1, 0, 2)])
def test_transforms_go_along_any_dimensions(dims):
    x = numbers(5, 20, 12)
    for given, other in [
        (torch.tensor(x), x),
        (torch.tensor(x).permute(2, 0, 1), x.transpose(2, 0, 1)),
        (torch.tensor(x)[::2, :, 1::3], x[::2, :, 1::3]),
        (torch.tensor(x).conj(), x.conj()),
    ]:
        assert_near(F.fftn(given, dim=dims), np.fft.fftn(other, axes=dims))
        assert_near(F.ifftn(given, dim=dims), np.fft.ifftn(other, axes=dims))
        assert_near(F.rfftn(given.real, dim=dims), np.fft.rfftn(other.real, axes=dims))
        assert_near(F.fftn(given.real, dim=dims), np.fft.fftn(other.real, axes=dims))
        assert_near(F.irfftn(given, dim=dims), np.fft.irfftn(other, axes=dims))


@pytest.mark.parametrize("shape", [(1000,), (128, 128), (300, 64)])
def test_single_precision_is_that_of_the_transform(shape):
    x = numbers(*shape)
    found = F.fftn(torch.tensor(x).to(torch.complex64))
    assert_near(found, np.fft.fftn(x), single=True)
    back = F.irfftn(F.rfftn(torch.tensor(x.real, dtype=torch.float32)), s=shape)
    assert back.dtype == torch.float32 and np.allclose(back.numpy(), x.real, atol=1e-5)


def test_what_has_to_be_real_is_taken_for_real():
    for size in (6, 7):
        half = numbers(size // 2 + 1)
        real = half.copy()
        real[0] = real[0].real
        if size % 2 == 0:
            real[-1] = real[-1].real
        assert_near(F.irfft(torch.tensor(half), n=size), np.fft.irfft(real, n=size))


def test_numbers_that_are_none_stay_in_their_line():
    x = torch.tensor(numbers(3, 50))
    x[1, 7] = complex(float("nan"), 0)
    found = F.fft(x)
    assert bool(found[1].isnan().all()) and bool(found[[0, 2]].isfinite().all())


def test_the_number_of_threads_is_not_in_the_bits():
    before, x = torch.get_num_threads(), torch.tensor(numbers(70, 300)).to(torch.complex64)
    calls = [F.fft2, lambda x: F.fft(x, dim=0), lambda x: F.rfft2(x.real), lambda x: F.irfft2(x)]
    try:
        for call in calls:
            found = []
            for count in (1, 2, 5):
                torch.set_num_threads(count)
                found.append(call(x))
            assert all(torch.equal(other, found[0]) for other in found)
    finally:
        torch.set_num_threads(before)


def test_many_lengths_do_not_get_into_each_others_way():
    for size in range(1, 400):
        line = torch.ones(size, dtype=torch.float64)
        assert F.rfft(line)[0].real.item() == pytest.approx(size)
