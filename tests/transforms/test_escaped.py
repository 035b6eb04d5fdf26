"""Tensors that outlive the transform that they belong to."""

import copy

import pytest
import rushlight as torch
from rushlight.func import grad, jvp, vjp, vmap

X = torch.tensor([1.0, 2.0])


def escaped(run):
    """What a function keeps of its inside."""
    kept = []

    def function(x):
        kept.append(x * 2)
        return x.sum()

    run(function)
    return kept[0]


@pytest.mark.parametrize(
    "run",
    [lambda f: grad(f)(X), lambda f: vjp(f, X), lambda f: jvp(f, (X,), (X,))],
)
def test_one_of_a_derivative_shows_a_level_that_has_no_number(run):
    assert repr(escaped(run)) == "GradTrackingTensor(lvl=-2, value=\n    tensor([2., 4.])\n)"


def test_each_transform_it_escaped_from_is_shown():
    text = repr(escaped(lambda f: vmap(grad(f))(X)))
    assert text == (
        "GradTrackingTensor(lvl=-2, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n"
        "        tensor([2., 4.])\n    )\n)"
    )
    text = repr(escaped(lambda f: grad(lambda x: grad(f)(x).sum())(X)))
    assert text.count("GradTrackingTensor(lvl=-2") == 2


def test_what_a_transform_answers_did_not_escape():
    value, pull_back = vjp(lambda x: x * 2, X)
    answers = [value, *pull_back(X), grad(lambda x: x.sum())(X), *jvp(torch.sin, (X,), (X,))]
    aux = grad(lambda x: (x.sum(), x * 2), has_aux=True)(X)[1]
    inner = grad(lambda x: (grad(lambda y: (y**2).sum())(x)).sum())(X)
    assert all(repr(answer).startswith("tensor(") for answer in [*answers, aux, inner])


@pytest.mark.parametrize("run", [lambda f: grad(f)(X), lambda f: vjp(f, X), lambda f: jvp(f, (X,), (X,))])
def test_what_is_made_of_it_afterwards_has_no_history(run):
    tensor = escaped(run)
    result = tensor + 1
    assert repr(result) == "tensor([3., 5.])"
    assert not result.requires_grad and result.grad_fn is None
    assert not tensor.clone().requires_grad


def test_one_of_a_derivative_cannot_be_differentiated():
    tensor = escaped(lambda f: grad(f)(X))
    assert tensor.requires_grad and tensor.grad_fn is not None
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad"):
        tensor.sum().backward()


def test_one_that_leads_out_of_its_transform_can_be():
    kept, leaf = [], torch.tensor([1.0, 2.0], requires_grad=True)

    def function(x):
        kept.append(x * 2)
        return x.sum()

    grad(function)(leaf)
    kept[0].sum().backward()
    assert leaf.grad.tolist() == [2.0, 2.0]


def test_a_leaf_made_inside_does_not_track_what_comes_out():
    assert not grad(lambda x: (torch.ones(2, requires_grad=True) * x).sum())(X).requires_grad


def test_a_function_that_pulls_back_goes_on():
    value, pull_back = vjp(lambda x: x.sin() * x, X)
    first, second = pull_back(torch.ones(2))[0], pull_back(torch.ones(2))[0]
    assert first.tolist() == second.tolist()
    assert (value + 1).grad_fn is None


@pytest.mark.parametrize(
    ("use", "part"),
    [
        (lambda x: x.sin(), "gen_vmap_plumbing"),
        (lambda x: x + 1, "gen_vmap_plumbing"),
        (lambda x: x.detach(), "gen_vmap_plumbing"),
        (lambda x: x.sum(), "boxed_reduction_batch_rule"),
        (lambda x: x.any(), "boxed_reduction_batch_rule"),
        (lambda x: x.argmax(), "boxed_reduction_batch_rule"),
        (lambda x: x.softmax(0), "boxed_reduction_batch_rule"),
        (lambda x: x.mul_(2), "gen_vmap_inplace_plumbing"),
        (lambda x: x.fill_(2), "boxed_tensor_inputs_batch_rule"),
    ],
)
def test_one_of_a_mapping_is_of_no_use(use, part):
    with pytest.raises(RuntimeError) as caught:
        use(escaped(lambda f: vmap(f)(torch.ones(3, 2))))
    assert str(caught.value) == (
        "Either your tensor may have escaped from inside a function being vmapped and this is a user error "
        "(see https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch "
        f"error in `{part}` Please file an issue if it looks like the latter"
    )


@pytest.mark.parametrize(
    "look", [lambda x: x.data_ptr(), copy.deepcopy, copy.copy, lambda x: x.untyped_storage()]
)
def test_what_is_inside_has_no_memory_to_show(look):
    kinds = {
        "TensorWrapper": lambda f: grad(f)(X),
        "BatchedTensorImpl": lambda f: vmap(f)(torch.ones(3, 2)),
    }
    for kind, run in kinds.items():

        def function(x):
            look(x)
            return x.sum()

        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            run(function)
        words = {
            f"Cannot access storage of {kind}",
            "Cannot access data pointer of Tensor that doesn't have storage",
        }
        assert str(caught.value) in words
