"""The graph as the user sees it: `grad_fn`, `next_functions`, hooks on nodes."""

import gc

import pytest
import rushlight as torch
from support import assert_tensor, leaf, raises

NAMES = """
x + 1: AddBackward0
1 - x: RsubBackward1
x - x: SubBackward0
x * x: MulBackward0
x / 2: DivBackward0
1 / x: MulBackward0
-x: NegBackward0
x ** 2: PowBackward0
x ** x: PowBackward1
2 ** x: PowBackward2
x.exp(): ExpBackward0
x.log(): LogBackward0
x.sqrt(): SqrtBackward0
x.sin(): SinBackward0
x.cos(): CosBackward0
x.tanh(): TanhBackward0
x.sigmoid(): SigmoidBackward0
x.relu(): ReluBackward0
x.abs(): AbsBackward0
x.clamp(0, 1): ClampBackward1
x.clamp(min=0): ClampBackward1
torch.maximum(x, x): MaximumBackward0
torch.minimum(x, x): MinimumBackward0
torch.where(x > 0, x, -x): WhereBackward0
x.sum(): SumBackward0
x.sum(0): SumBackward1
x.mean(): MeanBackward0
x.mean(0): MeanBackward1
x.max(): MaxBackward1
x.min(): MinBackward1
x.max(0)[0]: MaxBackward0
x.min(0)[0]: MinBackward0
x.amax(): AmaxBackward0
x.amin(): AminBackward0
x.var(): VarBackward0
x.std(): StdBackward0
x.norm(): LinalgVectorNormBackward0
x.logsumexp(0): LogsumexpBackward0
x.prod(): ProdBackward0
x.prod(0): ProdBackward1
x.cumsum(0): CumsumBackward0
x.softmax(0): SoftmaxBackward0
x.log_softmax(0): LogSoftmaxBackward0
x.view(2, 1): ViewBackward0
x.reshape(2, 1): ViewBackward0
x.t(): TBackward0
x.transpose(0, 0): TransposeBackward0
x.permute(0): PermuteBackward0
x.expand(3, 2): ExpandBackward0
x.squeeze(): SqueezeBackward0
x.squeeze(0): SqueezeBackward1
x.unsqueeze(0): UnsqueezeBackward0
x.narrow(0, 0, 1): SliceBackward0
x.select(0, 0): SelectBackward0
x[0]: SelectBackward0
x[:1]: SliceBackward0
x[None]: UnsqueezeBackward0
x[torch.tensor([0])]: IndexBackward0
x.unbind()[1]: UnbindBackward0
x.view(1, 2).diagonal(): DiagonalBackward0
x.clone(): CloneBackward0
x.float(): ToCopyBackward0
x @ x: DotBackward0
torch.mm(x.view(1, 2), x.view(2, 1)): MmBackward0
torch.mv(x.view(1, 2), x): MvBackward0
torch.bmm(x.view(1, 1, 2), x.view(1, 2, 1)): BmmBackward0
F.linear(x.view(1, 2), x.view(1, 2)): MmBackward0
F.linear(x.view(1, 2), x.view(1, 2), x[:1]): AddmmBackward0
torch.cat([x, x]): CatBackward0
torch.stack([x, x]): StackBackward0
x.gather(0, torch.tensor([0])): GatherBackward0
x.scatter_add(0, torch.tensor([0]), x): ScatterAddBackward0
x.index_select(0, torch.tensor([0])): IndexSelectBackward0
F.mse_loss(x, x * 2): MseLossBackward0
F.nll_loss(x.view(1, 2), torch.tensor([0])): NllLossBackward0
F.cross_entropy(x.view(1, 2), torch.tensor([0])): NllLossBackward0
F.binary_cross_entropy_with_logits(x, x.detach()): BinaryCrossEntropyWithLogitsBackward0
""".strip().splitlines()


@pytest.mark.parametrize(("source", "name"), [row.rsplit(": ", 1) for row in NAMES])
def test_the_node_has_its_familiar_name(source, name):
    x = leaf(0.5, 1.5)
    output = eval(source, {"torch": torch, "F": torch.nn.functional, "x": x})
    assert output.grad_fn.name() == name
    assert type(output.grad_fn).__name__ == name
    assert repr(output.grad_fn).startswith(f"<{name} object at 0x")


def test_a_leaf_has_no_grad_fn_and_is_a_leaf():
    x = leaf(1.0)
    assert x.grad_fn is None and x.is_leaf
    y = x * 2
    assert y.grad_fn is not None and not y.is_leaf
    assert torch.ones(2).is_leaf and (torch.ones(2) * 2).is_leaf


def test_next_functions_lead_to_the_leaves():
    x, w = leaf(1.0), leaf(2.0)
    y = x * w
    (a, i), (b, j) = y.grad_fn.next_functions
    assert (a.name(), i, b.name(), j) == (
        "torch::autograd::AccumulateGrad",
        0,
        "torch::autograd::AccumulateGrad",
        0,
    )
    assert type(a).__name__ == "AccumulateGrad"
    assert a.variable is x and b.variable is w
    assert a.next_functions == ()


def test_an_operand_without_grad_leaves_a_gap():
    x = leaf(1.0)
    y = x * torch.ones(1)
    assert y.grad_fn.next_functions[1] == (None, 0)
    assert len((x + 1).grad_fn.next_functions) == 2


def test_next_functions_follow_the_operands_in_order():
    x = leaf(1.0)
    a, b = x.sin(), x.cos()
    nodes = [node for node, _ in (a / b).grad_fn.next_functions]
    assert nodes[0] is a.grad_fn and nodes[1] is b.grad_fn


def test_an_edge_names_the_output_it_comes_from():
    x = leaf(1.0, 2.0)
    a, b = x.unbind()
    assert a.grad_fn is b.grad_fn
    assert (a.output_nr, b.output_nr) == (0, 1)
    assert (b * 2).grad_fn.next_functions[0] == (b.grad_fn, 1)


def test_the_same_leaf_has_one_accumulator():
    x = leaf(1.0)
    y, z = x.sin(), x.cos()
    assert y.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]


def test_grad_fn_is_the_same_object_every_time():
    x = leaf(1.0)
    y = x * 2
    assert y.grad_fn is y.grad_fn
    y.grad_fn.metadata["note"] = 5
    gc.collect()
    assert y.grad_fn.metadata == {"note": 5}


def test_a_node_outlives_its_tensor():
    x = leaf(1.0)
    node = (x * 2).grad_fn
    gc.collect()
    assert node.next_functions[0][0].variable is x


def test_a_node_hook_sees_gradients_by_input_and_by_output():
    seen = []
    x, w = leaf(2.0), leaf(3.0)
    y = x * w
    y.grad_fn.register_hook(
        lambda inputs, outputs: seen.append(([g.item() for g in inputs], [g.item() for g in outputs]))
    )
    (y * 10).sum().backward()
    assert seen == [([30.0, 20.0], [10.0])]


def test_a_node_hook_may_replace_the_gradients():
    x, w = leaf(2.0), leaf(3.0)
    y = x * w
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 0, inputs[1] + 1))
    y.sum().backward()
    assert_tensor(x.grad, [0.0])
    assert_tensor(w.grad, [3.0])


def test_a_node_prehook_sees_and_replaces_the_incoming_gradients():
    seen = []
    x = leaf(2.0)
    y = x * 3

    def double(outputs):
        seen.append(outputs[0].item())
        return (outputs[0] * 2,)

    y.grad_fn.register_prehook(double)
    y.sum().backward()
    assert seen == [1.0]
    assert_tensor(x.grad, [6.0])


def test_tensor_hooks_run_before_node_prehooks_and_those_before_node_hooks():
    seen = []
    x = leaf(2.0)
    y = x * 3
    y.grad_fn.register_hook(lambda a, b: seen.append("hook"))
    y.grad_fn.register_prehook(lambda a: seen.append("prehook"))
    y.register_hook(lambda g: seen.append("tensor"))
    y.sum().backward()
    assert seen == ["tensor", "prehook", "hook"]


def test_a_removed_node_hook_no_longer_runs():
    seen = []
    x = leaf(2.0)
    y = x * 3
    handles = [
        y.grad_fn.register_hook(lambda a, b: seen.append(1)),
        y.grad_fn.register_prehook(lambda a: seen.append(2)),
    ]
    for handle in handles:
        handle.remove()
    y.sum().backward()
    assert seen == []


def test_hooks_on_an_accumulator_run_around_the_accumulation():
    seen = []
    x = leaf(2.0)
    node = (x * 1).grad_fn.next_functions[0][0]
    node.register_prehook(lambda outputs: seen.append(("pre", x.grad is None)))
    node.register_hook(lambda inputs, outputs: seen.append(("post", x.grad.item())))
    (x * 3).sum().backward()
    assert seen == [("pre", True), ("post", 3.0)]


def test_a_raising_node_hook_stops_the_backward():
    def hook(inputs, outputs):
        raise KeyError("no")

    x = leaf(2.0)
    y = x * 3
    y.grad_fn.register_hook(hook)
    with raises(KeyError, "'no'"):
        y.sum().backward()
    assert x.grad is None


def test_a_node_can_be_called_with_a_gradient():
    x = leaf(2.0)
    y = x * 3
    assert y.grad_fn(torch.tensor([5.0], dtype=torch.float64))[0].item() == 15.0


def test_a_node_that_is_called_with_another_shape_reads_no_further_than_that():
    x = torch.ones(3, 4, requires_grad=True)
    two = torch.tensor(2.0)
    assert_tensor(x[0].grad_fn(two), [[2.0] * 4, [0.0] * 4, [0.0] * 4])
    assert_tensor((x * 3).grad_fn(two)[0].expand(3, 4), [[6.0] * 4] * 3)
    five = torch.ones(5)
    for y in (x.reshape(-1), x.reshape(-1)[1:], x[0], x.diagonal(), x.transpose(0, 1)[:2]):
        with pytest.raises(RuntimeError):
            y.grad_fn(five)


def test_an_edge_must_begin_at_a_node():
    x = torch.ones(2, requires_grad=True)
    edge = torch.autograd.graph.GradientEdge(3, 0)
    with raises(RuntimeError, "GradientEdge's first object must be an autograd.graph.Node but got int"):
        torch.autograd.grad(x.sum(), edge)


def test_a_batch_of_gradients_cannot_be_made_up_for_an_edge():
    x = torch.ones(2, requires_grad=True)
    edge = torch.autograd.graph.get_gradient_edge(x.sum())
    with raises(ValueError, "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input"):
        torch.autograd.grad(edge, x, is_grads_batched=True)


def test_a_node_is_called_like_a_function():
    x = torch.ones(2, requires_grad=True)
    node = (x * 3).grad_fn
    gradients = node(torch.ones(2))
    assert gradients[0].tolist() == [3.0, 3.0] and gradients[1] is None


def test_switches_for_devices_take_truth_values_only():
    for switch in ("set_warn_on_accumulate_grad_stream_mismatch", "set_override_stale_capture_stream"):
        switch = getattr(torch.autograd.graph, switch)
        assert switch(False) is None
        with raises(RuntimeError, "enabled must be a bool, but got int"):
            switch(1)
