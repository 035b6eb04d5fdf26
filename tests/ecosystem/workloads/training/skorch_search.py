"""A network as an estimator of scikit-learn, with a search over its rate."""

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV
from skorch import NeuralNetClassifier


class Net(torch.nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(2, width), torch.nn.Tanh(), torch.nn.Linear(width, 2), torch.nn.Softmax(-1)
        )

    def forward(self, x):
        return self.layers(x)


def work():
    torch.manual_seed(0)
    x = np.random.default_rng(0).normal(size=(60, 2)).astype("float32")
    y = (x[:, 0] * x[:, 1] > 0).astype("int64")
    net = NeuralNetClassifier(Net, max_epochs=4, lr=0.1, verbose=0, train_split=None)
    net.fit(x, y)
    losses = net.history[:, "train_loss"]
    search = GridSearchCV(net, {"lr": [0.05, 0.5]}, cv=2, scoring="accuracy").fit(x, y)
    return {"losses": losses, "rate": search.best_params_["lr"], "score": search.best_score_}
