"""Mixtral, Mamba and T5: training steps, then greedy words, drawn words and beams."""

import torch
import transformers


def models():
    """Yield models of one vocabulary."""
    sizes = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 24}
    experts = {"num_local_experts": 4, "max_position_embeddings": 64}
    yield transformers.MixtralForCausalLM(transformers.MixtralConfig(**sizes, **heads, **experts))
    yield transformers.MambaForCausalLM(transformers.MambaConfig(**sizes, state_size=4))
    config = transformers.T5Config(
        vocab_size=40, d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    yield transformers.T5ForConditionalGeneration(config)


def work():
    torch.manual_seed(0)
    found = {}
    for model in models():
        tokens = torch.randint(3, 40, (2, 10))
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        ways = ({"do_sample": False}, {"do_sample": True, "top_k": 10}, {"do_sample": False, "num_beams": 3})
        words = [model.generate(tokens[:, :4], max_new_tokens=5, pad_token_id=0, **way) for way in ways]
        found[type(model).__name__] = {"losses": losses, "words": [found.tolist() for found in words]}
    return found
