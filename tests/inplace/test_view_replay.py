"""How views find their history after a write: in one step, or by doing again what made them."""

import rushlight as torch


def written(*, replayed):
    with torch.autograd._force_original_view_tracking(replayed):
        x = torch.arange(6.0, requires_grad=True)
        base = x.clone()
        view = base.view(2, 3)[1]
        base.mul_(2)
        node = view.grad_fn
        view.exp().sum().backward()
    return node, x.grad


def test_in_one_step_it_is_strided():
    node, _ = written(replayed=False)
    assert node.name() == "AsStridedBackward0"


def test_what_made_a_view_is_done_again_where_that_is_asked_for():
    node, gradient = written(replayed=True)
    assert [node.name(), node.next_functions[0][0].name()] == ["SelectBackward0", "ViewBackward0"]
    assert torch.equal(gradient, written(replayed=False)[1])


def test_it_is_a_decorator_and_a_function_too():
    @torch.autograd._force_original_view_tracking(True)
    def inside():
        return torch.ones(2, requires_grad=True).clone()[0].add_(1).grad_fn.name()

    def outside():
        return torch.ones(2, requires_grad=True).clone()[0].add_(1).grad_fn.name()

    assert (inside(), outside()) == ("SelectBackward0", "AsStridedBackward0")
    switched = torch.autograd._force_original_view_tracking(True)
    assert outside() == "SelectBackward0"
    with switched:
        pass
    assert outside() == "AsStridedBackward0"
