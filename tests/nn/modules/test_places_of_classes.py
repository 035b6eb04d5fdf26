"""Where programs import classes from, and models for several devices on the one that there is."""

import importlib
import pickle

import pytest
import rushlight as torch
from support import raises, run_script

nn = torch.nn

PLACES = [
    "distributions.bernoulli.Bernoulli",
    "distributions.categorical.Categorical",
    "distributions.half_normal.HalfNormal",
    "distributions.multivariate_normal.MultivariateNormal",
    "distributions.normal.Normal",
    "distributions.one_hot_categorical.OneHotCategorical",
    "nn.modules.activation.MultiheadAttention",
    "nn.modules.activation.ReLU",
    "nn.modules.batchnorm.BatchNorm2d",
    "nn.modules.batchnorm._BatchNorm",
    "nn.modules.batchnorm._NormBase",
    "nn.modules.container.ModuleList",
    "nn.modules.conv.Conv2d",
    "nn.modules.conv._ConvNd",
    "nn.modules.distance.PairwiseDistance",
    "nn.modules.dropout.Dropout",
    "nn.modules.dropout._DropoutNd",
    "nn.modules.flatten.Flatten",
    "nn.modules.fold.Unfold",
    "nn.modules.instancenorm._InstanceNorm",
    "nn.modules.lazy.LazyModuleMixin",
    "nn.modules.linear.LazyLinear",
    "nn.modules.linear.Linear",
    "nn.modules.loss._Loss",
    "nn.modules.loss._WeightedLoss",
    "nn.modules.module.Module",
    "nn.modules.module._IncompatibleKeys",
    "nn.modules.normalization.LayerNorm",
    "nn.modules.padding.ZeroPad2d",
    "nn.modules.pixelshuffle.PixelShuffle",
    "nn.modules.pooling.MaxPool2d",
    "nn.modules.pooling.MaxUnpool2d",
    "nn.modules.rnn.LSTM",
    "nn.modules.rnn.RNNCell",
    "nn.modules.sparse.Embedding",
    "nn.modules.transformer.Transformer",
    "nn.modules.transformer._get_activation_fn",
    "nn.modules.upsampling.Upsample",
    "nn.modules.utils._pair",
    "nn.parallel.DataParallel",
    "nn.utils.clip_grad.clip_grad_norm_",
    "nn.utils.convert_parameters.parameters_to_vector",
    "optim.adamw.AdamW",
    "optim.asgd.ASGD",
    "optim.optimizer.required",
    "optim.rprop.Rprop",
    "utils.data.distributed.DistributedSampler",
]


@pytest.mark.parametrize("path", PLACES)
def test_a_class_is_found_where_it_is_looked_for(path):
    place, _, name = path.rpartition(".")
    found = getattr(importlib.import_module(f"rushlight.{place}"), name)
    package, _, _ = place.rpartition(".")
    shown = getattr(importlib.import_module(f"rushlight.{package.removesuffix('.modules')}"), name, found)
    assert shown is found
    assert name in dir(importlib.import_module(f"rushlight.{place}"))


def test_what_is_nowhere_is_an_error():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("rushlight.nn.modules.nothing")
    with pytest.raises(ImportError):
        exec("from rushlight.nn.modules.linear import Nothing")
    assert torch.nn.modules.Linear is nn.Linear and nn.modules.linear.Linear is nn.Linear
    assert repr(pickle.loads(pickle.dumps(nn.modules.linear.Linear(1, 2)))) == repr(nn.Linear(1, 2))
    with pytest.raises(AttributeError):
        nn.modules.Nothing  # noqa: B018


def test_bases_are_those_of_their_classes():
    assert isinstance(nn.MSELoss(), nn.modules.loss._Loss) and issubclass(
        nn.NLLLoss, nn.modules.loss._WeightedLoss
    )
    assert isinstance(nn.Conv1d(1, 1, 1), nn.modules.conv._ConvNd)
    assert isinstance(nn.BatchNorm3d(1), nn.modules.batchnorm._BatchNorm)
    assert isinstance(nn.InstanceNorm1d(1), nn.modules.instancenorm._InstanceNorm)
    assert isinstance(nn.Dropout2d(), nn.modules.dropout._DropoutNd)


def test_one_value_is_spread_over_dimensions():
    utils = nn.modules.utils
    assert utils._single(3) == (3,) and utils._pair(3) == (3, 3) and utils._pair([1, 2]) == (1, 2)
    assert utils._triple(0) == (0, 0, 0) and utils._quadruple("ab") == ("a", "b")
    assert utils._ntuple(5)(1) == (1,) * 5 and utils._pair.__name__ == "_pair"
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
    assert utils._list_with_default([None, 5], [1, 2, 3]) == [2, 5] and utils._list_with_default(4, [1]) == 4
    with raises(ValueError, "Input dimension should be at least 3"):
        utils._list_with_default([1, 2], [1, 2])


def test_a_prefix_is_taken_off_a_state():
    state = nn.DataParallel(nn.Sequential(nn.Linear(1, 1))).state_dict()
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["0.weight", "0.bias"] and sorted(state._metadata) == ["", "0"]


def test_a_model_for_several_devices_runs_on_one():
    layer = nn.Linear(2, 1)
    model = nn.DataParallel(layer)
    assert (
        model.module is layer
        and model.device_ids == []
        and list(model.state_dict()) == ["module.weight", "module.bias"]
    )
    assert torch.equal(model(torch.ones(1, 2)), layer(torch.ones(1, 2)))
    assert repr(model) == "DataParallel(\n  (module): Linear(in_features=2, out_features=1, bias=True)\n)"


def test_batch_normalisation_of_one_process_is_that_of_all():
    model = nn.Sequential(nn.BatchNorm1d(2), nn.Sequential(nn.BatchNorm2d(2, affine=False)))
    x = torch.randn(5, 2)
    synchronised = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert synchronised is model and isinstance(model[0], nn.SyncBatchNorm)
    assert isinstance(model[1][0], nn.SyncBatchNorm) and model[1][0].weight is None
    assert torch.allclose(model[0](x), nn.BatchNorm1d(2)(x)) and model[0].num_batches_tracked.item() == 1
    assert (
        repr(model[0])
        == "SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"
    )
    single = nn.BatchNorm1d(2).eval()
    made = nn.SyncBatchNorm.convert_sync_batchnorm(single)
    assert made.weight is single.weight and made.running_mean is single.running_mean and not made.training
    with raises(ValueError, "expected at least 2D input (got 1D input)"):
        made(torch.ones(2))
    with raises(ValueError, "SyncBatchNorm number of input channels should be non-zero"):
        made(torch.ones(2, 0))


def test_an_option_may_be_required():
    required = importlib.import_module("rushlight.optim.optimizer").required
    assert repr(required) == "<required parameter>"

    class Own(torch.optim.Optimizer):
        def __init__(self, parameters, lr=required):
            super().__init__(parameters, {"lr": lr})

    assert Own([{"params": [torch.zeros(1)], "lr": 2.0}]).param_groups[0]["lr"] == 2.0
    with raises(ValueError, "parameter group didn't specify a value of required optimization parameter lr"):
        Own([torch.zeros(1)])


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("count", [1, 5, 6])
def test_processes_share_a_data_set(count, drop_last):
    Sampler = torch.utils.data.DistributedSampler
    shares = [Sampler(range(count), 2, rank, shuffle=False, drop_last=drop_last) for rank in range(2)]
    drawn = [list(share) for share in shares]
    assert len(drawn[0]) == len(drawn[1]) == len(shares[0])
    expected = {1: ([0], [0]), 5: ([0, 2, 4], [1, 3, 0]), 6: ([0, 2, 4], [1, 3, 5])}[count]
    if drop_last:
        expected = {1: ([], []), 5: ([0, 2], [1, 3]), 6: expected}[count]
    assert drawn == list(expected)


def test_the_order_of_a_shared_data_set_depends_on_the_epoch():
    Sampler = torch.utils.data.DistributedSampler
    first, second = (Sampler(range(8), 2, rank, seed=3) for rank in range(2))
    assert sorted([*first, *second]) == list(range(8))
    order = torch.randperm(8, generator=torch.Generator().manual_seed(5)).tolist()
    first.set_epoch(2)
    assert list(first) == order[::2]
    with raises(ValueError, "Invalid rank 2, rank should be in the interval [0, 1]"):
        Sampler(range(8), 2, 2)


def test_ways_of_attention_can_be_chosen():
    backend, chosen = torch.nn.attention.SDPBackend, torch.nn.attention.sdpa_kernel
    attend = torch.nn.functional.scaled_dot_product_attention
    assert repr(backend.MATH) == "<SDPBackend.MATH: 0>" and int(backend.FLASH_ATTENTION) == 1
    assert list(backend.__members__) == [
        "ERROR",
        "MATH",
        "FLASH_ATTENTION",
        "EFFICIENT_ATTENTION",
        "CUDNN_ATTENTION",
        "OVERRIDEABLE",
    ]
    x = torch.randn(1, 1, 2, 4, requires_grad=True)
    usual = attend(x, x, x)
    with chosen(backend.MATH):
        by_others = attend(x, x, x)
    with chosen([backend.FLASH_ATTENTION, backend.MATH]):
        as_one = attend(x, x, x)
    assert torch.allclose(by_others, usual, atol=1e-6) and torch.equal(as_one, usual)
    name = "ScaledDotProductFlashAttentionForCpuBackward0"
    assert as_one.grad_fn.name() == name and by_others.grad_fn.name() != name
    text = "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the math"
    for none in ([], backend.EFFICIENT_ATTENTION):
        with chosen(none), raises(RuntimeError, text):
            attend(x, x, x)
    assert attend(x, x, x).grad_fn.name() == name
    with raises(
        AssertionError, "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got int"
    ):
        with chosen(3):
            pass


def test_lists_tell_subclasses_the_name_of_what_stands_at_a_position():
    class Doubled(nn.ModuleList):
        def __getitem__(self, position):
            return self._modules[self._get_abs_string_index(position)], position

    children = [nn.Identity() for _ in range(3)]
    child, position = Doubled(children)[-1]
    assert child is children[2] and position == -1
    assert nn.ParameterList([torch.ones(1)] * 3)._get_abs_string_index(-2) == "1"
    with raises(IndexError, "index 3 is out of range"):
        Doubled(children)[3]


def test_files_are_there_before_somebody_imports_them():
    found = run_script(
        "print(torch.nn.modules.utils._pair(2), torch.nn.modules.lazy.LazyModuleMixin.__name__)"
    )
    assert found == "(2, 2) LazyModuleMixin\n"
