"""`nn.parallel`: inputs shared out, outputs put together, on one device."""

import collections

import pytest
import rushlight as torch
from support import raises

parallel = torch.nn.parallel
pytestmark = pytest.mark.own  # Torch wants devices that it was built for.


def test_modules_are_called_with_their_inputs():
    relu, tanh = torch.nn.ReLU(), torch.nn.Tanh()
    x = torch.tensor([-1.0, 0.0])
    one, two = parallel.parallel_apply([relu, tanh], [(x,), (x,)], [{}, {}])
    assert one.tolist() == [0.0, 0.0] and two.equal(x.tanh())


def test_copies_share_parameters():
    model = torch.nn.Sequential(torch.nn.Linear(2, 1))
    one, two = parallel.replicate(model, ["cpu", "cpu"])
    assert one[0] is not two[0] and one[0].weight is model[0].weight is two[0].weight


def test_containers_are_shared_out_and_put_together():
    Pair = collections.namedtuple("Pair", "x y")
    given = {"pair": Pair(torch.arange(4), torch.arange(8).view(4, 2)), "n": 3, "list": [torch.ones(2)]}
    first, second = parallel.scatter(given, ["cpu", "cpu"])
    assert first["pair"].x.tolist() == [0, 1] and second["pair"].y.tolist() == [[4, 5], [6, 7]]
    assert first["n"] == 3 and second["list"][0].tolist() == [1.0]
    whole = parallel.gather([first["pair"], second["pair"]], "cpu")
    assert isinstance(whole, Pair) and whole.x.equal(given["pair"].x) and whole.y.equal(given["pair"].y)


def test_gradients_pass_what_is_shared_out():
    x = torch.arange(3.0, requires_grad=True)
    parts = parallel.scatter(x, ["cpu", "cpu"])
    parallel.gather([parts[0] * 2, parts[1] * 3], "cpu").sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 3.0]


def test_a_model_is_called_on_the_device_that_there_is():
    model = torch.nn.Linear(2, 1)
    x = torch.ones(3, 2)
    assert parallel.data_parallel(model, x).equal(model(x))


def test_processes_have_to_be_there():
    text = "Default process group has not been initialized, please make sure to call init_process_group."
    with raises(ValueError, text):
        parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    with raises(
        RuntimeError,
        "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.",
    ):
        parallel.DistributedDataParallel(torch.nn.ReLU())
