"""`rushlight.random`: the generator for everybody, and blocks that put it back."""

import rushlight as torch
from support import raises


def test_a_block_puts_the_generator_back():
    torch.manual_seed(5)
    with torch.random.fork_rng():
        inside = torch.rand(3)
    assert torch.equal(inside, torch.rand(3))


def test_a_block_puts_the_generator_back_after_an_exception():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    with raises(KeyError, "'x'"), torch.random.fork_rng(devices=[]):
        torch.rand(3)
        raise KeyError("x")
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_block_may_be_switched_off():
    torch.manual_seed(5)
    with torch.random.fork_rng(enabled=False):
        inside = torch.rand(3)
    assert not torch.equal(inside, torch.rand(3))


def test_the_module_has_the_functions_of_the_package():
    torch.random.manual_seed(7)
    assert torch.random.initial_seed() == torch.initial_seed() == 7
    state = torch.random.get_rng_state()
    first = torch.rand(2)
    torch.random.set_rng_state(state)
    assert torch.equal(first, torch.rand(2))
    assert isinstance(torch.random.seed(), int)
