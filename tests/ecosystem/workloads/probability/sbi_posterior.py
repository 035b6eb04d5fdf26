"""Inference without likelihoods: a density estimator is trained on simulations."""

import torch
from sbi.inference import NPE
from sbi.utils import BoxUniform


def work():
    torch.manual_seed(0)
    prior = BoxUniform(torch.zeros(2), torch.ones(2))
    theta = prior.sample((64,))
    x = theta + 0.1 * torch.randn(64, 2)
    inference = NPE(prior, density_estimator="maf", show_progress_bars=False)
    estimator = inference.append_simulations(theta, x).train(max_num_epochs=3, training_batch_size=16)
    posterior = inference.build_posterior(estimator)
    drawn = posterior.sample((5,), x=torch.tensor([0.5, 0.5]), show_progress_bars=False)
    return {"drawn": list(drawn.shape), "density": estimator.log_prob(theta[:3].unsqueeze(0), x[:3])}
