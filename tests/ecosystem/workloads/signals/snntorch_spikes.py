"""Neurons that spike, with surrogate gradients over five steps, and losses of their rates."""

import torch


def work():
    import snntorch as snn
    from snntorch import functional, spikegen, surrogate

    torch.manual_seed(0)
    found = []
    for kind, options in (
        (snn.Leaky, {"beta": 0.9}),
        (snn.Synaptic, {"alpha": 0.8, "beta": 0.9}),
        (snn.Lapicque, {"beta": 0.5}),
        (snn.Alpha, {"alpha": 0.9, "beta": 0.8}),
    ):
        layer = torch.nn.Linear(6, 3)
        neurons = kind(spike_grad=surrogate.fast_sigmoid(), **options)
        state = neurons.reset_mem()
        state = state if isinstance(state, tuple) else (state,)
        spikes = []
        for x in torch.randn(5, 4, 6):
            spike, *state = neurons(layer(x), *state)
            spikes.append(spike)
        rates = torch.stack(spikes)
        loss = functional.ce_rate_loss()(rates, torch.tensor([0, 1, 2, 0])) + state[-1].square().sum()
        loss.backward()
        found.append([loss, rates.sum(), layer.weight.grad])
    found.append(spikegen.rate(torch.rand(3, 4), num_steps=5))
    found.append(spikegen.latency(torch.rand(3, 4), num_steps=5, normalize=True, linear=True))
    return found
