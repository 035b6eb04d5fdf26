"""`optim.swa_utils`: averaged models, their schedule, batch normalisation computed anew."""

import pytest
import rushlight as torch
import rushlight.optim.swa_utils as averages
from support import raises

nn = torch.nn


def histories(values, **options):
    """A model that has had these weights, and its average."""
    model = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1))
    average = averages.AveragedModel(model, **options)
    for value in values:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(value)
            model[1].running_mean.fill_(value)
            model[1].num_batches_tracked.fill_(int(value))
        average.update_parameters(model)
    return model, average


def test_parameters_become_their_mean():
    model, average = histories([1.0, 2.0, 6.0])
    assert {p.item() for p in average.parameters()} == {3.0} and average.n_averaged.item() == 3
    assert average.n_averaged.dtype is torch.int64
    # Buffers are the last ones.
    assert average.module[1].running_mean.item() == 6.0
    assert average.module is not model and list(average.state_dict())[:2] == ["n_averaged", "module.0.weight"]
    model.eval(), average.eval()
    assert average(torch.ones(1, 1)).shape == (1, 1)


def test_buffers_are_averaged_if_asked_for():
    _, average = histories([1.0, 2.0, 6.0], use_buffers=True)
    assert average.module[1].running_mean.item() == 3.0
    assert average.module[1].num_batches_tracked.item() == 2


@pytest.mark.parametrize("kind", ["avg_fn", "multi_avg_fn"])
def test_an_average_may_forget(kind):
    make = averages.get_ema_avg_fn if kind == "avg_fn" else averages.get_ema_multi_avg_fn
    _, average = histories([4.0, 0.0, 0.0], **{kind: make(0.5)})
    assert {p.item() for p in average.parameters()} == {1.0}
    with raises(ValueError, "Invalid decay value 1.5 provided. Please provide a value in [0,1] range."):
        make(1.5)


@pytest.mark.parametrize("kind", ["avg_fn", "multi_avg_fn"])
def test_the_mean_may_be_asked_for(kind):
    make = averages.get_swa_avg_fn if kind == "avg_fn" else averages.get_swa_multi_avg_fn
    _, average = histories([1.0, 2.0, 6.0], **{kind: make()})
    assert {p.item() for p in average.parameters()} == {3.0}


def test_whole_numbers_are_averaged_as_such():
    total, now = torch.tensor([2]), torch.tensor([5])
    averages.get_ema_multi_avg_fn(0.5)([total], [now], 1)
    assert total.item() == 3


def test_there_is_one_way_to_average():
    with raises(AssertionError, "Only one of avg_fn and multi_avg_fn should be provided"):
        averages.AveragedModel(nn.Linear(1, 1), avg_fn=len, multi_avg_fn=len)


def test_batch_normalisation_learns_its_inputs_anew():
    model = nn.Sequential(nn.BatchNorm1d(1), nn.Dropout()).eval()
    data = [torch.tensor([[0.0], [2.0]]), [torch.tensor([[4.0], [6.0]]), "target"]]
    averages.update_bn(data, model)
    assert model[0].running_mean.item() == 3.0 and model[0].momentum == 0.1 and not model.training
    averages.update_bn(None, nn.Linear(1, 1))


def schedule(**options):
    optimizer = torch.optim.SGD(
        [{"params": [torch.zeros(1)]}, {"params": [torch.zeros(1)], "lr": 2.0}], lr=1.0
    )
    return optimizer, averages.SWALR(optimizer, **options)


@pytest.mark.parametrize(
    "options, rates",
    [
        ({"anneal_strategy": "linear", "anneal_epochs": 2}, [[0.75, 1.25], [0.5, 0.5], [0.5, 0.5]]),
        ({"anneal_strategy": "cos", "anneal_epochs": 2}, [[0.75, 1.25], [0.5, 0.5], [0.5, 0.5]]),
        ({"anneal_epochs": 0}, [[0.5, 0.5]] * 3),
        ({"anneal_strategy": "cos", "anneal_epochs": 3}, [[0.875, 1.625], [0.625, 0.875], [0.5, 0.5]]),
    ],
)
def test_rates_go_to_a_constant(options, rates):
    optimizer, scheduler = schedule(swa_lr=0.5, **options)
    found = []
    for _ in rates:
        optimizer.step()
        scheduler.step()
        found.append(scheduler.get_last_lr())
    assert found == [pytest.approx(each) for each in rates]


def test_groups_may_go_to_constants_of_their_own():
    optimizer, scheduler = schedule(swa_lr=[0.5, 1.0], anneal_epochs=1, anneal_strategy="linear")
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.5, 1.0]
    other = schedule(swa_lr=0.5)[1]
    other.load_state_dict(scheduler.state_dict())
    assert other.anneal_epochs == 1 and other.last_epoch == 1
    with raises(ValueError, "anneal_strategy must be one of 'cos' or 'linear', instead got other"):
        schedule(swa_lr=0.5, anneal_strategy="other")
    with raises(ValueError, "anneal_epochs must be equal or greater than 0, got -1"):
        schedule(swa_lr=0.5, anneal_epochs=-1)
    with raises(
        ValueError,
        "swa_lr must have the same length as optimizer.param_groups. swa_lr has 1 values, param_groups has 2.",
    ):
        schedule(swa_lr=[0.5])
