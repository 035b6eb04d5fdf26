"""Graphs of unusual form: very deep, very wide, shared, disconnected."""

import numpy as np
import rushlight as torch
from support import assert_tensor, leaf, run_script


def test_a_chain_of_ten_thousand_operations_is_differentiated():
    x = leaf(1.0)
    y = x
    for _ in range(10_000):
        y = y + 1
    y.sum().backward()
    assert_tensor(x.grad, [1.0])


def test_a_chain_of_two_hundred_thousand_operations_is_differentiated_and_freed_on_a_small_stack():
    output = run_script(
        """
        import threading
        def work():
            x = torch.ones(1, requires_grad=True)
            y = x
            for _ in range(200_000):
                y = y + 1
            y.backward()
            print(x.grad.item())
            z = x
            for _ in range(200_000):
                z = z * 1
            del y, z
            print("freed")
        threading.stack_size(512 * 1024)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    )
    assert output.split() == ["1.0", "freed"]


def test_a_chain_of_two_hundred_thousand_in_place_operations_runs_backward():
    x = leaf(1.0)
    y = x * 1
    for _ in range(200_000):
        y.add_(1)
    y.sum().backward()
    assert_tensor(x.grad, [1.0])
    del y


def test_a_sum_of_thousands_of_branches_runs_backward():
    x = leaf(1.0, 2.0)
    total = torch.zeros((), dtype=torch.float64)
    for i in range(2000):
        total = total + (x * i).sum()
    total.backward()
    assert_tensor(x.grad, [sum(range(2000))] * 2)


def test_doubling_sixty_times_visits_every_node_once():
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    y.sum().backward()
    assert_tensor(x.grad, [2.0**60])


def test_a_root_may_be_a_leaf_among_others():
    x = leaf(1.0)
    y = x * 2
    torch.autograd.backward([x, y], [torch.ones(1, dtype=torch.float64)] * 2)
    assert_tensor(x.grad, [3.0])


def test_parts_of_the_graph_without_gradient_are_skipped():
    x, c = leaf(1.0, 2.0), torch.ones(2, dtype=torch.float64)
    constant = (c * 2).exp().sum()
    ((x * constant).sum() + constant).backward()
    assert_tensor(x.grad, np.full(2, 2 * np.exp(2.0)))


def test_a_piece_of_a_graph_may_be_differentiated_before_the_rest_exists():
    x = leaf(2.0)
    y = x * x
    (first,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    z = y * 3
    z.sum().backward()
    assert_tensor(first, [4.0])
    assert_tensor(x.grad, [12.0])


def test_two_graphs_share_a_stem_when_it_is_retained():
    x = leaf(2.0)
    stem = x.exp()
    a, b = (stem * 2).sum(), (stem * 3).sum()
    a.backward(retain_graph=True)
    b.backward()
    assert_tensor(x.grad, [5 * np.exp(2.0)])


def test_undefined_gradients_of_unused_outputs_are_taken_as_zero():
    x = leaf(1.0, 5.0, 3.0)
    values, _ = x.max(0)
    _, b, _ = x.unbind()
    (values * 2 + b).backward()
    assert_tensor(x.grad, [0.0, 3.0, 0.0])
