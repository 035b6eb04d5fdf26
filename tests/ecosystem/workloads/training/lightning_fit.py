"""A LightningModule that a Trainer fits and validates."""

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.mse_loss(self.layer(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.layer(x), y))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.1)


def work():
    torch.manual_seed(0)
    x = torch.randn(32, 2)
    loader = DataLoader(TensorDataset(x, x @ torch.tensor([[2.0], [-1.0]])), batch_size=8)
    model = Line()
    trainer = lightning.Trainer(
        max_epochs=4,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(model, loader, loader)
    return {"weight": model.layer.weight, "val_loss": trainer.callback_metrics["val_loss"]}
