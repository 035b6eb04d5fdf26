"""Llama with grouped queries: training steps with a schedule of the library."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM, get_cosine_schedule_with_warmup


def work():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=40,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = get_cosine_schedule_with_warmup(optimizer, 2, 6)
    tokens = torch.randint(0, 40, (3, 12))
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = model(tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return {"losses": losses}
