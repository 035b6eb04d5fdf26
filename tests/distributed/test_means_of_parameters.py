"""Parameters of processes that become their mean every few steps. A group of one: the mean is what there is."""

import pytest
import rushlight as torch
from rushlight import distributed
from rushlight.distributed.algorithms.model_averaging.averagers import ModelAverager, PeriodicModelAverager
from support import raises


@pytest.fixture
def alone(tmp_path):
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_they_do_when_it_is_time(alone, monkeypatch):
    averager = PeriodicModelAverager(period=2, warmup_steps=1)
    assert isinstance(averager, ModelAverager)
    summed = []
    monkeypatch.setattr(
        distributed, "all_reduce", lambda tensor, group: summed.append((averager.step, tensor))
    )
    parameter, unused = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
    parameter.grad = torch.ones(2)
    for _ in range(5):
        averager.average_parameters(iter([parameter, unused]))
    averager.step = 3
    averager.average_parameters([{"params": [parameter]}])
    assert [(step, tensor is parameter) for step, tensor in summed] == [(1, True), (3, True), (3, True)]
    assert parameter.tolist() == [1.0, 1.0]


def test_periods_that_make_no_sense(alone):
    with raises(ValueError, "Arg ``period`` must be a positive value."):
        PeriodicModelAverager(period=0)
    with raises(ValueError, "Arg ``warmup_steps`` must be a non-negative number."):
        PeriodicModelAverager(period=2, warmup_steps=-1)
    with pytest.warns(UserWarning, match="When period is 1, no need to use model averaging"):
        PeriodicModelAverager(period=1)
