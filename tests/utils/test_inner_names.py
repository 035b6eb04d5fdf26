"""Names that torch's own tests and tools reach for, and what is behind them."""

import collections
import re

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.utils._mode_utils import all_same_mode


def test_hooks_of_every_module_are_tables_that_can_be_replaced():
    seen = []
    module = nn.modules.module
    module.register_module_forward_hook(lambda *_: seen.append("after"), always_call=True)
    assert len(module._global_forward_hooks) == 1
    assert len(module._global_forward_hooks_always_called) == 1
    module._global_forward_hooks_always_called = collections.OrderedDict()
    module._global_forward_hooks = collections.OrderedDict()
    nn.Linear(1, 1)(torch.ones(1, 1))
    assert not seen
    handle = module.register_module_forward_pre_hook(lambda *_: seen.append("before"))
    nn.Identity()(1)
    assert seen == ["before"]
    handle.remove()
    assert not module._global_forward_pre_hooks


def test_modules_of_layers_load_when_they_are_asked_for():
    assert nn.modules.lazy.LazyModuleMixin.__name__ == "LazyModuleMixin"
    with pytest.raises(AttributeError, match="no attribute 'lazier'"):
        _ = nn.modules.lazier


def test_amounts_to_prune_are_checked_and_counted():
    from rushlight.nn.utils import prune

    with pytest.raises(TypeError, match=r"Invalid type for amount: 1j\. Must be int or float"):
        prune._validate_pruning_amount_init(1j)
    with pytest.raises(
        ValueError, match=re.escape("amount=1.5 should either be a float in the range [0, 1]")
    ):
        prune._validate_pruning_amount_init(1.5)
    with pytest.raises(ValueError, match="amount=20 should be smaller than the number of parameters"):
        prune._validate_pruning_amount(20, 19)
    prune._validate_pruning_amount(0.3, 0)
    assert [prune._compute_nparams_toprune(amount, 10) for amount in (0.25, 0.35, 7)] == [2, 4, 7]
    x = torch.tensor([[3.0, 4.0], [6.0, 8.0]])
    assert prune._compute_norm(x, 2, 0).tolist() == [5.0, 10.0]
    with pytest.raises(ValueError, match="Found tensor of shape"):
        prune._validate_structured_pruning(torch.ones(2))


def test_a_function_is_given_a_device_to_make_tensors_on():
    from rushlight.utils._device import set_device

    @set_device("meta")
    def make():
        return torch.ones(2)

    assert make().device.type == "meta"
    assert make.__name__ == "make"
    assert torch.ones(2).device.type == "cpu"


def test_whether_modes_are_one_is_told():
    one, other = object(), object()
    assert all_same_mode([one, one])
    assert not all_same_mode([one, other])


def test_a_library_lasts_for_a_block():
    with torch.library._scoped_library("forablock", "FRAGMENT") as library:
        library.define("double(Tensor x) -> Tensor")
        library.impl("double", lambda x: x * 2, "CPU")
        assert torch.ops.forablock.double(torch.ones(1)).item() == 2
    with pytest.raises(AttributeError, match="has no attribute 'double'"):
        _ = torch.ops.forablock.double


def test_operators_are_tagged():
    assert repr(torch.Tag.pointwise) == "<Tag.pointwise: 16>"
    assert torch.Tag.inplace in torch.ops.aten.add_.Tensor.tags
    assert torch.Tag.inplace not in torch.ops.aten.add.Tensor.tags
    assert torch.Tag.nondeterministic_seeded in torch.ops.aten.bernoulli.default.tags
    assert torch.Tag.pt2_compliant_tag in torch.ops.aten.mm.default.tags


@pytest.mark.parametrize(
    "name",
    [
        "nonzero",
        "argwhere",
        "masked_select",
        "bincount",
        "_unique2",
        "unique_dim",
        "unique_consecutive",
        "one_hot",
        "_ctc_loss",
    ],
)
def test_operators_whose_shape_depends_on_numbers_are_tagged(name):
    assert torch.Tag.dynamic_output_shape in getattr(torch.ops.aten, name).default.tags


def test_tags_are_those_of_an_overload():
    dynamic = torch.Tag.dynamic_output_shape
    assert dynamic in torch.ops.aten.index.Tensor.tags
    assert dynamic in torch.ops.aten.repeat_interleave.Tensor.tags
    assert dynamic not in torch.ops.aten.repeat_interleave.self_int.tags
    for name in ("equal", "allclose", "_local_scalar_dense"):
        assert torch.Tag.data_dependent_output in getattr(torch.ops.aten, name).default.tags
    assert "|" not in str(torch.ops.aten.nonzero.default._schema)


def test_the_form_of_a_tensor_is_asserted():
    x = torch.randn(3, 4)
    torch._assert_tensor_metadata(x, (3, 4), (4, 1), torch.float32, layout=torch.strided)
    torch._assert_tensor_metadata(x)
    for given, words in (
        ({"size": (3, 5)}, "Tensor sizes mismatch! Expected: [3, 5], Got: [3, 4]"),
        ({"stride": (1, 1)}, "Tensor strides mismatch! Expected: [1, 1], Got: [4, 1]"),
        ({"dtype": torch.float64}, "Tensor dtype mismatch! Expected: Double, Got: float"),
    ):
        with pytest.raises(RuntimeError, match=re.escape(words)):
            torch._assert_tensor_metadata(x, **given)


@pytest.mark.own
def test_ways_to_compute_a_convolution_have_names():
    ways = torch._C._ConvBackend
    assert str(ways.Slow2d) == "_ConvBackend.Slow2d"
    x, weight = torch.ones(0, 2, 4, 4), torch.ones(2, 2, 3, 3)
    assert torch._C._select_conv_backend(x, weight, None, 1, 0, 1, False, 0, 1) == ways.Empty


def test_modes_of_grid_sampling_are_numbered():
    assert nn.functional.GRID_SAMPLE_INTERPOLATION_MODES == {"bilinear": 0, "nearest": 1, "bicubic": 2}
    assert nn.functional.GRID_SAMPLE_PADDING_MODES == {"zeros": 0, "border": 1, "reflection": 2}


def test_warnings_and_intervals_have_names():
    assert torch.optim.lr_scheduler.EPOCH_DEPRECATION_WARNING.startswith("The epoch parameter in `scheduler")
    from rushlight.utils.data._utils import MP_STATUS_CHECK_INTERVAL

    assert MP_STATUS_CHECK_INTERVAL == 5.0
    assert torch._C.has_lapack


def test_a_statistic_of_so_many_numbers_is_logged_when_it_is_full():
    import datetime

    monitor = torch.monitor
    told = []
    handle = monitor.register_event_handler(lambda event: told.append(event.data))
    sum_of, count = monitor.Aggregation.SUM, monitor.Aggregation.COUNT
    stat = monitor.Stat("s", (sum_of, count), datetime.timedelta(hours=100), 3)
    assert stat.get() == {sum_of: 0.0, count: 0.0}
    stat.add(1)
    stat.add(2)
    assert (stat.count, stat.get()[sum_of], told) == (2, 0.0, [])
    stat.add(3)
    stat.add(4)
    assert stat.count == 0
    assert stat.get() == {sum_of: 6.0, count: 3.0}
    assert told == [{"s.sum": 6.0, "s.count": 3.0}]
    monitor.unregister_event_handler(handle)


def test_what_comes_later_is_not_pickled():
    import pickle

    with pytest.raises(RuntimeError, match=r"Can not pickle torch\.futures\.Future"):
        pickle.dumps(torch.futures.Future())


def test_least_and_greatest_elements_come_as_a_pair():
    least, greatest = torch._aminmax(torch.tensor([[3.0, 1.0], [2.0, 5.0]]), 1, True)
    assert least.tolist() == [[1.0], [2.0]] and greatest.tolist() == [[3.0], [5.0]]


def test_parts_of_a_dual_tensor_have_names():
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(torch.tensor(1.0), torch.tensor(2.0))
        found = torch._unpack_dual(dual, level=0)
        assert found.primal == 1 and found.tangent == 2
        assert torch._unpack_dual(torch.tensor(1.0), level=0).tangent is None


def test_rows_where_a_mask_holds_are_sequences_of_several_lengths():
    mask = torch.tensor([[True, True, False], [True, False, False]])
    nested = torch._nested_tensor_from_mask(torch.arange(6.0).reshape(2, 3, 1), mask)
    assert [part.flatten().tolist() for part in nested.unbind()] == [[0.0, 1.0], [3.0]]


def test_libraries_of_another_device_can_be_preferred():
    cuda = torch.backends.cuda
    assert str(cuda.preferred_linalg_library()) == "_LinalgBackend.Default"
    assert cuda.preferred_linalg_library("magma") is torch._C._LinalgBackend.Magma
    assert cuda.preferred_linalg_library("default") is cuda.preferred_linalg_library()
    assert cuda.preferred_blas_library() is torch._C._BlasBackend.Cublas
    with pytest.raises(RuntimeError, match=r"Unknown input value\. Choose from: default, cusolver, magma"):
        cuda.preferred_linalg_library("lapack")


def test_warnings_of_mappings_without_rules_are_a_setting():
    before = torch._C._debug_only_are_vmap_fallback_warnings_enabled()
    torch._C._debug_only_display_vmap_fallback_warnings(not before)
    assert torch._C._debug_only_are_vmap_fallback_warnings_enabled() is not before
    torch._C._debug_only_display_vmap_fallback_warnings(before)
    with torch._C._DisableFuncTorch():
        assert torch._C._functorch._is_vmap_fallback_enabled()


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_backward_leaves_gradients_of_samples(reduction):
    from rushlight.nn.utils._per_sample_grad import call_for_per_sample_grads

    model = nn.Sequential(nn.Conv1d(2, 3, 2), nn.Flatten(), nn.Linear(9, 2))
    x = torch.randn(4, 2, 4)
    losses = call_for_per_sample_grads(model, loss_reduction=reduction)(x).square()
    getattr(losses.sum(1), reduction)().backward()
    for sample in range(4):
        model.zero_grad()
        model(x[sample : sample + 1]).square().sum().backward()
        for weight in model.parameters():
            assert torch.allclose(weight.grad_sample[sample], weight.grad, atol=1e-5)
    with pytest.raises(RuntimeError, match="accumulates the gradients"):
        call_for_per_sample_grads(model)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"loss_reduction": "max"}, "Expected loss_reduction argument to be sum or mean, got max"),
        ({"batch_size": 1.5}, "Batch size passed must be None or an integer, got float"),
        ({"batch_size": 0}, "Batch size must be positive, got 0"),
    ],
)
def test_gradients_of_samples_are_refused_for_no_samples(given, message):
    from rushlight.nn.utils._per_sample_grad import call_for_per_sample_grads

    with pytest.raises(RuntimeError, match=message):
        call_for_per_sample_grads(nn.Linear(1, 1), **given)
    with pytest.raises(RuntimeError, match="found at least one input with batch size 2 and one"):
        call_for_per_sample_grads(nn.Bilinear(1, 1, 1))(torch.ones(2, 1), torch.ones(3, 1))
    with pytest.raises(RuntimeError, match="Unable to find a tensor"):
        call_for_per_sample_grads(nn.Identity())(1)
    with pytest.raises(RuntimeError, match=r"Module passed must be nn\.Module, got int"):
        call_for_per_sample_grads(3)


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_wide_unsigned_numbers_are_made(dtype):
    made = torch.testing.make_tensor(30, dtype=dtype, device="cpu", low=-5, high=3, exclude_zero=True)
    assert made.dtype is dtype and set(made.tolist()) <= {1, 2}


def test_functions_that_read_by_indices_where_they_may():
    x = torch.arange(6.0).view(2, 3)
    there, places = torch.tensor([True, False]), [torch.tensor([1, 7]), torch.tensor([2, 0])]
    assert torch._unsafe_masked_index(x, there, places, 9).tolist() == [5.0, 9.0]
    added = torch._unsafe_masked_index_put_accumulate(x, there, places, torch.tensor([10.0, 20.0]))
    assert added.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 15.0]]
    chunks = torch._chunk_cat([torch.arange(6.0).view(3, 2), torch.ones(4, 3)], 0, 2)
    assert chunks.tolist() == [[0, 1, 2, 3, 1, 1, 1, 1, 1, 1], [4, 5, 0, 0, 1, 1, 1, 1, 1, 1]]


def test_lists_of_matrices_are_multiplied():
    found = torch._foreach_mm([torch.ones(2, 3)], [torch.ones(3, 1)])
    assert found[0].tolist() == [[3.0], [3.0]]
    with pytest.raises(RuntimeError, match="_foreach_mm requires non-empty tensor lists"):
        torch._foreach_mm([], [])
    assert torch._foreach_powsum([torch.tensor([-3.0, 2.0])], 3)[0].item() == 35.0


def test_operators_that_resample():
    x = torch.arange(4.0).view(1, 1, 2, 2)
    assert torch.ops.aten.upsample_nearest2d(x, [1, 2]).tolist() == [[[[0.0, 1.0]]]]
    assert torch._C._nn._upsample_bilinear2d_aa(x, [1, 1], False).tolist() == [[[[1.5]]]]
    assert torch._C._nn.upsample_linear1d(x[0], None, True, [1.5]).tolist() == [
        [[0.0, 0.5, 1.0], [2.0, 2.5, 3.0]]
    ]


def test_batch_norm_that_keeps_statistics():
    x, mean, variance = torch.tensor([[1.0], [3.0]]), torch.zeros(1), torch.ones(1)
    *found, kept = torch.ops.aten._batch_norm_with_update(x, None, None, mean, variance, 0.5, 0.0)
    assert found[0].tolist() == [[-1.0], [1.0]] and mean.tolist() == [1.0] and kept.dtype is torch.uint8
    assert torch._native_batch_norm_legit(x, None, None, True, 0.1, 0.0)[1].tolist() == [2.0]


def test_tensors_without_numbers_are_left_for_a_block():
    from rushlight._guards import TracingContext, detect_fake_mode
    from rushlight._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily

    assert TracingContext.try_get() is None
    with pytest.raises(RuntimeError, match="must be called within an ongoing trace"):
        TracingContext.get()
    with FakeTensorMode() as mode:
        x = torch.ones(2)
        assert detect_fake_mode() is mode
        with unset_fake_temporarily() as left:
            assert left is mode
            assert torch.ones(2).tolist() == [1.0, 1.0]
            assert detect_fake_mode() is None
        assert type(torch.ones(2)) is type(x)
    assert detect_fake_mode([x]) is mode
    with unset_fake_temporarily() as left:
        assert left is None


def test_nothing_is_traced_and_settings_of_the_compiler_are_kept():
    assert not torch._C._is_tracing()
    assert torch._C._show_config() == torch.__config__.show()
    torch.compiler.config.cache_key_tag += "own"
    assert torch.compiler.config.cache_key_tag == "own"
    torch.compiler.config.cache_key_tag = ""


def test_functions_that_are_called_by_their_nodes_are_nodes():
    node = torch.autograd.graph.Node
    assert issubclass(torch._C._functions.DelayedError, node)
    assert issubclass(torch._C._functions.UndefinedGrad, node)


def test_cycles_of_gradients_are_told_of_every_time_if_asked():
    torch.set_warn_always(True)
    try:
        for _ in range(2):
            x = torch.ones(1, requires_grad=True)
            with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
                (x * x).backward(create_graph=True)
            x.grad = None
    finally:
        torch.set_warn_always(False)


def test_replicas_have_no_parameters_yet():
    layer = nn.BatchNorm1d(2)
    replica = layer._replicate_for_data_parallel()
    assert not replica._parameters and replica.running_mean is layer.running_mean and replica._is_replica
    assert list(layer._parameters) == ["weight", "bias"]


def test_lists_of_factors_have_one_dimension():
    x = [torch.ones(2)]
    with pytest.raises(RuntimeError, match=r"packed scalar Tensor to be of dimension 1\. Got 0 instead"):
        torch._foreach_addcdiv(x, x, x, torch.tensor(2))


def test_shapes_below_zero_do_not_broadcast():
    with pytest.raises(ValueError, match="Attempting to broadcast a dimension with negative length!"):
        torch.broadcast_shapes((2, -3), (1,))


def test_what_averages_kept_as_numbers_is_read():
    layer = nn.Linear(1, 1)
    optimiser = torch.optim.ASGD(layer.parameters())
    layer(torch.ones(1, 1)).sum().backward()
    optimiser.step()
    state = optimiser.state_dict()
    for kept in state["state"].values():
        kept.update({name: kept[name].item() for name in ("step", "eta", "mu")})
    optimiser.load_state_dict(state)
    optimiser.step()
    assert all(isinstance(kept["eta"], torch.Tensor) for kept in optimiser.state.values())


def test_every_operation_is_compared_with_what_is_known_without_numbers():
    from rushlight._subclasses import CrossRefFakeMode
    from rushlight._subclasses.fake_tensor import MetadataMismatchError

    x = torch.ones(2, 3, requires_grad=True)
    with CrossRefFakeMode():
        (x @ x.t()).sum().backward()
        assert torch.nonzero(x.detach()).shape == (6, 2) and x.to_sparse().sum() == 6
    assert x.grad.tolist() == [[4, 4, 4], [4, 4, 4]]
    mode = CrossRefFakeMode()
    mode._formed = lambda func, args, kwargs: (
        CrossRefFakeMode._formed(mode, func, args, kwargs)[0].t(),
        args,
    )
    with (
        mode,
        pytest.raises(MetadataMismatchError, match=r"concrete Tensors, found mismatched tensor metadata"),
    ):
        x.detach() + 1


def test_calls_that_are_kept():
    from rushlight.utils._traceback import CapturedTraceback, format_traceback_short

    kept = CapturedTraceback.extract()
    assert "test_calls_that_are_kept" in "".join(kept.format()) and "kept.format" not in "".join(
        kept.format()
    )
    other = CapturedTraceback.extract(skip=1)
    assert [len(each) for each in CapturedTraceback.format_all([kept, other])] == [
        len(kept.summary()),
        len(kept.summary()) - 1,
    ]
    kept.cleanup()
    assert kept.format() == []
    try:
        raise ValueError
    except ValueError as error:
        text = format_traceback_short(error.__traceback__)
    assert text.split(":")[0].endswith("test_inner_names.py") and text.endswith("in test_calls_that_are_kept")


def test_code_made_of_text_is_shown_in_errors():
    import traceback

    from rushlight.utils._traceback import report_compile_source_on_error

    source = "def f(x):\n    # HERE\n    return x / 0\n"
    space = {"__compile_source__": source}
    exec(compile(source, "<string>", "exec"), space)
    with pytest.raises(ZeroDivisionError) as caught, report_compile_source_on_error():
        space["f"](1)
    assert "return x / 0" in "".join(traceback.format_tb(caught.value.__traceback__))
