"""A variational autoencoder of digits that the program draws itself: the plane that it lays them out on."""

import rushlight as torch
from drawing import Plot, steps
from rushlight import nn

torch.manual_seed(0)
SIDE = 12
# Which of seven strokes each digit has: top, middle, bottom, the left ones, the right ones.
STROKES = [
    "1011111",
    "0000011",
    "1110110",
    "1110011",
    "0101011",
    "1111001",
    "1111101",
    "1000011",
    "1111111",
    "1111011",
]
PLACES = [
    (slice(1, 2), slice(3, 9)),
    (slice(5, 7), slice(3, 9)),
    (slice(10, 11), slice(3, 9)),
    (slice(1, 6), slice(2, 4)),
    (slice(6, 11), slice(2, 4)),
    (slice(1, 6), slice(8, 10)),
    (slice(6, 11), slice(8, 10)),
]
drawn = torch.zeros(10, SIDE, SIDE)
for digit, strokes in enumerate(STROKES):
    for stroke, place in zip(strokes, PLACES, strict=True):
        if stroke == "1":
            drawn[digit][place] = 1.0


def batch(count):
    """Digits, moved and with noise."""
    images = drawn[torch.randint(0, 10, (count,))]
    images = torch.roll(images, tuple(torch.randint(-1, 2, (2,)).tolist()), (1, 2))
    return (images * 0.9 + 0.1 * torch.rand_like(images)).flatten(1)


encoder = nn.Sequential(nn.Linear(SIDE**2, 64), nn.ReLU(), nn.Linear(64, 4))
decoder = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, SIDE**2))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=3e-3)
for _ in steps(1500):
    images = batch(64)
    mean, spread = encoder(images).chunk(2, 1)
    code = mean + (spread / 2).exp() * torch.randn_like(mean)
    missed = nn.functional.binary_cross_entropy_with_logits(decoder(code), images, reduction="sum") / 64
    apart = 0.5 * (mean.square() + spread.exp() - 1 - spread).sum(1).mean()
    loss = missed + apart
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    line = torch.linspace(-2, 2, 7)
    codes = torch.cartesian_prod(line, line)
    made = decoder(codes).sigmoid().view(7, 7, SIDE, SIDE).permute(0, 2, 1, 3).reshape(7 * SIDE, 7 * SIDE)
plot = Plot((0, 1), (0, 1), "Digits over the plane of codes")
plot.image(made.tolist())
print(f"loss {loss.item():.1f}")
plot.save("digits_vae")
