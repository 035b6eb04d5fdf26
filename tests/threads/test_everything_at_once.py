"""Threads that use every part at once, on leaves of their own and on shared ones: each gets what it would alone."""

import gc
import os
import queue
import threading
import weakref
from contextlib import suppress

import numpy as np
import pytest
import rushlight as torch
from rushlight.autograd import forward_ad
from rushlight.autograd.graph import saved_tensors_hooks
from rushlight.func import grad, hessian, jacrev, jvp, vmap
from rushlight.utils.checkpoint import checkpoint
from support import assert_tensor, leaf, run_together

THREADS = 6
ROUNDS = int(os.environ.get("RUSHLIGHT_STRESS_ROUNDS", "40"))


def in_threads(work):
    """Call `work` with the number of each thread, all at once."""
    run_together(*[lambda place=place: work(place) for place in range(THREADS)])


class Cubed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, notes):
        ctx.save_for_backward(x)
        ctx.notes = notes
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        ctx.notes.append(threading.get_ident())
        return g * 3 * x * x, None


def test_functions_of_ones_own_share_a_leaf_and_are_differentiated_twice():
    x = leaf(1.0, 2.0)

    def work(place):
        notes = []
        for _ in range(ROUNDS):
            (first,) = torch.autograd.grad(Cubed.apply(x, notes).sum(), x, create_graph=True)
            (second,) = torch.autograd.grad(first.sum(), x)
            assert second.tolist() == [6.0, 12.0]
            Cubed.apply(x, notes).sum().backward()
        assert set(notes) == {threading.get_ident()}

    in_threads(work)
    assert_tensor(x.grad, np.array([3.0, 12.0]) * THREADS * ROUNDS)


def test_a_function_that_raises_in_one_thread_is_raised_there_and_nowhere_else():
    x = leaf(1.0, 2.0)

    class Raising(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, place):
            ctx.place = place
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ValueError(ctx.place)

    def work(place):
        for _ in range(ROUNDS):
            if place % 2:
                with pytest.raises(ValueError) as caught:
                    (Raising.apply(x * 2, place) * 3).sum().backward()
                assert caught.value.args == (place,)
            else:
                (x * 2).sum().backward()

    in_threads(work)
    assert x.grad.tolist() == [THREADS // 2 * ROUNDS * 2.0] * 2


def test_hooks_come_and_go_on_a_shared_leaf_while_others_differentiate():
    x = leaf(1.0, 2.0)
    counts = [0] * THREADS

    def work(place):
        def count(g):
            counts[place] += 1

        for _ in range(ROUNDS):
            handle = x.register_hook(count)
            (x * 2).sum().backward()
            handle.remove()

    in_threads(work)
    assert_tensor(x.grad, np.array([2.0, 2.0]) * THREADS * ROUNDS)
    assert min(counts) >= ROUNDS
    before = list(counts)
    (x * 2).sum().backward()
    assert counts == before


def test_hooks_on_saved_tensors_are_of_the_thread_that_set_them():
    x = leaf(1.0, 2.0)

    def work(place):
        packed = []

        def pack(tensor):
            packed.append(threading.get_ident())
            return place, tensor

        def unpack(pair):
            assert pair[0] == place
            return pair[1]

        for _ in range(ROUNDS):
            with saved_tensors_hooks(pack, unpack):
                y = (x * x).exp()
            (g,) = torch.autograd.grad(y.sum(), x)
            assert torch.equal(g, 2 * x * (x * x).exp())
        assert set(packed) == {threading.get_ident()}

    in_threads(work)


SAMPLES = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)


def loss(weight, sample):
    return (weight * sample).sum() ** 3


def test_transforms_run_in_several_threads():
    weight = leaf(1.0, 2.0)
    alone = vmap(grad(loss), in_dims=(None, 0))(weight, SAMPLES)
    slopes = jacrev(torch.sin)(weight)

    def work(place):
        for _ in range(ROUNDS):
            if place % 2:
                assert torch.equal(vmap(grad(loss), in_dims=(None, 0))(weight, SAMPLES), alone)
            else:
                assert torch.equal(jacrev(torch.sin)(weight), slopes)
            (weight * SAMPLES).sum().backward()

    in_threads(work)
    assert_tensor(weight.grad, np.array([2.0, 2.0]) * THREADS * ROUNDS)


@pytest.mark.own
def test_transforms_in_forward_direction_run_in_several_threads_and_beside_a_dual_level():
    weight, sample = leaf(1.0, 2.0), SAMPLES[2]
    curved = hessian(loss)(weight, sample)
    moved = jvp(torch.sin, (weight,), (torch.ones_like(weight),))[1]

    def work(place):
        for _ in range(ROUNDS):
            if place == 0:
                with forward_ad.dual_level():
                    dual = forward_ad.make_dual(weight.detach(), torch.ones_like(weight))
                    assert forward_ad.unpack_dual(dual * dual).tangent.tolist() == [2.0, 4.0]
            elif place % 2:
                assert torch.equal(hessian(loss)(weight, sample), curved)
            else:
                assert torch.equal(jvp(torch.sin, (weight,), (torch.ones_like(weight),))[1], moved)

    in_threads(work)


def test_plain_work_goes_on_beside_a_dual_level():
    x = leaf(1.0, 2.0)

    def work(place):
        for _ in range(ROUNDS):
            if place == 0:
                with forward_ad.dual_level():
                    dual = forward_ad.make_dual(x.detach(), torch.ones_like(x))
                    assert forward_ad.unpack_dual(dual * dual).tangent.tolist() == [2.0, 4.0]
            else:
                (x * x).sum().backward()

    in_threads(work)
    assert_tensor(x.grad, np.array([2.0, 4.0]) * (THREADS - 1) * ROUNDS)


def test_the_object_of_a_tensor_is_one_for_all_threads():
    x = leaf(1.0, 2.0)
    x.grad = torch.zeros(2, dtype=torch.float64)
    y = x * x
    seen = [set() for _ in range(THREADS)]

    def work(place):
        for _ in range(ROUNDS * 10):
            node = y.grad_fn
            assert node.next_functions[0][0].variable is x
            assert node._saved_self is x
            gradient = x.grad
            seen[place].add(id(gradient))
            assert gradient is x.grad
            del gradient, node

    kept = x.grad
    in_threads(work)
    assert set().union(*seen) == {id(kept)}


def test_objects_that_nobody_keeps_are_made_anew_by_whoever_asks():
    x = leaf(1.0, 2.0)
    x.grad = torch.tensor([5.0, 6.0], dtype=torch.float64)
    y = (x * 2).sum()

    def work(place):
        for _ in range(ROUNDS * 20):
            assert x.grad.tolist() == [5.0, 6.0]
            assert y.grad_fn.name() == "SumBackward0"
            assert y.grad_fn.next_functions[0][0].name() == "MulBackward0"

    in_threads(work)


def test_one_node_is_asked_for_by_all_and_kept_by_nobody():
    y = leaf(1.0, 2.0) * 2

    def work():
        for _ in range(ROUNDS * 2000):
            y.grad_fn  # noqa: B018

    run_together(work, work, work)
    assert y.grad_fn.name() == "MulBackward0"


def test_a_gradient_keeps_its_attributes_when_others_ask_for_it_as_it_is_let_go_of():
    x = leaf(1.0, 2.0)
    ended = threading.Event()

    def give():
        try:
            for turn in range(ROUNDS * 200):
                gradient = torch.zeros(2, dtype=torch.float64)
                gradient.turn = turn
                x.grad = gradient
        finally:
            ended.set()

    def ask():
        while not ended.is_set():
            assert x.grad is None or x.grad.turn >= 0

    run_together(give, ask, ask, ask)
    assert x.grad.turn == ROUNDS * 200 - 1


def test_memory_of_kept_tensors_is_replaced_while_others_let_go_of_leaves():
    ended = threading.Event()

    def replace():
        try:
            for _ in range(ROUNDS * 5):
                x = leaf(1.0, 2.0)
                y = x * x
                for _ in range(10):
                    x.data = torch.zeros(2, dtype=torch.float64)
                (g,) = torch.autograd.grad(y.sum(), x)
                assert g.tolist() == [0.0, 0.0]
        finally:
            ended.set()

    def let_go():
        while not ended.is_set():
            assert (leaf(1.0, 2.0) * 2).requires_grad

    run_together(replace, let_go, let_go, let_go)


def test_hooks_are_removed_from_the_nodes_of_leaves_that_go_at_that_moment():
    handles, ended = queue.SimpleQueue(), threading.Event()

    def let_go():
        try:
            for _ in range(ROUNDS * 200):
                x = leaf(1.0, 2.0)
                node = (x * 2).grad_fn.next_functions[0][0]
                handles.put(node.register_hook(lambda *gradients: None))
                del node, x
        finally:
            ended.set()

    def remove():
        while not (ended.is_set() and handles.empty()):
            with suppress(queue.Empty):
                handles.get(timeout=0.1).remove()

    run_together(let_go, remove)


def test_hooks_on_the_node_of_a_shared_leaf_stay_while_others_let_go_of_the_node():
    x = leaf(1.0, 2.0)

    def work(place):
        calls = []
        for turn in range(ROUNDS * 10):
            y = x * 2
            node = y.grad_fn.next_functions[0][0]
            handle = node.register_prehook(lambda gradients: calls.append(threading.get_ident()))
            y.sum().backward()
            handle.remove()
            assert calls.count(threading.get_ident()) == turn + 1

    in_threads(work)
    assert_tensor(x.grad, np.array([2.0, 2.0]) * THREADS * ROUNDS * 10)


def test_threads_share_a_tensor_with_its_attributes_and_weak_references():
    x = leaf(1.0, 2.0)

    def work(place):
        for turn in range(ROUNDS * 5):
            setattr(x, f"of_{place}", turn)
            assert getattr(x, f"of_{place}") == turn
            assert weakref.ref(x)() is x
            delattr(x, f"of_{place}")

    in_threads(work)
    assert x.__dict__ == {}


def test_modes_of_all_kinds_are_of_one_thread():
    x = leaf(1.0, 2.0)

    def work(place):
        for _ in range(ROUNDS):
            kind = place % 3
            if kind == 0:
                with torch.no_grad():
                    assert not (x * 2).requires_grad
                    with torch.enable_grad():
                        assert (x * 2).requires_grad
            elif kind == 1:
                with torch.inference_mode():
                    assert (x * 2).is_inference()
            else:
                with torch.autograd.detect_anomaly(check_nan=False):
                    (x * 2).sum().backward()
            assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()

    with pytest.warns(UserWarning):
        in_threads(work)
    # All threads have this one in common: who leaves last puts back what it found, which was another's.
    torch.autograd.set_detect_anomaly(False)
    assert x.grad.tolist() == [2.0 * ROUNDS * len(range(2, THREADS, 3))] * 2


def test_parts_are_computed_again_in_several_threads():
    x = leaf(0.5, 1.0)

    def part(x):
        return x.sin().exp()

    (expected,) = torch.autograd.grad(part(x).sum(), x)

    def work(place):
        for _ in range(ROUNDS):
            y = checkpoint(part, x * 1, use_reentrant=place % 2 == 0)
            y.sum().backward()

    in_threads(work)
    np.testing.assert_allclose(x.grad.numpy(), expected.numpy() * THREADS * ROUNDS, rtol=1e-12)


@pytest.mark.own  # torch keeps such circles, and every collection takes longer than the one before.
def test_collections_run_while_graphs_with_circles_come_and_go():
    ends = threading.Event()

    def collect():
        while not ends.is_set():
            gc.collect()

    def work():
        try:
            for _ in range(ROUNDS * 2):
                x = leaf(1.0, 2.0)
                y = x * 2
                y.register_hook(lambda g, y=y: None)
                y.owner = y
                (x.grad,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
                assert x.grad.tolist() == [24.0, 96.0]
        finally:
            ends.set()

    run_together(collect, *[work] * (THREADS - 1))


def test_a_hook_that_raises_in_one_thread_leaves_the_others_alone():
    x = leaf(1.0, 2.0)

    def work(place):
        for _ in range(ROUNDS):
            y = x * 2
            if place % 2:
                y.register_hook(lambda g: 1 / 0)
                with pytest.raises(ZeroDivisionError):
                    y.sum().backward()
            else:
                y.register_hook(lambda g: g * 2)
                y.sum().backward()

    in_threads(work)
    assert x.grad.tolist() == [4.0 * ROUNDS * (THREADS // 2)] * 2


def test_writes_of_threads_into_parts_of_one_tensor_all_arrive():
    base = torch.zeros(THREADS, 50)

    def work(place):
        row = base[place]
        for _ in range(ROUNDS):
            row.add_(1)

    in_threads(work)
    assert base.eq(ROUNDS).all().item()
    assert base._version == THREADS * ROUNDS
