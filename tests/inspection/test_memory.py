"""What memory a graph keeps alive, and who keeps a tensor."""

import functools
import gc

import pytest
import rushlight as torch
from rushlight.nn import functional as F
from rushlight.utils.checkpoint import checkpoint

pytestmark = pytest.mark.own


def allocated():
    gc.collect()
    return torch.memory.allocated_bytes()


def network():
    x = torch.randn(100, 50)
    w = torch.randn(50, 60, requires_grad=True)
    hidden = (x @ w).relu()
    for _ in range(4):
        hidden = (hidden * hidden).sigmoid()[:, :40].exp()
    hidden = torch.cat([hidden, hidden.t().reshape(-1, 40)]).softmax(1)
    hidden.mul_(2)
    return hidden.log_softmax(1).mean()


def in_place():
    x = torch.randn(1000, requires_grad=True)
    y = x * 2
    y[10:500] = y[:490].clone().exp()
    return y.sin().sum()


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, x + 1)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


def own_function():
    return Twice.apply(torch.randn(5000, requires_grad=True)).sum()


def with_data():
    x = torch.randn(3000, requires_grad=True)
    return (x * x.data * x.detach()).sum()


def checkpointed():
    def part(x):
        return checkpoint(lambda y: y.sin().exp(), x.cos(), use_reentrant=False).tan()

    x = torch.randn(5000, requires_grad=True) * 2
    return checkpoint(part, x, use_reentrant=False).sum()


def packed():
    keep = torch.autograd.graph.saved_tensors_hooks(
        lambda t: {"kept": t.detach().clone()}, lambda t: t["kept"]
    )
    with keep:
        return (torch.randn(5000, requires_grad=True).sin() * 2).exp().sum()


class Noting(Twice):
    @staticmethod
    def forward(ctx, x):
        ctx.notes = [x.detach() + 1, {"more": x.detach() - 1}]
        return x * 2


def by_attributes():
    return Noting.apply(torch.randn(5000, requires_grad=True)).sum()


def by_hooks():
    y = torch.randn(5000, requires_grad=True) * 2
    weight, factor = torch.randn(5000), torch.randn(5000)
    y.register_hook(lambda g: g * weight)
    y.grad_fn.register_prehook(functools.partial(lambda factor, g: (g[0] * factor,), factor))
    return y.sum()


def with_gradient():
    x = torch.randn(5000, requires_grad=True)
    (x * 2).sum().backward()
    return (x * 3).exp().sum()


def by_classes():
    x = torch.randn(1000, 5, requires_grad=True)
    return F.cross_entropy(x, torch.randint(0, 5, (1000,)), weight=torch.rand(5))


def by_classes_twice():
    x = torch.randn(1000, 5, requires_grad=True)
    loss = F.nll_loss(x.log_softmax(1), torch.randint(0, 5, (1000,)))
    return torch.autograd.grad(loss, x, create_graph=True)[0].exp().sum()


def by_maps():
    theta = torch.randn(2, 2, 3, requires_grad=True)
    image = torch.randn(2, 3, 20, 20, requires_grad=True)
    return F.grid_sample(image, F.affine_grid(theta, image.shape, False), align_corners=False).sum()


def by_chance():
    return F.fractional_max_pool2d(torch.randn(2, 3, 20, 20, requires_grad=True), 2, 9).sum()


def in_bags():
    table = torch.randn(20, 10, requires_grad=True)
    numbers = torch.randint(0, 20, (500,))
    return F.embedding_bag(numbers, table, torch.arange(0, 500, 5), padding_idx=3).sum()


def conjugated():
    z = torch.randn(500, dtype=torch.complex64, requires_grad=True)
    return (z.conj() @ z).abs()


BUILDERS = [network, in_place, own_function, with_data]
BUILDERS += [checkpointed, packed, by_attributes, by_hooks, with_gradient]
BUILDERS += [by_classes, by_classes_twice, by_maps, by_chance, in_bags, conjugated]


@pytest.mark.parametrize("build", BUILDERS)
def test_the_total_is_what_the_allocator_counts(build):
    build()
    before = allocated()
    loss = build()
    taken = allocated() - before
    found = torch.inspection.memory(loss)
    assert taken > 1000
    assert abs(found.total - taken) <= taken / 100
    del loss
    assert allocated() == before


def test_bytes_are_told_by_line():
    x = torch.ones(1000, requires_grad=True)
    a = x.exp()
    b = a.sin()
    line = test_bytes_are_told_by_line.__code__.co_firstlineno + 2
    # `sin` keeps its input, which is the result that `exp` keeps.
    found = torch.inspection.memory(b)
    assert list(found.by_line) == [f"{__file__}:{line}"]
    assert 4000 <= found.saved < 4100 and 4000 <= found.leaves < 4100
    assert found.total == found.saved + found.leaves + found.result == int(found)
    assert "leaves" in str(found) and "total" in str(found)


def test_a_graph_that_was_freed_keeps_only_its_leaves():
    x = torch.ones(1000, requires_grad=True)
    loss = x.exp().sum()
    loss.backward()
    assert torch.inspection.memory(loss).saved == 0


def test_counting_survives_threads_that_end():
    import threading

    before = allocated()
    kept = []
    thread = threading.Thread(target=lambda: kept.append(torch.ones(10_000)))
    thread.start()
    thread.join()
    assert 40_000 <= allocated() - before < 41_000
    kept.clear()
    assert allocated() == before


class Holder:
    pass


KEPT = {}


def test_a_graph_that_keeps_a_tensor_is_named_with_its_end():
    y = torch.ones(3, requires_grad=True).exp()
    losses = [y.sum()]
    (holder,) = torch.inspection.why_alive(y).nodes
    assert (holder.name, holder.kept_as) == ("ExpBackward0", "result")
    assert [name for name, _ in holder.heads] == ["SumBackward0"]
    assert "SumBackward0 at" in str(holder) and len(losses) == 1


@pytest.mark.parametrize("find", ["memory", "why_alive"])
def test_only_tensors_are_asked_about(find):
    with pytest.raises(TypeError, match=r"argument 'tensor' .* must be Tensor, not NoneType"):
        getattr(torch.inspection, find)(None)


def test_a_tensor_that_only_a_variable_has_says_so():
    tensor = torch.ones(3)
    found = torch.inspection.why_alive(tensor)
    assert found.nodes == [] and len(found.python) == 1
    assert "variable 'tensor' of test_a_tensor_that_only_a_variable_has_says_so" in found.python[0]


@pytest.mark.parametrize("seed", ["attribute", "list", "dict", "global", "closure", "tuple"])
def test_what_python_holds_is_named(seed):
    tensor = torch.ones(3)
    thing = Holder()
    if seed == "attribute":
        thing.cache = tensor
    elif seed == "list":
        thing.many = [0, tensor]
    elif seed == "dict":
        thing.named = {"k": tensor}
    elif seed == "tuple":
        thing.pair = (1, (tensor,))
    elif seed == "global":
        KEPT["tensor"] = tensor
    else:

        def inner():
            return tensor

        thing.function = inner
    expected = {
        "attribute": f"attribute 'cache' of a {__name__}.Holder, variable 'thing' of",
        "list": "element 1 of a list, attribute 'many' of a",
        "dict": "value of 'k' in a dict, attribute 'named' of a",
        "tuple": "element 0 of a tuple, element 1 of a tuple, attribute 'pair' of a",
        "global": f"value of 'tensor' in a dict, global 'KEPT' of {__name__}",
        "closure": "variable 'tensor' closed over by test_what_python_holds_is_named.<locals>.inner",
    }[seed]
    found = torch.inspection.why_alive(tensor)
    KEPT.clear()
    assert any(line.startswith(expected) for line in found.python), str(found)


def test_memory_that_is_shared_is_found_through_a_view():
    x = torch.ones(4, requires_grad=True)
    y = (x * 1)[:2]
    z = y.sin()
    assert [holder.name for holder in torch.inspection.why_alive(y).nodes] == ["SinBackward0"]
    assert z.requires_grad


def test_the_graph_module_has_both():
    assert torch.autograd.graph.memory is torch.inspection.memory
    assert torch.autograd.graph.why_alive is torch.inspection.why_alive
