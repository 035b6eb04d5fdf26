"""A decoder with rotary positions and gated feed-forward layers, trained as a language model."""

import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper


def work():
    torch.manual_seed(0)
    layers = Decoder(dim=16, depth=2, heads=2, rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True)
    model = AutoregressiveWrapper(TransformerWrapper(num_tokens=20, max_seq_len=16, attn_layers=layers))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    tokens = torch.randint(0, 20, (2, 12))
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(tokens)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    made = model.generate(tokens[:1, :3], 5, temperature=0.0)
    return {"losses": losses, "made": made}
