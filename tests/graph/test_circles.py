"""Circles that lead through the graph are collected; what anybody still leads to stays as it is."""

import gc
import threading
import warnings
import weakref

import pytest
import rushlight as torch
from rushlight.autograd import Function
from rushlight.autograd.graph import saved_tensors_hooks
from support import run_script


class Witness:
    """Tells by its death that what it is attached to is gone."""


class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Using backward\\(\\) with create_graph=True")
        yield


def leaf(count=2):
    return torch.ones(count, requires_grad=True)


def hook_on_an_earlier_result(witness):
    y = leaf() * 2
    later = y.exp().sin()
    y.register_hook(lambda g: (later, witness)[2:])


def hook_on_a_node_with_several_users(witness):
    y = leaf() * 2
    one, other = y.exp(), y.cos()
    witness.other = other
    y.grad_fn.register_prehook(lambda *g: (one, other, witness)[3:])


def hook_on_the_node_of_a_leaf(witness):
    y = leaf() * 2
    y.grad_fn.next_functions[0][0].register_hook(lambda *g: (y, witness)[2:])


def hook_on_a_view(witness):
    base = leaf(4) * 1
    view = base[1:]
    view.register_hook(lambda g: (base, view, witness)[3:])
    base.view_of_it = view


def hook_of_several_tensors(witness):
    x = leaf()
    y, z = x * 2, x * 3
    torch.autograd.graph.register_multi_grad_hook((y, z), lambda g: (y, z, witness)[3:])


def hook_that_holds_the_gradient(witness):
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    gradient = x.grad
    x.register_hook(lambda g: (gradient, witness)[2:])


def context_that_holds_itself_and_its_output(witness):
    y = Twice.apply(leaf())
    context = y.grad_fn
    context.itself, context.output, context.witness = context, y, witness


ALIVE = leaf()


def context_on_a_leaf_that_lives_on(witness):
    y = Twice.apply(ALIVE)
    y.grad_fn.witness, y.grad_fn.later = witness, y * 3 + ALIVE


def metadata_of_a_node(witness):
    y = leaf() * 2
    y.grad_fn.metadata["result"] = (y, witness)


def attribute_that_holds_a_node(witness):
    y = leaf() * 2
    y.node = y.grad_fn
    y.node.metadata["result"] = (y, witness)


def packed_with_the_result(witness):
    with saved_tensors_hooks(lambda t: (t, witness), lambda packed: packed[0]):
        witness.result = leaf().exp()


def packed_by_functions_that_hold_the_result(witness):
    results = [witness]
    with saved_tensors_hooks(lambda t: t.detach(), lambda packed: (results, packed)[1]):
        results.append(leaf().exp())


def packed_by_a_context(witness):
    with saved_tensors_hooks(lambda t: (t, witness), lambda packed: packed[0]):
        witness.result = Twice.apply(leaf())


def packed_after_the_fact(witness):
    y = leaf().exp()
    saved = y.grad_fn._raw_saved_result
    saved.register_hooks(lambda t: (t, saved, y, witness), lambda packed: packed[0])


def gradients_of_parameters_that_lead_to_each_other(witness):
    first, second = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    first.witness = second.witness = witness
    first.grad = second**2 * first.detach()
    second.grad = first**3 * second.detach()


def recorded_gradients_of_a_module(witness):
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    net[0].weight.witness = witness
    net(torch.ones(2, 3)).pow(2).sum().backward(create_graph=True)


def recorded_gradients_through_a_context(witness):
    net = torch.nn.Linear(3, 3)
    net.weight.witness = witness
    Twice.apply(net(torch.ones(2, 3)).pow(2)).sum().backward(create_graph=True)


def gradient_that_outlives_its_leaf(witness):
    x = leaf()
    x.witness = witness
    (x**3).sum().backward(create_graph=True)
    gradient = x.grad
    del x
    assert gradient.tolist() == [3.0, 3.0]


def gradient_with_attributes(witness):
    x = leaf()
    (x**3).sum().backward(create_graph=True)
    x.grad.leaf, x.grad.witness = x, witness


def retained_gradient(witness):
    y = leaf() * 2
    y.retain_grad()
    (y**3).sum().backward(create_graph=True)
    y.grad.result, y.witness = y, witness


CIRCLES = [
    hook_on_an_earlier_result,
    hook_on_a_node_with_several_users,
    hook_on_the_node_of_a_leaf,
    hook_on_a_view,
    hook_of_several_tensors,
    hook_that_holds_the_gradient,
    context_that_holds_itself_and_its_output,
    context_on_a_leaf_that_lives_on,
    metadata_of_a_node,
    attribute_that_holds_a_node,
    packed_with_the_result,
    packed_by_functions_that_hold_the_result,
    packed_by_a_context,
    packed_after_the_fact,
    gradients_of_parameters_that_lead_to_each_other,
    recorded_gradients_of_a_module,
    recorded_gradients_through_a_context,
    gradient_that_outlives_its_leaf,
    gradient_with_attributes,
    retained_gradient,
]


@pytest.mark.own
@pytest.mark.parametrize("make", CIRCLES)
def test_a_circle_is_gone_after_a_collection(make):
    witness = Witness()
    seen = weakref.ref(witness)
    make(witness)
    del witness
    gc.collect()
    assert seen() is None
    assert not gc.garbage


@pytest.mark.own
def test_circles_are_found_by_the_collector_of_the_young_too():
    seen = []
    for _ in range(100):
        witness = Witness()
        seen.append(weakref.ref(witness))
        hook_on_an_earlier_result(witness)
        del witness
    gc.collect(0)
    assert sum(witness() is not None for witness in seen) <= 1


def test_a_hook_stays_as_long_as_anything_leads_to_its_tensor():
    seen = []

    def build():
        y = leaf() * 2
        later = y.exp()
        y.register_hook(lambda g: seen.append((later.shape, g.tolist())))
        return later.sum()

    total = build()
    for generation in (0, 1, 2):
        gc.collect(generation)
    total.backward()
    assert len(seen) == 1 and seen[0][0] == (2,)


def test_what_a_node_object_leads_to_stays():
    seen = []

    def build():
        y = leaf() * 2
        z = y.exp()
        y.register_hook(lambda g: (z, seen.append(g.tolist()))[1])
        return z.grad_fn

    node = build()
    gc.collect()
    torch.autograd.backward([torch.autograd.graph.GradientEdge(node, 0)], [torch.ones(2)])
    assert len(seen) == 1


def test_a_context_in_a_circle_can_be_run_as_long_as_its_result_is_kept():
    def build():
        x = leaf()
        y = Twice.apply(x)
        y.grad_fn.result = y
        return x, y * 1

    x, y = build()
    gc.collect()
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_what_was_packed_in_a_circle_can_be_unpacked_as_long_as_a_result_is_kept():
    def build():
        box = []
        x = leaf()
        with saved_tensors_hooks(lambda t: (t.detach(), box), lambda packed: packed[0]):
            y = x.exp()
        box.append(y)
        return x, y * 1

    x, y = build()
    gc.collect()
    y.sum().backward()
    assert torch.equal(x.grad, torch.ones(2).exp())


def test_a_finaliser_may_take_the_graph_out_of_a_circle_that_is_collected():
    risen = []

    class Riser:
        def __del__(self):
            risen.append(self.result.grad_fn)

    def build():
        riser, x = Riser(), leaf()
        y = x * 3
        z = y.exp()
        y.register_hook(lambda g: g * 10 if (z, riser) else None)
        riser.result = z
        return x

    x = build()
    for _ in range(3):
        gc.collect()
    if risen:  # torch does not collect it
        edge = torch.autograd.graph.GradientEdge(risen.pop(), 0)
        torch.autograd.backward([edge], [torch.ones(2)])
        assert torch.allclose(x.grad, torch.full((2,), 30.0) * torch.tensor(3.0).exp())
    gc.collect()


def test_collections_within_a_running_backward_leave_its_graph_alone():
    class Collecting(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            gc.collect()
            (x,) = ctx.saved_tensors
            return gradient * x

    x = torch.full((2,), 3.0, requires_grad=True)

    def root():
        y = x
        for _ in range(3):
            y = Collecting.apply(y)
            y.register_hook(lambda g, y=y: (gc.collect(), None)[1])
        return y.sum()

    root().backward()
    assert x.grad.tolist() == [27.0, 27.0]


def test_collections_while_other_threads_differentiate_take_nothing_from_them():
    stop = threading.Event()
    failures = []

    def differentiate():
        try:
            while not stop.is_set():
                x = torch.ones(300, 300, requires_grad=True)
                y = x @ x
                y.register_hook(lambda g, y=y: g * 1)
                Twice.apply(y).sum().backward()
                assert x.grad[0, 0].item() == 1200.0
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=differentiate) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        gc.collect()
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.own
def test_collecting_all_the_time_with_threads_hooks_and_finalisers_breaks_nothing():
    output = run_script(
        """
import gc, random, threading, warnings
warnings.simplefilter("ignore")
gc.set_threshold(1)

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.more = [x]
        return x * 2
    @staticmethod
    def backward(ctx, g):
        itself = {}
        itself["itself"] = itself
        return g * 2

risen, failures = [], []
class Riser:
    def __del__(self):
        what = random.random()
        if what < 0.2: risen.append(self.y)
        elif what < 0.4: risen.append(self.y.grad_fn.next_functions[0][0])
        elif what < 0.5: self.y.grad_fn.metadata.clear()
        elif what < 0.6: self.x.grad = None
        if len(risen) > 20: risen.clear()

shared = torch.ones(3, requires_grad=True)
def work(seed):
    choose = random.Random(seed)
    for i in range(200):
        x = torch.ones(3, requires_grad=True)
        y, k = x * shared, Riser()
        k.x = x
        for _ in range(choose.randrange(1, 5)):
            kind = choose.randrange(5)
            if kind == 0: y = Twice.apply(y)
            elif kind == 1: y = y.exp() * 0.1
            elif kind == 2:
                y = y + y
                y.register_hook(lambda g, y=y, k=k: None)
            elif kind == 3:
                with torch.autograd.graph.saved_tensors_hooks(lambda t, k=k: (t, k), lambda p: p[0]):
                    y = y * y
            else:
                y = y * 1
                y.grad_fn.metadata["y"] = y
        k.y = y
        if choose.random() < 0.6: y.sum().backward(create_graph=choose.random() < 0.5, retain_graph=True)
        if choose.random() < 0.3: x.k = k
        if choose.random() < 0.1: gc.collect()
        if risen and choose.random() < 0.3:
            try: found = risen[-1]
            except IndexError: continue
            if isinstance(found, torch.Tensor):
                torch.autograd.grad(found.sum(), shared, allow_unused=True, retain_graph=True)
        if i % 50 == 0: shared.grad = None

def guarded(seed):
    try: work(seed)
    except BaseException as failure: failures.append(repr(failure))

threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
shared.grad = None
for _ in range(5):
    risen.clear()
    gc.collect()
print(failures, sum(isinstance(it, Riser) for it in gc.get_objects()), gc.garbage)
"""
    )
    assert output.strip() == "[] 0 []"
