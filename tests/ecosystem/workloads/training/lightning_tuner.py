"""Callbacks, checkpoints, mixed precision and a logger of lightning."""

import tempfile

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger


class Net(LightningModule):
    def __init__(self, width=4):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, width), torch.nn.GELU(), torch.nn.Linear(width, 1))

    def training_step(self, batch, _):
        loss = self.net(batch).square().mean()
        self.log("loss", loss, on_epoch=True)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.05)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]


def work():
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        kept = ModelCheckpoint(folder, monitor="loss")
        callbacks = [kept, EarlyStopping("loss", patience=2), LearningRateMonitor()]
        trainer = Trainer(
            max_epochs=3, accelerator="cpu", precision="bf16-mixed", callbacks=callbacks,
            logger=CSVLogger(folder), enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=1,
        )  # fmt: skip
        trainer.fit(Net(), torch.utils.data.DataLoader(torch.randn(16, 2), batch_size=8))
        again = Net.load_from_checkpoint(kept.best_model_path)
    return {
        "loss": trainer.callback_metrics["loss"],
        "width": again.hparams.width,
        "epoch": trainer.current_epoch,
    }
