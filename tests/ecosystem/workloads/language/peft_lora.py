"""Low-rank adapters on a model of transformers: trained, merged."""

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM


def work():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=30, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    lora = LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"])
    model = get_peft_model(LlamaForCausalLM(config), lora)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    tokens = torch.randint(0, 30, (2, 8))
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    merged = model.merge_and_unload()
    return {"losses": losses, "trained": trained, "merged": merged(input_ids=tokens, labels=tokens).loss}
