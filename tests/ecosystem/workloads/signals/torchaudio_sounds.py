"""Filters, spectra and losses of torchaudio, with gradients."""

import torch
import torchaudio.functional as F
import torchaudio.transforms as T


def work():
    torch.manual_seed(0)
    rate = 8000
    time = torch.arange(2000) / rate
    wave = (
        torch.sin(2 * torch.pi * 440 * time) + 0.3 * torch.sin(2 * torch.pi * 1900 * time)
    ).requires_grad_()
    found = {}
    low = F.lowpass_biquad(wave[None], rate, 700.0)
    (gradient,) = torch.autograd.grad((low**2).sum(), wave)
    found["lowpass"] = [low.square().mean(), gradient.square().mean()]
    long = F.lfilter(
        wave[None].detach(),
        torch.tensor([1.0, -0.4, 0.3, 0.1, -0.2]),
        torch.tensor([0.3, 0.2, 0.1, 0.0, 0.1]),
    )
    found["lfilter"] = long[0, ::97]
    found["overdrive"] = F.overdrive(wave[None].detach(), 10, 20)[0, ::97]
    mel = T.MelSpectrogram(rate, n_fft=256, hop_length=64, n_mels=20)(wave)
    (gradient,) = torch.autograd.grad(mel.log1p().sum(), wave)
    found["mel"] = [mel.log1p().mean(1), gradient.norm()]
    found["mfcc"] = T.MFCC(rate, n_mfcc=8, melkwargs={"n_fft": 256, "n_mels": 20})(wave).mean(1)
    found["resampled"] = F.resample(wave, rate, 5000)[::61]
    spectrum = T.Spectrogram(n_fft=128, power=None)(wave.detach())
    found["stretched"] = T.TimeStretch(n_freq=65, fixed_rate=1.3, hop_length=64)(spectrum).abs().mean()
    found["loud"] = F.loudness(wave.detach().repeat(1, 4), rate)
    logits = torch.sin(torch.arange(2 * 5 * 4 * 6.0)).view(2, 5, 4, 6).requires_grad_()
    targets = torch.tensor([[1, 2, 3], [4, 1, 5]], dtype=torch.int32)
    loss = F.rnnt_loss(
        logits,
        targets,
        torch.tensor([5, 4], dtype=torch.int32),
        torch.tensor([3, 2], dtype=torch.int32),
        blank=0,
        reduction="none",
    )
    (gradient,) = torch.autograd.grad(loss.sum(), logits)
    found["transducer"] = [loss, gradient.square().sum(-1)]
    chances = torch.cos(torch.arange(12 * 5.0) ** 1.5).view(1, 12, 5).log_softmax(-1)
    path, scores = F.forced_align(chances, torch.tensor([[1, 2, 2, 4]]), blank=0)
    found["aligned"] = [path, scores]
    found["spans"] = [[span.token, span.start, span.end] for span in F.merge_tokens(path[0], scores[0])]
    return found
