"""Clusters of several sets of points at once, hard and soft."""

import torch
from torch_kmeans import KMeans, SoftKMeans


def work():
    torch.manual_seed(0)
    points = torch.randn(2, 30, 2)
    hard = KMeans(n_clusters=3, seed=1, verbose=False)(points)
    soft = SoftKMeans(n_clusters=3, seed=1, verbose=False)(points)
    return {
        "labels": hard.labels,
        "inertia": hard.inertia,
        "centers": hard.centers,
        "soft labels": soft.labels,
        "soft centers": soft.centers,
    }
