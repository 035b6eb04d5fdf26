"""Samples keep their own numbers and their history, wherever the dimension of the samples is."""

import pytest
import rushlight as torch
from rushlight.func import grad, vmap

F = torch.nn.functional


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
@pytest.mark.parametrize(
    "shuffled",
    [
        lambda x: F.pixel_shuffle(x, 3),
        lambda x: F.pixel_unshuffle(x, 2),
        lambda x: F.channel_shuffle(x[None], 3),
    ],
    ids=["pixel_shuffle", "pixel_unshuffle", "channel_shuffle"],
)
def test_images_of_samples_are_shuffled_each_for_itself(shuffled, dim):
    x = torch.arange(36.0).reshape(9, 2, 2)
    samples = torch.stack([x, x.roll(1)], dim).requires_grad_()
    y = vmap(shuffled, in_dims=dim)(samples)
    assert torch.equal(y, torch.stack([shuffled(x), shuffled(x.roll(1))]))
    (gradient,) = torch.autograd.grad((y * y).sum(), samples)
    assert torch.equal(gradient, 2 * samples)


def test_numbers_that_are_put_are_added_up_in_each_sample():
    x, index = torch.arange(9.0).reshape(3, 3), torch.tensor([6, -5, 6])
    values = torch.tensor([1.0, 2.0, 3.0])
    for accumulate in (True, False):
        # Where two numbers go to one place, it is not said which stays.
        places = index if accumulate else torch.tensor([6, -5, 2])
        samples = [(x, places, values), (x.roll(1), places.roll(1), values.roll(1))]
        mapped = vmap(lambda *parts, a=accumulate: torch.put(*parts, a))
        y = mapped(*(torch.stack(parts) for parts in zip(*samples, strict=True)))
        assert torch.equal(y, torch.stack([torch.put(*parts, accumulate) for parts in samples]))
    taken = vmap(torch.take)(torch.stack([x, x.roll(1)]), torch.stack([index, index.roll(1)]))
    assert torch.equal(taken, torch.stack([torch.take(x, index), torch.take(x.roll(1), index.roll(1))]))


def test_quantiles_of_samples_have_derivatives():
    p = torch.tensor([0.2, 0.3])
    assert vmap(grad(torch.special.ndtri))(p).tolist() == pytest.approx([3.5718, 2.8762], abs=2e-4)
    assert vmap(torch.special.ndtri)(p.requires_grad_()).requires_grad
