"""An engine that trains, with events and metrics."""

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Loss, MeanSquaredError
from torch.utils.data import DataLoader, TensorDataset


def work():
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 1)
    x = torch.randn(24, 2)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=6)
    trainer = create_supervised_trainer(
        model, torch.optim.SGD(model.parameters(), lr=0.1), torch.nn.functional.mse_loss
    )
    evaluator = create_supervised_evaluator(
        model, metrics={"mse": MeanSquaredError(), "loss": Loss(torch.nn.functional.mse_loss)}
    )
    found = []

    @trainer.on(Events.EPOCH_COMPLETED)
    def evaluate(engine):
        found.append([evaluator.run(loader).metrics[name] for name in ("mse", "loss")])

    trainer.run(loader, max_epochs=3)
    return {"found": found, "weight": model.weight}
