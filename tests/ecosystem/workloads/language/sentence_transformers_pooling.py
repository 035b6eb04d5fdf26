"""Losses and pooling of sentence-transformers over a model made on the spot."""

import torch
from sentence_transformers import util
from sentence_transformers.models import Dense, Normalize, Pooling


def work():
    torch.manual_seed(0)
    words, mask = torch.randn(3, 5, 8), torch.tensor([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
    features = {"token_embeddings": words, "attention_mask": mask}
    found = {}
    for mode in ("mean", "max", "cls"):
        found[mode] = Pooling(8, pooling_mode=mode)(dict(features))["sentence_embedding"][0]
    pooled = Pooling(8, pooling_mode="mean")(dict(features))
    sentences = Normalize()(Dense(8, 4)(pooled))["sentence_embedding"]
    found["cosines"] = util.cos_sim(sentences, sentences)
    found["hits"] = [hit["corpus_id"] for hit in util.semantic_search(sentences, sentences, top_k=2)[0]]
    return found
