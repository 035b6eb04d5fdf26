"""What nodes show of an operation: its parameters as they were given, what was saved, and how many inputs it has."""

import pytest
import rushlight as torch
from support import raises

F = torch.nn.functional
ACCUMULATE = "torch::autograd::AccumulateGrad"


def unsigned(number):
    """A negative number as nodes show it."""
    return number % 2**64


def leaf(*shape):
    numel = 1
    for size in shape:
        numel *= size
    return torch.linspace(0.1, 0.9, numel).reshape(shape).requires_grad_()


x, square, vector, batch, image, line = (
    leaf(3, 4),
    leaf(3, 3),
    leaf(4),
    leaf(2, 3, 4),
    leaf(1, 4, 6, 6),
    leaf(2, 3, 8),
)
targets = torch.tensor([1, 0, 3])

CASES = {
    "select": (lambda: x.select(-1, -2), "SelectBackward0", {"dim": unsigned(-1), "index": unsigned(-2)}),
    "an index": (
        lambda: x[-1],
        "SelectBackward0",
        {"dim": 0, "index": unsigned(-1), "self_sym_sizes": (3, 4)},
    ),
    "a slice": (
        lambda: x[:, -3:-1],
        "SliceBackward0",
        {"dim": 1, "start": unsigned(-3), "end": unsigned(-1)},
    ),
    "a slice to the end": (lambda: x[1:], "SliceBackward0", {"start": 1, "end": 2**63 - 1, "step": 1}),
    "narrow": (lambda: x.narrow(-1, 1, 2), "SliceBackward0", {"dim": unsigned(-1), "start": 1, "end": 3}),
    "permute": (lambda: batch.permute(-1, 0, 1), "PermuteBackward0", {"dims": (unsigned(-1), 0, 1)}),
    "diagonal": (
        lambda: batch.diagonal(0, -1, -2),
        "DiagonalBackward0",
        {"offset": 0, "dim1": unsigned(-1), "dim2": unsigned(-2)},
    ),
    "diag_embed": (
        lambda: vector.diag_embed(),
        "DiagEmbedBackward0",
        {"dim1": unsigned(-2), "dim2": unsigned(-1)},
    ),
    "roll": (lambda: x.roll((1, 2), (0, -1)), "RollBackward0", {"dims": (0, unsigned(-1)), "shifts": (1, 2)}),
    "unfold": (
        lambda: x.unfold(-1, 2, 1),
        "UnfoldBackward0",
        {"dimension": unsigned(-1), "size": 2, "step": 1},
    ),
    "glu": (lambda: F.glu(x), "GluBackward0", {"dim": unsigned(-1)}),
    "as_strided": (lambda: x.as_strided((2, 2), (1, 2)), "AsStridedBackward0", {"storage_offset": None}),
    "as_strided from": (lambda: x.as_strided((2, 2), (1, 2), 1), "AsStridedBackward0", {"storage_offset": 1}),
    "trace": (lambda: x.trace(), "TraceBackward0", {"self_sym_sizes": (3, 4)}),
    "lerp": (lambda: torch.lerp(x, x, 0.3), "LerpBackward0", {"weight": 0.3}),
    "addcmul": (lambda: torch.addcmul(x, x, x, value=2), "AddcmulBackward0", {"value": 2}),
    "addcdiv": (lambda: torch.addcdiv(x, x, x), "AddcdivBackward0", {"value": 1}),
    "addmm": (
        lambda: torch.addmm(square, x, x.t(), beta=2),
        "AddmmBackward0",
        {
            "alpha": 1,
            "beta": 2,
            "mat1_sym_sizes": (3, 4),
            "mat1_sym_strides": (4, 1),
            "mat2_sym_sizes": (4, 3),
            "mat2_sym_strides": (1, 4),
        },
    ),
    "addbmm": (
        lambda: torch.addbmm(leaf(3, 3), batch, batch.transpose(1, 2)),
        "AddbmmBackward0",
        {
            "batch1_sym_argsize_0": 2,
            "batch1_sym_argsize_1": 3,
            "batch2_sym_argsize_2": 3,
            "alpha": 1,
            "beta": 1,
        },
    ),
    "addr": (lambda: torch.addr(x, vector[:3], vector, alpha=2), "AddrBackward0", {"alpha": 2, "beta": 1}),
    "cross": (lambda: torch.cross(square, square, dim=-1), "LinalgCrossBackward0", {"dim": unsigned(-1)}),
    "rot90": (lambda: x.rot90(-1, (1, 0)), "Rot90Backward0", {"k": unsigned(-1), "dims": (1, 0)}),
    "pixel_shuffle": (lambda: F.pixel_shuffle(image, 2), "PixelShuffleBackward0", {"upscale_factor": 2}),
    "pixel_unshuffle": (
        lambda: F.pixel_unshuffle(image, 2),
        "PixelUnshuffleBackward0",
        {"downscale_factor": 2},
    ),
    "channel_shuffle": (lambda: F.channel_shuffle(image, 2), "ChannelShuffleBackward0", {"groups": 2}),
    "softplus": (lambda: F.softplus(x, 2, 3.0), "SoftplusBackward0", {"beta": 2, "threshold": 3.0}),
    "relu6": (lambda: F.relu6(x), "HardtanhBackward0", {"min_val": 0, "max_val": 6}),
    "hardtanh": (lambda: F.hardtanh(x), "HardtanhBackward0", {"min_val": -1.0, "max_val": 1.0}),
    "elu": (lambda: F.elu(x), "EluBackward0", {"alpha": 1.0, "scale": 1, "input_scale": 1}),
    "threshold of a whole number": (lambda: F.threshold(x, 1, 1), "ThresholdBackward0", {"threshold": 1}),
    "threshold of a truth value": (
        lambda: F.threshold(x, False, False),
        "ThresholdBackward0",
        {"threshold": False},
    ),
    "norm": (lambda: x.norm(3, dim=-1), "LinalgVectorNormBackward0", {"ord": 3, "dim": (unsigned(-1),)}),
    "interpolate to a size": (
        lambda: F.interpolate(line, 4, mode="linear"),
        "UpsampleLinear1DBackward0",
        {"output_size": (4,), "align_corners": False, "scales": None, "self_sym_sizes": (2, 3, 8)},
    ),
    "interpolate by a factor": (
        lambda: F.interpolate(image, scale_factor=2),
        "UpsampleNearest2DBackward0",
        {"output_size": (12, 12), "scales_h": 2.0, "scales_w": 2.0},
    ),
    "fold": (
        lambda: F.unfold(image, 2),
        "Im2ColBackward0",
        {
            "kernel_size": (2, 2),
            "stride": (1, 1),
            "self_sym_argsize_minus_1": 6,
            "self_sym_argsize_minus_2": 6,
        },
    ),
    "a convolution": (
        lambda: F.conv2d(image, leaf(4, 4, 3, 3), leaf(4), stride=2, padding=1),
        "ConvolutionBackward0",
        {
            "stride": (2, 2),
            "padding": (1, 1),
            "dilation": (1, 1),
            "groups": 1,
            "transposed": False,
            "output_padding": (0, 0),
            "bias_sym_sizes_opt": (4,),
        },
    ),
    "a convolution without bias": (
        lambda: F.conv2d(image, leaf(4, 4, 3, 3)),
        "ConvolutionBackward0",
        {"bias_sym_sizes_opt": (0,)},
    ),
    "an average pool": (
        lambda: F.avg_pool2d(image, 3, 1, 1, count_include_pad=False),
        "AvgPool2DBackward0",
        {
            "kernel_size": (3, 3),
            "stride": (1, 1),
            "padding": (1, 1),
            "count_include_pad": False,
            "ceil_mode": False,
        },
    ),
    "a pad": (lambda: F.pad(line, (1, 2), mode="reflect"), "ReflectionPad1DBackward0", {"padding": (1, 2)}),
    "layer_norm": (lambda: F.layer_norm(x, (4,)), "NativeLayerNormBackward0", {"normalized_shape": (4,)}),
    "group_norm": (
        lambda: F.group_norm(image, 2),
        "NativeGroupNormBackward0",
        {"N": 1, "C": 4, "HxW": 36, "group": 2, "eps": 1e-05},
    ),
    "batch_norm": (
        lambda: F.batch_norm(image, None, None, training=True),
        "NativeBatchNormBackward0",
        {"training": True, "eps": 1e-05},
    ),
    "embedding": (
        lambda: F.embedding(targets[:2], x, padding_idx=-1),
        "EmbeddingBackward0",
        {"padding_idx": 2, "scale_grad_by_freq": False, "sparse": False, "weight_sym_argsize_0": 3},
    ),
    "embedding without padding": (
        lambda: F.embedding(targets[:2], x),
        "EmbeddingBackward0",
        {"padding_idx": unsigned(-1)},
    ),
    "nll_loss": (
        lambda: F.nll_loss(x, targets),
        "NllLossBackward0",
        {"ignore_index": unsigned(-100), "weight": None, "reduction": 1},
    ),
    "remainder": (lambda: x % 2, "RemainderBackward0", {}),
    "remainder of tensors": (lambda: x % x, "RemainderBackward1", {}),
    "fmod": (lambda: torch.fmod(x, 2), "FmodBackward0", {}),
    "xlogy": (lambda: torch.xlogy(2, x), "XlogyBackward1", {"self": 2}),
}


@pytest.mark.parametrize("name", CASES)
def test_parameters_are_shown_as_they_were_given(name):
    make, node, expected = CASES[name]
    function = make().grad_fn
    assert function.name() == node
    for attribute, value in expected.items():
        shown = getattr(function, f"_saved_{attribute}")
        assert shown == value
        assert type(shown) is type(value)


INPUTS = {
    "1 - x": (lambda: 1 - x, [ACCUMULATE]),
    "x ** 2": (lambda: x**2, [ACCUMULATE]),
    "2 * x": (lambda: 2 * x, [ACCUMULATE, None]),
    "x * 2": (lambda: x * 2, [ACCUMULATE, None]),
    "x % 2": (lambda: x % 2, [ACCUMULATE]),
    "copysign": (lambda: torch.copysign(x, 2), [ACCUMULATE]),
    "nll_loss": (lambda: F.nll_loss(x, targets), [ACCUMULATE]),
    "conv1d": (lambda: F.conv1d(line, leaf(4, 3, 3)), [ACCUMULATE, ACCUMULATE, None]),
    "layer_norm": (lambda: F.layer_norm(x, (4,), None, vector), [ACCUMULATE, None, ACCUMULATE]),
    "batch_norm": (lambda: F.batch_norm(image, None, None, training=True), [ACCUMULATE, None, None]),
    "binary_cross_entropy_with_logits": (
        lambda: F.binary_cross_entropy_with_logits(x, x.detach(), x.detach(), pos_weight=vector.detach()),
        [ACCUMULATE, None],
    ),
    "cross": (lambda: torch.linalg.cross(square, square), [ACCUMULATE, ACCUMULATE]),
}


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_are_counted(name):
    make, expected = INPUTS[name]
    found = make().grad_fn.next_functions
    assert [function if function is None else function.name() for function, _ in found] == expected


def test_a_number_stands_for_the_second_operand():
    function = (2 * x).grad_fn
    assert function._saved_self is None
    assert torch.equal(function._saved_other, torch.tensor(2))
    assert {"_raw_saved_self", "_raw_saved_other", "_saved_self", "_saved_other"} <= set(dir(function))


def test_the_weights_of_a_loss_are_saved():
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0])
    loss = F.nll_loss(x, targets, weight=weights)
    function = loss.grad_fn
    assert torch.equal(function._saved_weight, weights)
    assert torch.equal(function._saved_total_weight, torch.tensor(7.0))
    loss.backward()
    with raises(RuntimeError, "Trying to backward through the graph a second time (or directly access saved"):
        function._saved_weight  # noqa: B018


def test_weights_that_were_written_to_are_noticed():
    for make in (
        lambda weight: F.nll_loss(x, targets, weight=weight),
        lambda weight: F.binary_cross_entropy(x, x.detach(), weight=weight),
    ):
        weight = torch.ones(4)
        loss = make(weight)
        weight.add_(1)
        with raises(
            RuntimeError,
            "one of the variables needed for gradient computation has been modified by an inplace",
        ):
            loss.backward()


def test_only_what_another_gradient_needs_is_saved():
    function = torch.addr(x, vector[:3].detach(), vector).grad_fn
    assert torch.equal(function._saved_vec1, vector[:3])
    assert function._saved_vec2 is None


def test_indices_that_were_saved_have_no_history():
    for function in (x.max(0).values.grad_fn, x.sort().values.grad_fn, x.topk(2).values.grad_fn):
        assert not function._saved_indices.requires_grad


def test_a_variance_saves_no_result():
    assert not hasattr(x.var().grad_fn, "_saved_result")
    assert torch.equal(x.std().grad_fn._saved_result, x.std())
    assert torch.equal(torch.std_mean(x)[0].grad_fn._saved_result0, x.std())


def test_what_is_no_tensor_is_not_shown_raw():
    names = dir(x.var().grad_fn)
    assert "_saved_dim" in names
    assert "_raw_saved_dim" not in names
    assert "_raw_saved_self" in names


def test_hooks_of_what_was_not_saved_are_refused():
    function = (x * 2).grad_fn
    with raises(RuntimeError, "Calling register_hooks on a saved tensor with value None is forbidden"):
        function._raw_saved_self.register_hooks(lambda x: x, lambda x: x)


def test_bounds_are_shown_where_there_are_any():
    assert (torch.clamp_min(x, 0).grad_fn._saved_min, hasattr(x.clamp_min(0).grad_fn, "_saved_max")) == (
        0,
        False,
    )
    assert (torch.clamp_max(x, 1).grad_fn._saved_max, hasattr(x.clamp_max(1).grad_fn, "_saved_min")) == (
        1,
        False,
    )
    assert x.clamp(min=0).grad_fn._saved_max is None
    assert len(x.clamp(min=leaf(3, 4)).grad_fn.next_functions) == 3


def test_parameters_of_further_operations_are_saved():
    assert x.logcumsumexp(-1).grad_fn._saved_dim == unsigned(-1)
    assert (x.nansum(-1).grad_fn._saved_dim, x.nansum().grad_fn._saved_dim) == ((unsigned(-1),), None)
    assert torch.linalg.cholesky(square @ square.t() + torch.eye(3)).grad_fn._saved_upper is False
    mask = x.detach() > 0.5
    assert torch.equal(x.masked_select(mask).grad_fn._saved_mask, mask)


FREED = "Trying to backward through the graph a second time (or directly access saved"


def test_what_is_no_tensor_stays_when_backward_has_freed_the_tensors():
    for make, attribute, expected in (
        (lambda: x.prod(-1), "_saved_dim", unsigned(-1)),
        (lambda: x.max(0).values, "_saved_self_sym_sizes", (3, 4)),
        (lambda: x.pow(3), "_saved_exponent", 3),
        (lambda: F.nll_loss(x, targets), "_saved_reduction", 1),
        (lambda: F.linear(x, x), "_saved_mat2_sym_sizes", (4, 3)),
        (lambda: x.gather(1, targets[:, None]), "_saved_dim", 1),
    ):
        y = make()
        names = dir(y.grad_fn)
        y.sum().backward()
        assert getattr(y.grad_fn, attribute) == expected
        assert dir(y.grad_fn) == names


def test_tensors_cannot_be_had_when_backward_has_freed_them():
    y = x * x.detach()
    function = y.grad_fn
    inputs = [inner for inner, _ in function.next_functions]
    y.sum().backward()
    assert function._saved_self is None
    assert [inner for inner, _ in function.next_functions] == inputs
    with raises(RuntimeError, FREED):
        function._saved_other  # noqa: B018
    raw = function._raw_saved_other
    assert raw.data is None
    with raises(RuntimeError, FREED):
        raw.unpack()
    with raises(RuntimeError, "Calling register_hooks on a saved tensor after it has been freed."):
        raw.register_hooks(lambda x: x, lambda x: x)
    with raises(AttributeError, "'MulBackward0' object has no attribute '_saved_exponent'"):
        function._saved_exponent  # noqa: B018


def test_several_tensors_cannot_be_had_either_when_they_were_freed():
    y = x[targets[:2]]
    y.sum().backward()
    for name in ("_saved_indices", "_raw_saved_indices"):
        with raises(RuntimeError, FREED):
            getattr(y.grad_fn, name)
    assert y.grad_fn._saved_self_sym_sizes == (3, 4)


def test_data_shows_what_is_kept():
    w = x * 1
    raw = (w * w).grad_fn._raw_saved_self
    assert torch.equal(raw.data, w)
    assert raw.data.grad_fn is w.grad_fn
    assert raw.unpack_hook is None
    w.add_(1)
    assert torch.equal(raw.data, w)


def test_data_of_a_result_has_no_history():
    y = x.exp()
    assert y.grad_fn._raw_saved_result.data.grad_fn is None


def test_data_shows_what_a_hook_has_made_of_it():
    raw = (x * x).grad_fn._raw_saved_self

    def unpack(packed):
        return packed[1]

    raw.register_hooks(lambda tensor: ("packed", tensor), unpack)
    assert raw.data[0] == "packed"
    assert raw.unpack_hook is unpack
    assert torch.equal(raw.unpack(), x)


def test_indices_that_an_operation_gives_are_no_outputs_of_its_node():
    for y in (x.max(0).values, x.sort().values, x.topk(2).values, x.kthvalue(1).values, x.cummax(0).values):
        assert len(y.grad_fn._input_metadata) == 1
        assert y.grad_fn(torch.ones_like(y)).shape == x.shape
        with raises(TypeError, "expected 1 arguments, got 2 instead"):
            y.grad_fn(torch.ones_like(y), None)


def test_a_write_to_a_view_has_the_inputs_of_what_was_written():
    w = x * 1
    w[:, :].pow_(2)
    assert [function.name() for function, _ in w.grad_fn.next_functions] == ["MulBackward0"]
    w[:, :].clamp_(min=leaf(3, 4))
    assert len(w.grad_fn.next_functions) == 3
