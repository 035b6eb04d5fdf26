"""Hooks around saving and loading the state of an optimiser."""

import copy

import pytest
import rushlight as torch


@pytest.fixture
def optimizer():
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    made = torch.optim.SGD([x], lr=0.1, momentum=0.9)
    made.step()
    return made


def test_a_hook_is_told_before_the_state_is_read(optimizer):
    def quicker(which):
        which.param_groups[0]["lr"] = 0.5

    optimizer.register_state_dict_pre_hook(quicker)
    assert optimizer.state_dict()["param_groups"][0]["lr"] == 0.5


def test_a_hook_may_change_or_replace_what_is_saved(optimizer):
    optimizer.register_state_dict_post_hook(lambda _, found: found.update(epoch=1))
    handle = optimizer.register_state_dict_post_hook(lambda _, found: {**found, "seen": found["epoch"]})
    found = optimizer.state_dict()
    assert (found["epoch"], found["seen"]) == (1, 1)
    handle.remove()
    assert "seen" not in optimizer.state_dict()


def test_a_hook_may_replace_what_is_loaded(optimizer):
    saved = copy.deepcopy(optimizer.state_dict())
    saved["epoch"] = 7

    def slower(which, loaded):
        assert loaded.pop("epoch") == 7
        groups = [{**group, "lr": 0.01} for group in loaded["param_groups"]]
        return {**loaded, "param_groups": groups}

    optimizer.register_load_state_dict_pre_hook(slower)
    told = []
    optimizer.register_load_state_dict_post_hook(lambda which: told.append(which.param_groups[0]["lr"]))
    optimizer.load_state_dict(saved)
    assert told == [0.01]
    assert saved["epoch"] == 7


def test_hooks_may_be_put_first(optimizer):
    order = []
    optimizer.register_load_state_dict_post_hook(lambda _: order.append("second"))
    optimizer.register_load_state_dict_post_hook(lambda _: order.append("first"), prepend=True)
    optimizer.load_state_dict(optimizer.state_dict())
    assert order == ["first", "second"]


def test_optimisers_around_others_need_not_be_initialised(optimizer):
    class Around(torch.optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups = inner, inner.param_groups

        def step(self, closure=None):
            return self.inner.step(closure)

    before = optimizer.param_groups[0]["params"][0].detach().clone()
    Around(optimizer).step()
    assert not torch.equal(optimizer.param_groups[0]["params"][0], before)


def test_hooks_of_every_optimiser_are_around_its_own(optimizer):
    from rushlight.optim import optimizer as shared

    seen = []
    handles = [
        shared.register_optimizer_step_post_hook(lambda *_: seen.append("after all")),
        shared.register_optimizer_step_pre_hook(lambda *_: seen.append("before all")),
        optimizer.register_step_pre_hook(lambda *_: seen.append("before")),
        optimizer.register_step_post_hook(lambda *_: seen.append("after")),
    ]
    optimizer.step()
    assert seen == ["before all", "before", "after", "after all"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(seen) == 4


def test_a_hook_of_every_optimiser_may_change_what_a_step_is_given(optimizer):
    from rushlight.optim import optimizer as shared

    calls = []
    handle = shared.register_optimizer_step_pre_hook(
        lambda which, args, kwargs: ((which, lambda: calls.append(1) or 3.0), kwargs)
    )
    assert optimizer.step() == 3.0
    handle.remove()
    assert optimizer.step() is None
    assert calls == [1]
