"""The trainer of transformers, which stands on accelerate, with a data set of its own."""

import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Sequences(torch.utils.data.Dataset):
    def __init__(self):
        self.tokens, self.labels = torch.randint(0, 30, (16, 6)), torch.arange(16) % 2

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.labels[index]}


def work():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertForSequenceClassification(config)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            num_train_epochs=2,
            per_device_train_batch_size=4,
            learning_rate=1e-2,
            report_to=[],
            save_strategy="no",
            use_cpu=True,
            disable_tqdm=True,
            seed=0,
        )
        trained = Trainer(model=model, args=arguments, train_dataset=Sequences()).train()
    return {"loss": trained.training_loss}
