"""Losses and miners that compare embeddings."""

import torch
from pytorch_metric_learning import distances, losses, miners


def work():
    torch.manual_seed(0)
    embeddings = torch.randn(12, 6, requires_grad=True)
    labels = torch.arange(12) % 3
    found = {}
    for name, loss in {
        "triplet": losses.TripletMarginLoss(margin=0.2, distance=distances.CosineSimilarity()),
        "contrastive": losses.ContrastiveLoss(),
        "ntxent": losses.NTXentLoss(),
        "supcon": losses.SupConLoss(),
        "circle": losses.CircleLoss(),
    }.items():
        found[name] = loss(embeddings, labels)
    hard = miners.MultiSimilarityMiner()(embeddings, labels)
    sum(found.values()).backward()
    return {**found, "pairs": [len(one) for one in hard], "grad": embeddings.grad.abs().sum()}
