"""What libraries ask torch for, or of its tensors, before they compute anything."""

import typing
import warnings
from importlib import import_module

import numpy as np
import pytest
import rushlight as torch
from rushlight import nn
from rushlight.optim import lr_scheduler
from support import raises, run_script


class Numbered:
    """A sequence whose iteration gives other types than its numbers do, as pandas' columns."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, number):
        return self.values[number]

    def __iter__(self):
        return iter(self.values.tolist())


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64", "bool"])
def test_a_sequence_is_of_the_type_of_its_numbered_items(dtype):
    values = np.array([1, 0], dtype=dtype)
    expected = getattr(torch, dtype)
    assert torch.tensor(Numbered(values)).dtype is expected
    assert torch.as_tensor(Numbered(values)).dtype is expected
    assert torch.tensor([Numbered(values), Numbered(values)]).dtype is expected
    assert torch.tensor(Numbered(values)).tolist() == values.tolist()


def test_an_item_that_is_not_there_fails_as_the_sequence_does():
    class Labelled(Numbered):
        def __getitem__(self, number):
            if number == 1:
                raise KeyError(number)
            return self.values[number]

    with raises(KeyError, "1"):
        torch.tensor(Labelled(np.ones(2)))


def test_an_array_that_may_not_be_written_to_is_copied_without_a_warning():
    array = np.ones(2)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copied = torch.tensor(array)
        assert torch.ones(1).new_tensor(array).tolist() == [1.0, 1.0]
    copied[0] = 5
    assert array.tolist() == [1.0, 1.0]


def test_numpy_may_write_to_what_it_takes_from_a_tensor():
    x = torch.zeros(2)
    array = np.from_dlpack(x)
    array[0] = 3
    assert x.tolist() == [3.0, 0.0]
    assert "versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert "versioned" not in repr(x.__dlpack__(max_version=(0, 8)))
    assert "versioned" not in repr(x.__dlpack__())
    copied = torch.from_dlpack(np.from_dlpack(x, copy=True))
    copied[0] = 7
    assert x.tolist() == [3.0, 0.0]


@pytest.mark.parametrize(
    "place",
    [
        "nn.Module",
        "nn.Linear",
        "nn.Linear.__init__",
        "nn.LSTM",
        "nn.MultiheadAttention",
        "optim.Adam.__init__",
        "optim.SGD",
        "optim.lr_scheduler.LRScheduler",
        "nn.functional.relu",
        "load",
        "save",
    ],
)
def test_hints_can_be_read(place):
    found = torch
    for name in place.split("."):
        found = getattr(found, name)
    assert typing.get_type_hints(found) is not None


class Wrapper(torch.optim.Optimizer):
    """An optimiser around another: its own `__init__` is all that runs."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    @property
    def param_groups(self):
        return self.optimizer.param_groups

    def step(self, closure=None):
        return self.optimizer.step(closure)


@pytest.mark.filterwarnings("ignore:Detected call")
def test_rates_are_scheduled_of_a_wrapper_of_an_optimiser():
    weight = nn.Parameter(torch.ones(1))
    optimizer = Wrapper(torch.optim.SGD([weight], lr=1.0))
    scheduler = lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    weight.grad = torch.ones(1)
    for rate in (0.5, 0.25):
        optimizer.step()
        scheduler.step()
        assert scheduler.get_last_lr() == [rate]
    assert weight.item() == -0.5


def test_a_library_of_operators_cannot_be_loaded():
    with raises(OSError, "Could not load this library: "):
        torch.ops.load_library("/nowhere/operators.so")


def test_a_module_that_is_missing_in_a_package_is_missing_and_no_more():
    with pytest.raises(ModuleNotFoundError) as caught:
        import_module("rushlight.utils.data._utils.no_such_module")
    assert "is not a package" not in str(caught.value)


EINOPS = """
class AbstractBackend:
    framework_name = ""

class TorchBackend(AbstractBackend):
    framework_name = "torch"

    def __init__(self):
        raise ImportError("torch is not there")

    def is_appropriate_type(self, tensor):
        return isinstance(tensor, self.torch.Tensor)
"""
ASKED = """
kinds = {kind.framework_name: kind for kind in _backends.TorchBackend.__subclasses__()}
print(list(kinds), kinds["rushlight"]().is_appropriate_type(rushlight.ones(1)))
"""


@pytest.mark.own
@pytest.mark.parametrize(
    "order",
    ["from einops import _backends; import rushlight", "import rushlight; from einops import _backends"],
)
def test_einops_is_told_of_our_tensors(tmp_path, order):
    # A stand-in, with the part of it that looks for backends.
    package = tmp_path / "einops"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_backends.py").write_text(EINOPS)
    source = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{order}\n{ASKED}"
    if order.startswith("from"):
        # `run_script` imports us before.
        source = "del sys.modules['rushlight']\n" + source
    assert run_script(source) == "['rushlight'] True\n"


@pytest.mark.own
def test_opt_einsum_is_told_where_our_functions_are():
    functions = import_module("rushlight._functions.opt_einsum")
    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(3, 2)
    assert torch.equal(functions.tensordot(x, y, axes=((1,), (0,))), x @ y)
    assert torch.equal(functions.transpose(x, axes=(1, 0)), x.t())
    assert torch.equal(functions.einsum("ij,jk->ik", x, y), x @ y)
