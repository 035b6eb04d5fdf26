"""Colours of stained slides, brought to those of another."""

import numpy
import torch
import torchstain


def work():
    random = numpy.random.RandomState(0)
    target, image = (torch.from_numpy(random.randint(0, 255, (3, 32, 32))).float() for _ in range(2))
    reinhard = torchstain.normalizers.ReinhardNormalizer(backend="torch")
    reinhard.fit(target)
    macenko = torchstain.normalizers.MacenkoNormalizer(backend="torch")
    macenko.fit(target)
    normal, _, _ = macenko.normalize(I=image, stains=True)
    return {"reinhard": reinhard.normalize(I=image).float().mean(), "macenko": normal.float().mean()}
