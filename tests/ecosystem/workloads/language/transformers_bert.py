"""BERT with a classifier: five steps of AdamW on token sequences."""

import torch
from transformers import BertConfig, BertForSequenceClassification


def work():
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    model = BertForSequenceClassification(config).eval()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    tokens, labels = torch.randint(0, 50, (4, 9)), torch.tensor([0, 1, 0, 1])
    mask = torch.ones(4, 9, dtype=torch.long)
    mask[:, 7:] = 0
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(input_ids=tokens, attention_mask=mask, labels=labels).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses}
