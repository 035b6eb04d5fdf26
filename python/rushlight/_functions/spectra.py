"""The spectra of signals as windows move over them, and back: `stft` and `istft`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _rushlight as native
from .. import fft
from .._calls.showing import shown_as_given, shown_to
from .._tensors.typename import scalar_name
from .._warn_once import warn_once

if TYPE_CHECKING:
    from .._rushlight import Tensor

__all__ = ["istft", "stft"]

_NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied,which is known to cause spectral "
    "leakage. Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce "
    "spectral leakage.To suppress this warning and use a rectangular window, explicitly set "
    "`window=torch.ones(n_fft, device=<device>)`."
)
_NO_WINDOW_BACK = (
    "A window was not provided. A rectangular window will be applied.Please provide the same window used "
    "by stft to make the inversion lossless.To suppress this warning and use a rectangular window, "
    "explicitly set `window=torch.ones(n_fft, device=<device>)`."
)
_PARTS = (
    "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
    "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
    "torch.view_as_real on the complex output to recover the old return format."
)
_SHORTER = (
    "The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
    "tail. Please check your center and hop_length settings."
)


def _of_length(window: Tensor | None, win_length: int, n_fft: int, like: Tensor) -> Tensor:
    """Return a window of `n_fft` elements, with zeros on both sides if it is shorter."""
    if window is None:
        window = native.ones(win_length, dtype=like.dtype.to_real())
    missing = n_fft - win_length
    if missing == 0:
        return window
    whole = window.new_zeros(n_fft)
    whole.narrow(0, missing // 2, win_length).copy_(window)
    return whole


def _overlapped(frames: Tensor, hop: int, whole: int) -> Tensor:
    """Return the sums of frames of which each begins `hop` places after the one before."""
    _, count, size = frames.shape
    places = (native.arange(count).unsqueeze(1) * hop + native.arange(size)).flatten()

    def added(frames: Tensor) -> Tensor:
        return frames.new_zeros((frames.shape[0], whole)).index_add(1, places, frames.flatten(1))

    names = ("unfold_backward", "UnfoldBackwardBackward0", "- -")
    (sums,) = native._as_one(added, names, (1, 1, 0), {"dim": 1, "size": size, "step": hop}, frames)
    return sums


def _joined(frames: Tensor, window: Tensor, hop: int, whole: int) -> tuple[Tensor, Tensor]:
    """Return the sums of frames as they are seen through a window, and of what it weighs each element."""
    weights = window.pow(2).expand(1, frames.shape[1], window.shape[-1])
    return _overlapped(frames * window, hop, whole), _overlapped(weights, hop, whole)


def _told(tensor: Tensor, left: str = "", right: str = "") -> str:
    return f"torch.{scalar_name(tensor)}Tensor{left}{list(tensor.shape)}{right}"


def _refusal(input: Tensor, n_fft: int, hop: int, length: int, window: Tensor | None) -> str | None:
    """Tell why a signal cannot be looked at through a window, if it cannot."""
    if not (input.is_floating_point() or input.is_complex()):
        return "expected a tensor of floating point or complex values"
    if input.dim() not in (1, 2):
        return "expected a 1D or 2D tensor"
    size = input.shape[-1]
    if n_fft <= 0 or n_fft > size:
        return f"expected 0 < n_fft < {size}, but got n_fft={n_fft}"
    if hop <= 0:
        return f"expected hop_length > 0, but got hop_length={hop}"
    if length <= 0 or length > n_fft:
        return f"expected 0 < win_length <= n_fft, but got win_length={length}"
    if window is not None and (window.dim() != 1 or window.shape[0] != length):
        return (
            f"expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{list(window.shape)}"
        )
    return None


def _padded(signal: Tensor, beside: int, mode: str) -> Tensor:
    """Return a signal, or several, with so many elements more at both ends."""
    from ..nn.functional import pad

    lead = [1] * (3 - signal.dim())
    wide = pad(signal.reshape(*lead, *signal.shape), (beside, beside), mode)
    return wide.reshape(wide.shape[len(lead) :])


@shown_to("input")
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Compute the short-time Fourier transform (STFT) of a signal.

    >>> import rushlight as torch
    >>> torch.stft(torch.zeros(16), 4, return_complex=True, window=torch.ones(4)).shape
    torch.Size([3, 17])
    """
    if center:
        if align_to_window:
            raise RuntimeError("stft align_to_window should only be set when center = false.")
        input = _padded(input, n_fft // 2, pad_mode)
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    if window is None:
        warn_once(_NO_WINDOW)
    is_complex = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further "
                "require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if not return_complex:
        warn_once(_PARTS)
    refusal = _refusal(input, n_fft, hop, length, window)
    if refusal is not None:
        seen = "None" if window is None else _told(window, "{", "}")
        sides = onesided if onesided is None else int(onesided)
        raise RuntimeError(
            f"stft({_told(input)}, n_fft={n_fft}, hop_length={hop}, win_length={length}, window={seen}, "
            f"normalized={int(normalized)}, onesided={sides}, return_complex={int(bool(return_complex))}, "
            f"align_to_window={align_to_window}) : {refusal}"
        )
    single = input.dim() == 1
    signal = input.unsqueeze(0) if single else input
    (outer, step), count = signal.stride(), 1 + (signal.shape[1] - n_fft) // hop
    frames = signal.as_strided((signal.shape[0], count, n_fft), (outer, hop * step, step))
    if window is not None or length < n_fft:
        frames = frames * _of_length(window, length, n_fft, input)
    if onesided is None:
        onesided = not is_complex
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    norm = "ortho" if normalized else None
    found = (fft.rfft if onesided else fft.fft)(frames, norm=norm).transpose_(1, 2)
    found = found.squeeze_(0) if single else found
    return found if return_complex else native.view_as_real(found)


@shown_as_given
def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Compute the inverse short-time Fourier transform: the least squares estimate of the signal.

    >>> import rushlight as torch
    >>> signal, window = torch.arange(16.0), torch.hann_window(8)
    >>> found = torch.istft(torch.stft(signal, 8, window=window, return_complex=True), 8, window=window)
    >>> torch.allclose(found, signal, atol=1e-4)
    True
    """
    if window is None:
        warn_once(_NO_WINDOW_BACK)
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    hop = n_fft // 4 if hop_length is None else hop_length
    size = n_fft if win_length is None else win_length
    single = input.dim() == 2
    parts = native.view_as_real(input.resolve_conj())
    spectra = native.view_as_complex((parts.unsqueeze(0) if single else parts).transpose(1, 2))
    onesided_given = onesided
    if onesided is None:
        onesided = spectra.shape[2] != n_fft
    wanted = n_fft // 2 + 1 if onesided else n_fft
    seen = "None" if window is None else _told(window, "{", "}")
    sides = onesided_given if onesided_given is None else int(onesided_given)
    said = (
        f"istft(CPU{scalar_name(input)}Type{list(input.shape)}, n_fft={n_fft}, hop_length={hop}, "
        f"win_length={size}, window={seen}, center={int(center)}, normalized={int(normalized)}, "
        f"onesided={sides}, length={length}, return_complex={int(return_complex)}) "
    )
    if spectra.shape[2] != wanted:
        terms = "n_fft / 2 + 1" if onesided else "n_fft"
        raise RuntimeError(
            f"{said}: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{terms} when onesided={onesided}, but got {spectra.shape[2]}"
        )
    norm = "ortho" if normalized else None
    if not (return_complex or onesided):
        spectra = spectra.narrow(-1, 0, n_fft // 2 + 1)
    frames = fft.ifft(spectra, norm=norm) if return_complex else fft.irfft(spectra, n_fft, norm=norm)
    start = n_fft // 2 if center else 0
    whole = n_fft + hop * (frames.shape[1] - 1)
    end = start + length if length is not None else -(n_fft // 2) or whole if center else whole
    shape = _of_length(window, size, n_fft, input).view(1, 1, n_fft)
    sums, weights = (native._nn.slice(x, 1, start, end) for x in _joined(frames, shape, hop, whole))
    if not bool(weights.abs().min() > 1e-11):
        raise RuntimeError(f"{said}window overlap add min: 1\n[ CPUBoolType{{}} ]")
    found = sums / weights
    if length is not None and found.shape[1] < length:
        warn_once(_SHORTER)
        found = native.constant_pad_nd(found, (0, length - found.shape[1]))
    return found.squeeze(0) if single else found
