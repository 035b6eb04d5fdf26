"""GPT-2: training steps, then greedy generation with a cache."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def work():
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=32, n_embd=16, n_layer=2, n_head=2))
    model.eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    tokens = torch.randint(0, 40, (3, 12))
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = model(tokens, labels=tokens).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    more = model.generate(tokens[:1, :4], max_new_tokens=6, do_sample=False, pad_token_id=0)
    return {"losses": losses, "generated": more[0].tolist()}
