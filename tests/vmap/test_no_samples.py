"""Sizes that are left open where many samples, or no samples, stand behind a tensor; dual tensors of samples."""

import re

import pytest
import rushlight as torch
from rushlight.autograd import forward_ad

vmap = torch.func.vmap


@pytest.mark.own
@pytest.mark.parametrize(
    ("reshape", "shape"),
    [
        (lambda x: x.view(-1), (0, 3)),
        (lambda x: x.reshape(-1), (0, 3)),
        (lambda x: x.reshape(1, -1), (0, 1, 3)),
        (lambda x: x.ravel(), (0, 3)),
    ],
)
def test_of_no_samples_a_size_that_is_left_open_is_that_of_each(reshape, shape):
    assert vmap(reshape)(torch.zeros(0, 3)).shape == shape
    assert vmap(reshape, in_dims=1)(torch.zeros(3, 0)).shape == shape


def test_of_no_samples_dimensions_are_still_flattened():
    assert vmap(torch.flatten)(torch.zeros(0, 2, 3)).shape == (0, 6)
    assert vmap(lambda x: x.unflatten(0, (-1, 1)))(torch.zeros(0, 3)).shape == (0, 3, 1)
    assert vmap(lambda x: x.view(3))(torch.zeros(0, 3)).shape == (0, 3)


def test_an_empty_dimension_does_not_tell_an_open_size():
    text = (
        "unflatten got an unexpected error:\ncannot reshape tensor of 0 elements into shape [-1, 0] because the "
        "unspecified dimension size -1 can be any value and is ambiguous"
    )
    with pytest.raises(RuntimeError, match=re.escape(text)):
        torch.zeros(0, 3).unflatten(0, (-1, 0))


def test_a_new_dimension_of_a_sample_may_stay_as_it_is():
    assert vmap(lambda x: x.expand(2, -1))(torch.zeros(3)).shape == (3, 2, 1)
    assert vmap(lambda x: x.expand(-1, -1))(torch.zeros(3, 4)).shape == (3, 1, 4)
    with pytest.raises(RuntimeError, match="isn't allowed in a leading, non-existing dimension 0"):
        torch.zeros(3).expand(-1, 3)


REFUSAL = r"Batching rule not implemented for aten::{}; the fallback path doesn't work on out= or view ops\."


def test_samples_are_not_made_dual():
    def slope(x, tangent):
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(forward_ad.make_dual(x, tangent) ** 2).tangent

    x = torch.arange(3.0)
    for in_dims in (0, (0, None), (None, 0)):
        sample = [x if dim == 0 else x[0] for dim in (in_dims if isinstance(in_dims, tuple) else (0, 0))]
        with pytest.raises(RuntimeError, match=REFUSAL.format("_make_dual")):
            vmap(slope, in_dims=in_dims)(*sample)


def test_dual_samples_are_not_unpacked():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.arange(3.0), torch.ones(3))
        with pytest.raises(RuntimeError, match=REFUSAL.format("_unpack_dual")):
            vmap(lambda x: forward_ad.unpack_dual(x**2).tangent)(dual)
        assert forward_ad.unpack_dual(vmap(lambda x: x**2)(dual)).tangent.tolist() == [0, 2, 4]


def test_a_transform_of_samples_makes_its_own_duals():
    x = torch.arange(3.0)
    assert vmap(lambda x: torch.func.jvp(torch.square, (x,), (torch.ones_like(x),))[1])(x).tolist() == [
        0,
        2,
        4,
    ]
