"""Operators written in others (`torch._decomp`): each answers as the operator does, and tracers record the parts."""

import pytest
import rushlight as torch
from rushlight._decomp import (
    core_aten_decompositions,
    decomposition_table,
    decompositions,
    get_decompositions,
    register_decomposition,
    remove_decompositions,
)
from rushlight.fx.experimental.proxy_tensor import make_fx
from support import raises

aten = torch.ops.aten
X = torch.linspace(-4, 4, 12).view(3, 4)
Y = torch.linspace(2, -3, 12).view(3, 4)
P = torch.linspace(0.1, 0.9, 12).view(3, 4)
M = torch.linspace(-1, 1, 9).view(3, 3)
CLASSES = torch.tensor([1, -100, 3])
IMAGE = torch.linspace(-1, 2, 48).view(2, 4, 6)
W = torch.linspace(0.5, 2, 4)

SAMPLES = {
    "gelu": [(X,), ((X,), {"approximate": "tanh"})],
    "softplus": [(X,), (X, 2.0, 3.0)],
    "threshold": [(X, 0.5, -1.0)],
    "elu": [(X, 0.5, 2.0, 1.5)],
    "glu": [(X, 1)],
    "_prelu_kernel": [(X, W)],
    "_softmax": [(X, 1, False)],
    "_log_softmax": [(X, 0, False)],
    "native_dropout": [(X, 0.5, False), (X, 1.0, True)],
    "rsub": [(X, Y), (X, 2.0), ((X, Y), {"alpha": 3})],
    "addcmul": [(X, Y, P), ((X, Y, P), {"value": 2})],
    "addcdiv": [((X, Y, P), {"value": 2})],
    "lerp": [(X, Y, 0.25), (X, Y, 0.75), (X, Y, P)],
    "xlogy": [(Y, P), (X * 0, P)],
    "logit": [(P,), (P, 0.3)],
    "logaddexp": [(X, Y), (torch.tensor([float("inf")]), torch.tensor([float("inf")]))],
    "logaddexp2": [(X, Y)],
    "special_entr": [(X,), (P,)],
    "sinc": [(X,), (X * 0,)],
    "nan_to_num": [(torch.tensor([float("nan"), float("inf"), -float("inf"), 1.0]),)],
    "addmm": [(M, M, M), ((M, M, M), {"beta": 2, "alpha": 3}), ((M, M, M), {"beta": 0})],
    "addmv": [((M[0], M, M[1]), {"beta": 2, "alpha": 3})],
    "addr": [((M, M[0], M[1]), {"beta": 2, "alpha": 3})],
    "baddbmm": [((M[None], M[None], M[None]), {"beta": 2, "alpha": 3})],
    "trace": [(M,)],
    "dist": [(X, Y, 3)],
    "masked_fill": [(X, X > 0, 2.5), (X, X > 0, torch.tensor(1))],
    "logsumexp": [(X, 1), (X, (0, 1), True)],
    "std": [(X, 1), ((X, 1), {"correction": 2, "keepdim": True})],
    "embedding": [(X, torch.tensor([[0, 2], [1, 1]]))],
    "mse_loss": [(X, Y), (X, Y, 0), (X, Y, 2)],
    "smooth_l1_loss": [(X, Y), (X, Y, 2, 0.5), (X, Y, 0, 0)],
    "huber_loss": [(X, Y), (X, Y, 2, 0.5)],
    "soft_margin_loss": [(X, Y.sign())],
    "binary_cross_entropy": [(P, P.flip(0)), (P, P.flip(0), P, 2), (P.round(), P)],
    "nll_loss_forward": [
        (X, CLASSES, None, 1, -100),
        (X, CLASSES, W, 1, -100),
        (X, CLASSES, W, 0, -100),
        (X[0], torch.tensor(1), None, 2, -100),
    ],
    "native_layer_norm": [(IMAGE, [6], None, None, 1e-5), (X, [4], W, W + 1, 1e-5)],
    "native_group_norm": [(IMAGE, W, W + 1, 2, 4, 6, 2, 1e-5)],
    "native_batch_norm": [
        (IMAGE, W, W + 1, None, None, True, 0.1, 1e-5),
        (IMAGE, W, None, W - 1, W, False, 0.1, 1e-5),
    ],
    "native_layer_norm_backward": [
        (X, Y, [4], Y.mean(1, True), (Y.var(1, correction=0, keepdim=True) + 1e-5).rsqrt(), W, W, [True] * 3)
    ],
    "threshold_backward": [(X, Y, 0.5)],
    "gelu_backward": [(X, Y), ((X, Y), {"approximate": "tanh"})],
    "softplus_backward": [(X, Y, 2.0, 3.0)],
    "hardtanh_backward": [(X, Y, -1.0, 1.5)],
    "leaky_relu_backward": [(X, Y, 0.1, False)],
    "elu_backward": [(X, 0.5, 2.0, 1.5, False, Y), (X, 0.5, 2.0, 1.5, True, Y)],
    "log_sigmoid_backward": [(X, Y, X[:0])],
    "logit_backward": [(X, P), (X, P, 0.3)],
    "glu_backward": [(X[:, :2], Y, 1)],
    "_softmax_backward_data": [(X, P, 1, torch.float32)],
    "_log_softmax_backward_data": [(X, Y, 0, torch.float32)],
    "native_dropout_backward": [(X, Y > 0, 2.0)],
    "select_backward": [(X[0], [3, 4], 0, 1)],
    "slice_backward": [(X[:, :2], [3, 4], 1, 0, 4, 2)],
    "mse_loss_backward": [(X, Y, P, 1), (X, Y, P, 2)],
    "smooth_l1_loss_backward": [(X, Y, P, 1, 0.5)],
    "huber_loss_backward": [(X, Y, P, 2, 0.5)],
    "binary_cross_entropy_backward": [(X, P, P.flip(0)), (X, P, P.flip(0), W, 2)],
    "embedding_dense_backward": [
        (X, torch.tensor([0, 2, 0]), 3, -1, False),
        (X, torch.tensor([0, 2, 0]), 3, 2, True),
    ],
}
OF_TWO = {"sigmoid_backward", "tanh_backward", "silu_backward", "mish_backward"}
OF_TWO |= {"hardsigmoid_backward", "hardswish_backward"}
KNOWN = sorted({overload.overloadpacket.__name__ for overload in decomposition_table})


def samples(name):
    for one in SAMPLES.get(name, [(X, Y)] if name in OF_TWO else [(X,)]):
        yield one if isinstance(one[-1], dict) else (one, {})


@pytest.mark.parametrize("name", KNOWN)
def test_it_answers_as_the_operator_does(name):
    for args, kwargs in samples(name):
        torch.manual_seed(0)
        wanted = getattr(aten, name)(*args, **kwargs)
        torch.manual_seed(0)
        found = getattr(decompositions, name)(*args, **kwargs)
        torch.testing.assert_close(found, wanted, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_rounded_once(dtype):
    x = X.to(dtype)
    for name in ("silu", "gelu", "mish", "softplus", "elu"):
        assert getattr(decompositions, name)(x).equal(getattr(aten, name)(x)), name


def test_operators_without_functions_of_their_own_are_computed_by_their_parts():
    output, buffer = aten.log_sigmoid_forward(torch.tensor([-4.0, 2.0]))
    torch.testing.assert_close(output, torch.tensor([-4.0181499, -0.1269280]))
    torch.testing.assert_close(buffer, torch.tensor([0.0183156, 0.1353353]))
    loss = aten.soft_margin_loss(torch.tensor([0.5, -1.0]), torch.tensor([1.0, 1.0]))
    torch.testing.assert_close(loss, torch.tensor(0.8936694))


def test_dropout_keeps_a_share_and_scales_it():
    torch.manual_seed(0)
    found, kept = decompositions.native_dropout(torch.ones(1000), 0.25, True)
    assert 700 < kept.sum() < 800 and found.equal(kept / 0.75)


def test_tracers_record_the_parts():
    table = get_decompositions([aten.silu, aten.addmm.default, aten.relu])
    assert set(table) == {aten.silu.default, aten.addmm.default}
    graph = make_fx(torch.nn.functional.silu, table)(X).graph
    assert [node.target for node in graph.nodes][1:-1] == [aten.sigmoid.default, aten.mul.Tensor]
    graph = make_fx(lambda x: torch.nn.functional.layer_norm(x, (4,)), core_aten_decompositions())(X).graph
    assert aten.native_layer_norm.default not in {node.target for node in graph.nodes}
    remove_decompositions(table, [aten.silu])
    assert set(table) == {aten.addmm.default}


def test_functions_are_registered_for_all_overloads():
    mine = {}

    @register_decomposition([aten.sub, aten.neg.default], mine)
    def answer(*args):
        return args

    assert set(mine) == {*(getattr(aten.sub, name) for name in aten.sub.overloads()), aten.neg.default}
    with raises(AssertionError, "type must be one of post_autograd, pre_autograd, or meta, got other"):
        get_decompositions([], type="other")
