"""A transformer that learns to go on with a text, character by character; the picture is how it learns."""

from pathlib import Path

import rushlight as torch
from drawing import SHORT, Plot, steps
from rushlight import nn

torch.manual_seed(0)
text = (Path(__file__).resolve().parents[2] / "GLOSSARY.md").read_text("utf-8")
letters = sorted(set(text))
numbers = torch.tensor([letters.index(letter) for letter in text])
LENGTH, WIDTH = 32, 48


class Writer(nn.Module):
    """Two layers that look back."""

    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(len(letters), WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.answer = nn.Linear(WIDTH, len(letters))

    def forward(self, seen):
        size = seen.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(size)
        x = self.letters(seen) + self.places(torch.arange(size))
        return self.answer(self.layers(x, mask=mask, is_causal=True))


model = Writer()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
losses = []
for _ in steps(400):
    begin = torch.randint(0, len(numbers) - LENGTH - 1, (16, 1)) + torch.arange(LENGTH + 1)
    rows = numbers[begin]
    loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

model.eval()
written = numbers[:8].tolist()
with torch.no_grad():
    for _ in range(8 if SHORT else 60):
        chances = model(torch.tensor([written[-LENGTH:]]))[0, -1].softmax(0)
        written.append(int(torch.multinomial(chances, 1)))
print("".join(letters[number] for number in written))
plot = Plot((0, len(losses)), (0, max(losses)), "Characters: the loss")
plot.line(list(range(len(losses))), losses)
plot.save("characters")
