"""Variational inference of a mean and a scale, and a chain of NUTS that runs."""

import pyro
import pyro.distributions as dist
import torch
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from pyro.infer.autoguide import AutoNormal


def model(data):
    mean = pyro.sample("mean", dist.Normal(0.0, 5.0))
    scale = pyro.sample("scale", dist.LogNormal(0.0, 1.0))
    with pyro.plate("data", len(data)):
        pyro.sample("seen", dist.Normal(mean, scale), obs=data)


def work():
    pyro.set_rng_seed(0)
    pyro.clear_param_store()
    data = torch.randn(30) * 0.5 + 2.0
    guide = AutoNormal(model)
    svi = SVI(model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    losses = [svi.step(data) for _ in range(30)]
    chain = MCMC(NUTS(model), num_samples=20, warmup_steps=20, disable_progbar=True)
    chain.run(data)
    drawn = chain.get_samples()
    return {"losses": losses[::6], "median": guide.median()["mean"], "drawn": list(drawn["mean"].shape)}
