"""`_dynamo`, `compiler` and higher-order operations: what is told to a compiler changes nothing."""

import pytest
import rushlight as torch
from support import raises


@pytest.mark.own
def test_what_a_compiler_is_told_changes_nothing():
    import rushlight._dynamo as dynamo

    for decorate in (
        dynamo.allow_in_graph,
        dynamo.disable,
        dynamo.disallow_in_graph,
        dynamo.optimize("eager"),
    ):
        assert decorate(torch.relu)(torch.tensor([-1.0, 1.0])).tolist() == [0.0, 1.0]
    dynamo.mark_dynamic(torch.ones(1), 0)
    dynamo.graph_break()
    dynamo.reset()
    assert dynamo.explain(torch.relu)(torch.ones(1)).graph_count == 0


def test_settings_are_kept_and_put_back():
    from rushlight._dynamo import config

    before = config.recompile_limit
    with config.patch(recompile_limit=3):
        assert config.recompile_limit == 3
    assert config.recompile_limit == before


def test_one_of_two_functions_is_called():
    x = torch.ones(2)
    for chosen, answer in ((True, 2.0), (False, 0.0)):
        found = torch.cond(torch.tensor(chosen), lambda x: x + 1, lambda x: x - 1, (x,))
        assert found.tolist() == [answer] * 2


@pytest.mark.own
def test_the_choice_is_one_value():
    with raises(RuntimeError, "Expected pred to be bool or single-element tensor, but got"):
        torch.cond(torch.ones(2), torch.sin, torch.cos, (torch.ones(1),))


@pytest.mark.own
def test_loops_and_scans():
    from rushlight._higher_order_ops import associative_scan, map, scan

    x = torch.arange(4.0)
    assert torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, 2 * y), (torch.tensor(0), x))[1].equal(
        8 * x
    )
    total, running = scan(lambda carry, x: (carry + x, carry + x), torch.tensor(0.0), x, reverse=True)
    assert total == 6.0 and running.tolist() == [6.0, 6.0, 5.0, 3.0]
    assert associative_scan(torch.add, x, 0).equal(x.cumsum(0))
    assert map(lambda row, y: row * y, x, torch.tensor(2.0)).equal(2 * x)


def test_keys_of_dispatch():
    from rushlight._C import DispatchKey, DispatchKeySet

    keys = DispatchKeySet(DispatchKey.CPU)
    assert repr(keys) == "DispatchKeySet(CPU)" and str(DispatchKey.AutogradCPU) == "DispatchKey.AutogradCPU"
    assert keys.has(DispatchKey.CPU) and not keys.has(DispatchKey.CUDA)
    assert not keys.remove(DispatchKey.CPU).has(DispatchKey.CPU)


def test_containers_are_taken_apart_with_keys():
    from rushlight.utils import _pytree as pytree

    assert pytree._dict_flatten_with_keys({1: 2}) == ([(pytree.MappingKey(1), 2)], [1])
    assert pytree._dict_flatten({1: 2}) == ([2], [1])
    assert pytree._dict_unflatten([2], [1]) == {1: 2}


@pytest.mark.own
def test_an_operator_of_former_times():
    from rushlight import _custom_ops

    @_custom_ops.custom_op("former::cubed")
    def cubed(x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    @_custom_ops.impl("former::cubed")
    def compute(x):
        return x * x * x

    @_custom_ops.impl_save_for_backward("former::cubed")
    def save(inputs, output):
        return {"x": inputs.x, "n": 3}

    @_custom_ops.impl_backward("former::cubed")
    def backward(ctx, saved, gradient):
        return {"x": gradient * saved["n"] * saved["x"] ** 2}

    x = torch.tensor(2.0, requires_grad=True)
    torch.ops.former.cubed(x).backward()
    assert x.grad == 12.0


@pytest.mark.own
def test_every_public_name_is_there():
    found = {}
    exec("from rushlight import *", found)  # The names go into a dictionary.
    assert found["zeros"] is torch.zeros
