"""What a SummaryWriter writes is what tensorboard reads."""

import tempfile

import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter


def work():
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        with SummaryWriter(folder) as writer:
            for step in range(3):
                writer.add_scalar("loss", 1 / (step + 1), step)
            writer.add_scalars("both", {"a": 1.0, "b": 2.0}, 0)
            writer.add_histogram("weights", torch.randn(100), 0)
            writer.add_text("note", "hello", 0)
            writer.add_image("image", torch.rand(3, 4, 4), 0)
        events = EventAccumulator(folder)
        events.Reload()
        tags = events.Tags()
        scalars = [event.value for event in events.Scalars("loss")]
        histogram = events.Histograms("weights")[0].histogram_value
    return {
        "scalars": scalars,
        "histograms": tags["histograms"],
        "images": tags["images"],
        "sum": histogram.sum,
    }
