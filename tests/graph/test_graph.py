"""Looking at nodes: the parameters that they show, and their edges."""

import pytest
import rushlight as torch
from rushlight.autograd import graph
from support import raises
from support import single_leaf as leaf

LAST = 2**64 - 1  # -1, as torch shows it: without a sign.
PLACES = torch.tensor([[0, 1]])


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (lambda x: x.sum(-1), {"dim": (LAST,)}),
        (lambda x: x.sum((0, -1)), {"dim": (0, LAST)}),
        (lambda x: x.sum((-1, 0)), {"dim": (LAST, 0)}),
        (lambda x: x.mean(-1), {"dim": (LAST,)}),
        (lambda x: x.prod(-1), {"dim": LAST}),
        (lambda x: x.var(-1), {"dim": (LAST,), "correction": 1}),
        (lambda x: x.std(-2), {"dim": (LAST - 1,)}),
        (lambda x: x.amax(-1), {"dim": (LAST,)}),
        (lambda x: x.amin(), {"dim": ()}),
        (lambda x: x.max(-1)[0], {"dim": LAST}),
        (lambda x: x.logsumexp(-1), {"dim": (LAST,)}),
        (lambda x: torch.linalg.vector_norm(x, dim=-1), {"dim": (LAST,)}),
        (lambda x: x.softmax(-1), {"dim": LAST}),
        (lambda x: x.log_softmax(-1), {"dim": LAST}),
        (lambda x: x.cumsum(-1), {"dim": LAST}),
        (lambda x: x.cumprod(-1), {"dim": LAST}),
        (lambda x: x.flip(-1), {"dims": (LAST,)}),
        (lambda x: torch.cat([x, x], -1), {"dim": LAST}),
        (lambda x: torch.stack([x, x], -1), {"dim": LAST}),
        (lambda x: x.split(2, -1)[0], {"dim": LAST}),
        (lambda x: x.split([1, 2], -1)[0], {"dim": LAST}),
        (lambda x: x.unbind(-1)[0], {"dim": LAST}),
        (lambda x: x.gather(-1, PLACES), {"dim": LAST}),
        (lambda x: x.scatter(-1, PLACES, 2.0), {"dim": LAST}),
        (lambda x: x.index_select(-1, PLACES[0]), {"dim": LAST}),
        (lambda x: x.index_add(-1, PLACES[0], torch.ones(2, 2)), {"dim": LAST}),
        (lambda x: x.index_fill(-1, PLACES[0], 2.0), {"dim": LAST}),
        (lambda x: x.transpose(0, -1), {"dim0": 0, "dim1": LAST}),
        (lambda x: x.sort(-1)[0], {"dim": LAST, "self_sym_sizes": (2, 3)}),
        (lambda x: x.topk(2)[0], {"dim": LAST, "self_sym_sizes": (2, 3)}),
        (lambda x: x.kthvalue(2)[0], {"dim": LAST, "keepdim": False}),
        (lambda x: x.median(-1, keepdim=True)[0], {"dim": LAST, "keepdim": True}),
        (lambda x: x.mode(-1)[0], {"dim": LAST, "keepdim": False}),
        (lambda x: x.cummax(-1)[0], {"dim": LAST}),
    ],
)
def test_a_node_shows_dimensions_as_the_caller_counted_them(operation, expected):
    node = operation(torch.ones(2, 3, requires_grad=True)).grad_fn
    assert {name: getattr(node, f"_saved_{name}") for name in expected} == expected


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (lambda x: x.add(x, alpha=2), {"alpha": 2}),
        (lambda x: x**2, {"exponent": 2}),
        (lambda x: x.sum(1), {"dim": (1,), "keepdim": False, "self_sym_sizes": (2, 3)}),
        (lambda x: x.mean(0, keepdim=True), {"dim": (0,), "keepdim": True, "self_sym_numel": 6}),
        (lambda x: x.std(1), {"correction": 1, "dim": (1,)}),
        (lambda x: x.var(), {"correction": None, "dim": None}),
        (lambda x: x.max(1)[0], {"dim": 1, "keepdim": False}),
        (lambda x: x.amax((0, 1)), {"dim": (0, 1)}),
        (lambda x: x.view(6), {"self_sym_sizes": (2, 3)}),
        (lambda x: x.transpose(0, 1), {"dim0": 0, "dim1": 1}),
        (lambda x: x.permute(1, 0), {"dims": (1, 0)}),
        (lambda x: x.unsqueeze(-1), {"dim": 2**64 - 1}),
        (lambda x: x.expand(4, 2, 3), {"self_sym_sizes": (2, 3)}),
        (lambda x: x[1], {"dim": 0, "index": 1}),
        (lambda x: x[:, 1:], {"dim": 1, "start": 1, "step": 1, "end": 2**63 - 1}),
        (lambda x: x.split(2, 1)[0], {"dim": 1, "split_size": 2}),
        (lambda x: x.split([1, 2], 1)[0], {"dim": 1, "split_sizes": (1, 2)}),
        (lambda x: torch.cat([x, x], 1), {"dim": 1}),
        (lambda x: torch.stack([x, x], 2), {"dim": 2}),
        (lambda x: x.gather(1, torch.zeros(2, 1, dtype=torch.int64)), {"dim": 1, "sparse_grad": False}),
        (lambda x: x.clamp(0, 1), {"min": 0, "max": 1}),
        (lambda x: x.clamp(min=0.5), {"min": 0.5, "max": None}),
        (lambda x: x.softmax(1), {"dim": 1}),
        (lambda x: x.logsumexp(1), {"dim": (1,), "keepdim": False}),
        (lambda x: x.cumsum(1), {"dim": 1}),
        (lambda x: x.flip(0, 1), {"dims": (0, 1)}),
        (lambda x: x.roll(1, 0), {"dims": (0,), "shifts": (1,)}),
        (lambda x: x.repeat(2, 1), {"repeats": (2, 1)}),
        (lambda x: x.tril(1), {"diagonal": 1}),
        (lambda x: x.triu(-1), {"diagonal": 2**64 - 1}),
        (lambda x: x.diagonal(), {"dim1": 0, "dim2": 1, "offset": 0}),
        (lambda x: x.mm(x.t()), {"mat2_sym_sizes": (3, 2), "self_sym_strides": (3, 1)}),
    ],
)
def test_a_node_shows_the_parameters_of_its_operation(operation, expected):
    node = operation(torch.ones(2, 3, requires_grad=True)).grad_fn
    assert {name: getattr(node, f"_saved_{name}") for name in expected} == expected
    assert {f"_saved_{name}" for name in expected} <= set(dir(node))


def test_an_edge_stands_for_a_tensor():
    x = leaf()
    y = x * 2
    edge, end = graph.get_gradient_edge(y), graph.get_gradient_edge(x)
    assert edge.node is y.grad_fn
    assert (edge.output_nr, end.node.name()) == (0, "torch::autograd::AccumulateGrad")
    z = (y * 3).sum()
    by_edges = torch.autograd.grad(z, [edge, end], retain_graph=True)
    assert [gradient.tolist() for gradient in by_edges] == [[3.0, 3.0], [6.0, 6.0]]
    assert torch.autograd.grad(edge, x, torch.ones(2))[0].tolist() == [2.0, 2.0]
    z = (x * 2).sum()
    z.backward(inputs=[end])
    assert x.grad.tolist() == [2.0, 2.0]


def test_edges_have_limits():
    x = leaf()
    with raises(RuntimeError, "It is not possible to get the gradient edge for a Tensor that does not"):
        graph.get_gradient_edge(x.detach())
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        torch.autograd.backward(graph.get_gradient_edge(x * 2))
    with raises(RuntimeError, "materialize_grads cannot be used when the given input is a GradientEdge"):
        torch.autograd.grad((x * 2).sum(), graph.get_gradient_edge(leaf()), materialize_grads=True)


def test_nodes_are_instances_of_one_class():
    x = leaf()
    assert isinstance((x * 2).grad_fn, graph.Node)
    assert not isinstance(x, graph.Node)
    with raises(TypeError, "Can't instantiate abstract class Node with"):
        graph.Node()


def test_a_node_tells_what_its_outputs_look_like():
    (metadata,) = (leaf() * 2).grad_fn._input_metadata
    assert list(metadata.shape) == [2]
    assert metadata.dtype is torch.float32


def test_the_type_of_gradients_can_be_set():
    x = leaf()
    x.grad_dtype = torch.float64
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float64
    with raises(
        RuntimeError, "Cannot set grad_dtype to 'Float' because there is already a gradient with dtype"
    ):
        x.grad_dtype = torch.float32
    with raises(RuntimeError, "grad_dtype can only be accessed on leaf tensors."):
        _ = (x * 2).grad_dtype
    with raises(RuntimeError, "grad_dtype must be a torch.dtype or None, but got int"):
        leaf().grad_dtype = 3


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (lambda f, x: f.elu(x, 0.5), {"alpha": 0.5, "scale": 1, "input_scale": 1}),
        (lambda f, x: f.celu(x, 0.5), {"alpha": 0.5}),
        (lambda f, x: f.leaky_relu(x, 0.25), {"negative_slope": 0.25}),
        (lambda f, x: f.threshold(x, 0.5, 2.0), {"threshold": 0.5}),
        (lambda f, x: f.hardtanh(x), {"min_val": -1, "max_val": 1}),
        (lambda f, x: f.hardshrink(x, 0.25), {"lambd": 0.25}),
        (lambda f, x: f.softshrink(x, 0.25), {"lambd": 0.25}),
        (lambda f, x: f.gelu(x), {"approximate": "none"}),
        (lambda f, x: f.gelu(x, approximate="tanh"), {"approximate": "tanh"}),
        (lambda f, x: f.softplus(x), {"beta": 1, "threshold": 20}),
        (lambda f, x: x.logit(), {"eps": None}),
        (lambda f, x: x.logit(0.25), {"eps": 0.25}),
        (lambda f, x: torch.polygamma(1, x), {"n": 1}),
        (lambda f, x: f.mse_loss(x, x.detach()), {"reduction": 1}),
        (lambda f, x: f.mse_loss(x, x.detach(), reduction="sum"), {"reduction": 2}),
        (lambda f, x: f.smooth_l1_loss(x, x.detach(), beta=2.0), {"reduction": 1, "beta": 2.0}),
        (lambda f, x: f.huber_loss(x, x.detach(), delta=2.0), {"reduction": 1, "delta": 2.0}),
        (lambda f, x: f.nll_loss(x, torch.tensor([0, 1])), {"reduction": 1}),
        (lambda f, x: f.binary_cross_entropy(x, x.detach(), reduction="none"), {"reduction": 0}),
        (lambda f, x: f.binary_cross_entropy_with_logits(x, x.detach()), {"reduction": 1}),
    ],
)
def test_a_node_shows_the_parameters_of_its_unit_or_loss(operation, expected):
    node = operation(torch.nn.functional, torch.full((2, 3), 0.5, requires_grad=True)).grad_fn
    assert {name: getattr(node, f"_saved_{name}") for name in expected} == expected


def test_indices_are_shown_by_dimension():
    x = torch.ones(2, 3, requires_grad=True)
    first, second = torch.tensor([0, 1]), torch.tensor([2, 0])
    node = x[first, second].grad_fn
    assert [index.tolist() for index in node._saved_indices] == [[0, 1], [2, 0]]
    assert node._saved_self_sym_sizes == (2, 3)
    node = x[:, second].grad_fn
    none, index = node._saved_indices
    assert none is None and index.tolist() == [2, 0]
    assert not hasattr(node, "_saved_tensor")
    node = x.index_put((first, second), torch.ones(2)).grad_fn
    assert len(node._saved_indices) == 2 and not hasattr(node, "_saved_tensor")


def test_what_has_no_name_is_not_shown():
    x = leaf()
    node = torch.addcmul(x, x, x).grad_fn
    assert "_saved_" not in dir(node)


def test_a_node_is_called_without_keywords():
    with raises(TypeError, "keyword arguments are not supported"):
        (leaf() * 2).grad_fn(gradient=torch.ones(2))


def test_only_the_node_of_a_leaf_lists_a_variable():
    x = leaf()
    assert "variable" not in dir((x * 2).grad_fn)
    assert "variable" in dir(graph.get_gradient_edge(x).node)


@pytest.mark.own
def test_an_edge_to_an_output_that_is_not_there_is_refused():
    y = leaf() * 2
    with raises(IndexError, "element 3 of the outputs of MulBackward0 does not exist"):
        torch.autograd.grad(y.sum(), graph.GradientEdge(y.grad_fn, 3))


def test_a_gradient_for_an_edge_has_the_shape_of_its_output():
    x = leaf()
    edge = graph.get_gradient_edge(x * 2)
    with raises(
        RuntimeError, "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has"
    ):
        torch.autograd.grad(edge, x, torch.ones(3))


@pytest.mark.parametrize(
    ("budget", "kind", "text"),
    [
        (
            0.5,
            RuntimeError,
            "torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile region; it "
            "has no effect in eager mode.",
        ),
        (
            True,
            TypeError,
            "torch.autograd.graph.region_activation_memory_budget: expects a float, got bool",
        ),
        (2, ValueError, "torch.autograd.graph.region_activation_memory_budget: must be in [0, 1], got 2"),
    ],
)
def test_a_memory_budget_is_for_compiled_regions_only(budget, kind, text):
    with raises(kind, text):
        torch.autograd.graph.region_activation_memory_budget(budget)


@pytest.mark.own  # Two products elsewhere: what is kept of them is half as much here.
def test_both_derivatives_of_a_square_are_recorded_as_one_product():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    (left, _), (right, _) = g.grad_fn.next_functions
    assert (g.tolist(), left is right, left.name()) == ([4.0, 6.0], True, "MulBackward0")


def test_derivatives_of_a_square_are_differentiated():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    assert g.tolist() == [4.0, 6.0]
    (h,) = torch.autograd.grad((g * g).sum(), x)
    assert h.tolist() == [16.0, 24.0]
    y = x.detach().clone().requires_grad_()
    apart = torch.autograd.grad((x * y).sum(), [x, y])
    assert [part.tolist() for part in apart] == [[2.0, 3.0], [2.0, 3.0]]
