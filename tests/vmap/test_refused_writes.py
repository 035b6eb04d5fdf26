"""Writes that a mapping cannot do for each sample, in torch's words."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp, vmap

X = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def write(method, *others):
    """Write to a tensor that all samples share."""

    def function(x):
        shared = torch.ones(2)
        getattr(shared, method)(*[x if other is None else other for other in others])
        return shared

    return lambda: vmap(function)(X)


@pytest.mark.parametrize(
    ("method", "others", "named"),
    [
        ("mul_", (None,), "inplace arithmetic"),
        ("sub_", (None,), "inplace arithmetic"),
        ("copy_", (None,), "inplace arithmetic"),
        ("logical_and_", (None,), "inplace arithmetic"),
        ("index_add_", (0, torch.tensor([0, 1]), None), "index_add_"),
        ("scatter_add_", (0, torch.tensor([0, 1]), None), "scatter_add_"),
    ],
)
def test_a_rule_is_named_by_itself(method, others, named):
    message = (
        f"vmap: {named}(self, *extra_args) is not possible because there exists a Tensor `other` in "
        "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
        "`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of "
        f"{named}. If said operator is being called inside the PyTorch framework, please file a bug report "
        "instead."
    )
    with pytest.raises(RuntimeError) as caught:
        write(method, *others)()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("method", "others"),
    [
        ("pow_", (None,)),
        ("eq_", (None,)),
        ("fmod_", (None,)),
        ("lerp_", (None, 0.5)),
        ("addcmul_", (None, None)),
        ("clamp_", (None, None)),
        ("index_copy_", (0, torch.tensor([0, 1]), None)),
        ("scatter_", (0, torch.tensor([0, 1]), None)),
        ("masked_scatter_", (torch.tensor([True, True]), None)),
        ("hypot_", (None,)),
        ("xlogy_", (None,)),
        ("subtract_", (None,)),
    ],
)
def test_what_torch_has_no_rule_for_is_named_with_its_level(method, others):
    expected = f"vmap: aten::{method}(self, *extra_args) is not possible because there exists a Tensor"
    with pytest.raises(RuntimeError) as caught:
        write(method, *others)()
    assert str(caught.value).startswith(expected)
    assert "but `self` not being vmapped over at level 1. Please" in str(caught.value)


@pytest.mark.parametrize("method", ["add_", "atan2_", "copysign_"])
def test_some_see_a_shape_that_does_not_fit(method):
    message = r"^output with shape \[2\] doesn't match the broadcast shape \[3, 2\]$"
    with pytest.raises(RuntimeError, match=message):
        write(method, None)()


def test_levels_that_lack_room_are_counted_together():
    def inner(x):
        shared = torch.ones(2)
        shared.add_(x)
        return shared

    message = r"^output with shape \[2\] doesn't match the broadcast shape \[3, 4, 2\]$"
    with pytest.raises(RuntimeError, match=message):
        vmap(vmap(inner))(torch.ones(3, 4, 2))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda x, out: torch.add(x, x, out=out), "add.out"),
        (lambda x, out: torch.pow(x, x, out=out), "pow.Tensor_Tensor_out"),
        (lambda x, out: torch.eq(x, 1, out=out), "eq.Scalar_out"),
        (lambda x, out: torch.where(x > 0, x, x, out=out), "where.self_out"),
        (lambda x, out: torch.sum(x, 0, out=out[0]), "sum.IntList_out"),
    ],
)
def test_results_are_not_written_into_given_tensors(call, named):
    message = f"^Batching rule not implemented for aten::{named}; the fallback path doesn't work on out="
    with pytest.raises(RuntimeError, match=message):
        vmap(lambda x: call(x, torch.zeros(2)))(X)


def test_joined_results_are_not_written_into_given_tensors_either():
    message = r"^Batching rule not implemented for aten::cat.out. We could not generate a fallback.$"
    with pytest.raises(RuntimeError, match=message):
        vmap(lambda x: torch.cat([x, x], out=torch.empty(4)))(X)


def test_tangents_are_not_written_into_given_tensors():
    message = (
        "^Trying to use forward AD with sin_out that does not support it because it is an out= function$"
    )
    with pytest.raises(NotImplementedError, match=message):
        jvp(lambda x: torch.sin(x, out=torch.empty(2)), (X[0],), (X[1],))


@pytest.mark.parametrize(
    ("write", "named"),
    [
        (lambda c, x: c.fill_(2.0), "fill_.Scalar"),
        (lambda c, x: c.clamp_(x), "clamp_.Tensor"),
        (lambda c, x: c.clamp_(0.0), "clamp_"),
        (lambda c, x: c.lerp_(x, 0.5), "lerp_.Scalar"),
        (lambda c, x: c.masked_fill_(x > 0, 0.0), "masked_fill_.Scalar"),
        (lambda c, x: c.scatter_(0, torch.tensor([0]), x), "scatter_.src"),
        (lambda c, x: c.index_fill_(0, torch.tensor([0]), 1.0), "index_fill_.int_Scalar"),
        (lambda c, x: c.squeeze_(0), "squeeze_.dim"),
        (lambda c, x: c.random_(3), "random_.to"),
        (lambda c, x: c.detach_(), "detach_"),
        (lambda c, x: c.__setitem__(torch.tensor([True, False]), 1.0), "index_put_"),
        (lambda c, x: c.__setitem__(0, 1.0), "copy_"),
    ],
)
def test_a_write_to_a_captured_tensor_is_named_with_its_overload(write, named):
    captured = torch.ones(2)

    def function(x):
        write(captured, x)
        return x.sum()

    with pytest.raises(RuntimeError) as caught:
        grad(function)(X[0])
    assert f"attempted to call in-place operation (aten::{named}) that would mutate" in str(caught.value)


@pytest.mark.parametrize("look", [lambda x: x.sum().item(), lambda x: bool(x.sum()), float])
def test_numbers_of_samples_that_a_transform_follows_have_words_of_their_own(look):
    with pytest.raises(RuntimeError) as caught:
        vmap(grad(lambda x: x * len([look(x)])))(torch.tensor([1.0, 2.0]))
    assert str(caught.value).startswith("vmap: It looks like you're either (1) calling .item()")
    assert str(caught.value).endswith("/issues . For (3): please file an issue.")


def test_a_tensor_is_filled_with_as_many_numbers_of_each_sample_as_there_are():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.vmap(lambda x: torch.ones_like(x).fill_(x))(x).equal(x)
    with pytest.raises(RuntimeError, match=r"^fill_ only supports 0-dimension value tensor"):
        torch.vmap(lambda x: x.clone().fill_(torch.ones(3)))(x)
    with pytest.raises(RuntimeError, match=r"^fill_ only supports 0-dimension value tensor"):
        torch.vmap(lambda x: torch.fill(x, x))(x)
