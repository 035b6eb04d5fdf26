"""Estimators of scikit-learn that compute with tensors, by the array API."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

import sklearn
import torch
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.preprocessing import MinMaxScaler


def work():
    torch.manual_seed(0)
    x, y = torch.randn(40, 4, dtype=torch.float64), torch.arange(40) % 2
    with sklearn.config_context(array_api_dispatch=True):
        scaled = MinMaxScaler().fit_transform(x)
        parts = PCA(n_components=2, svd_solver="full").fit(x)
        ridge = Ridge(solver="svd").fit(x, x.sum(1))
        classes = LinearDiscriminantAnalysis(solver="svd").fit(x, y).predict(x)
    return {
        "scaled": scaled[0],
        "kind": type(scaled).__name__,
        "variance": parts.explained_variance_,
        "ridge": ridge.coef_,
        "classes": classes[:10],
    }
