"""Writes `step.rushprog`, a training step of a small network, and `losses.txt`, what its next runs answer.

They are written anew when the form of files changes: `python tests/engine/programs/write.py`.
"""

from pathlib import Path

import rushlight as torch

HERE = Path(__file__).parent

if __name__ == "__main__":
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    x = torch.randn(16, 2)
    y = x[:, :1] * x[:, 1:]

    def step():
        """Fit the product of two numbers."""
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    torch.compiler.export(step).save(HERE / "step.rushprog")
    (HERE / "losses.txt").write_text("".join(f"{step().item()!r}\n" for _ in range(10)))
