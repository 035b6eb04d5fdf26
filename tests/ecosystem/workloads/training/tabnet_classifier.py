"""A classifier of tables with attention over the columns."""

import numpy as np
from pytorch_tabnet.tab_model import TabNetClassifier


def work():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 5)).astype("float32")
    y = (x[:, 0] + x[:, 2] > 0).astype("int64")
    model = TabNetClassifier(n_d=4, n_a=4, n_steps=2, seed=0, verbose=0, device_name="cpu")
    model.fit(x, y, max_epochs=3, batch_size=32, virtual_batch_size=16, drop_last=False)
    return {"losses": model.history["loss"], "chances": model.predict_proba(x[:2])}
