"""Reductions of what a mask shows, and tensors that have a mask with them."""

import math

import pytest
import rushlight as torch
from support import raises

masked = torch.masked
x = torch.tensor([[0.5, 1.5, -2.0], [3.0, 4.0, 5.0]])
mask = torch.tensor([[True, False, True], [False, True, True]])


@pytest.mark.parametrize(
    "name", ["sum", "mean", "prod", "amax", "amin", "var", "std", "logsumexp", "norm", "median"]
)
def test_reductions_see_what_the_mask_shows(name):
    function = getattr(masked, name)
    extra = (2.0,) if name == "norm" else ()
    found = function(x, *extra, 1, mask=mask)
    for row, seen, one in zip(x, mask, found, strict=True):
        torch.testing.assert_close(one, function(row[seen], *extra, 0))


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"])
def test_normalisations_see_what_the_mask_shows(name):
    function = getattr(masked, name)
    extra = (2.0,) if name == "normalize" else ()
    found = function(x, *extra, 1, mask=mask)
    for row, seen, one in zip(x, mask, found, strict=True):
        torch.testing.assert_close(one[seen], function(row[seen], *extra, 0))


def test_rows_of_which_nothing_is_seen_have_the_neutral_element():
    none = torch.zeros(2, 3, dtype=torch.bool)
    assert masked.sum(x, 1, mask=none).tolist() == [0, 0] and masked.prod(x, 1, mask=none).tolist() == [1, 1]
    assert masked.amax(x, 1, mask=none).tolist() == [-float("inf")] * 2
    assert bool(masked.mean(x, 1, mask=none).isnan().all()) and bool(
        masked.var(x, 1, mask=none).isnan().all()
    )


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "amax", "var", "std", "logsumexp", "softmax"])
def test_gradients_reach_what_is_seen(name):
    leaf = x.double().requires_grad_()
    function = lambda values: getattr(masked, name)(values, 1, mask=mask)  # noqa: E731
    assert torch.autograd.gradcheck(function, leaf)
    weights = torch.arange(1.0, 4.0, dtype=torch.float64) if name == "softmax" else 1.0
    (gradient,) = torch.autograd.grad((function(leaf) * weights).sum(), leaf)
    assert bool((gradient[~mask] == 0).all()) and bool((gradient[mask] != 0).any())


def test_a_masked_tensor_shows_its_mask():
    one = masked.masked_tensor(torch.arange(6.0).view(2, 3), mask)
    assert (
        repr(one)
        == "MaskedTensor(\n  [\n    [  0.0000,       --,   2.0000],\n    [      --,   4.0000,   5.0000]\n  ]\n)"
    )
    assert (
        repr(one.sum(1)) == "MaskedTensor(\n  [  2.0000,   9.0000]\n)"
        and repr(one.sum()) == "MaskedTensor( 11.0000, True)"
    )
    assert (
        masked.is_masked_tensor(one + one)
        and (one * 2).get_data()[1, 1] == 8
        and (one * 2).get_mask().equal(mask)
    )
    assert one.to_tensor(-1.0)[0].tolist() == [0, -1, 2] and one[0].get_mask().tolist() == [True, False, True]
    with raises(
        ValueError, "Input masks must match. If you need support for this, please open an issue on Github."
    ):
        one + masked.masked_tensor(x, ~mask)


@pytest.mark.own  # torch compares no masked tensors
def test_gradients_of_a_masked_tensor_have_its_mask():
    one = masked.masked_tensor(x, mask, requires_grad=True)
    (one * one).sum().backward()
    assert one.grad.get_mask().equal(mask) and one.grad.to_tensor(0.0).equal((2 * x).masked_fill(~mask, 0.0))
    plain = x.clone().requires_grad_()
    masked.as_masked_tensor(plain * 3, mask).mean().to_tensor(0.0).backward()
    assert plain.grad.equal(mask * torch.tensor(3.0) / 4)


def test_what_does_not_fit_is_refused():
    with raises(TypeError, "mask must have dtype bool."):
        masked.masked_tensor(x, mask.float())
    with raises(ValueError, "data.dim() must equal mask.dim()"):
        masked.masked_tensor(x, mask[0])
    with raises(ValueError, "data.size() must equal mask.size()"):
        masked.masked_tensor(x, mask[:1])


@pytest.mark.parametrize(
    ("name", "dtype", "identity"),
    [
        ("sum", torch.int32, 0),
        ("cumprod", torch.float32, 1.0),
        ("amax", torch.float32, -math.inf),
        ("amax", torch.int8, -128),
        ("argmin", torch.uint8, 255),
        ("logsumexp", torch.float64, -math.inf),
        ("mean", torch.float32, None),
    ],
)
def test_what_changes_nothing_in_a_reduction_has_a_value(name, dtype, identity):
    found = torch.masked._reduction_identity(name, torch.ones(1, dtype=dtype))
    assert found is identity if identity is None else (found.item() == identity and found.dtype == dtype)


def test_masks_of_what_is_given_and_of_what_is_returned():
    x, mask = torch.ones(2, 3), torch.tensor([True, False, True])
    assert torch.masked._canonical_dim((-1, 0), 3) == (0, 2)
    assert torch.equal(torch.masked._input_mask(x, mask=mask), mask.expand(2, 3))
    assert torch.masked._output_mask(torch.masked.sum, x, 0, mask=mask).tolist() == [True, False, True]
    assert torch.masked._output_mask(torch.masked.softmax, x, 0, mask=mask).shape == (2, 3)
    combined = torch.masked._combine_input_and_mask(torch.masked.amax, x, mask)
    assert combined.tolist() == [[1.0, -math.inf, 1.0]] * 2
    with pytest.raises(ValueError, match="_input_mask requires explicit mask"):
        torch.masked._input_mask(x)
    with pytest.raises(NotImplementedError, match=r"identity of amin on torch.bool input"):
        torch.masked._reduction_identity("amin", torch.ones(1, dtype=torch.bool))


def test_logarithms_of_sums_have_the_type_of_the_elements():
    x = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.int32)
    found = torch.masked.logsumexp(x, 1)
    assert found.dtype is torch.int32 and found.tolist() == [3, 6]
    assert torch.masked.logsumexp(x, 1, dtype=torch.float64).dtype is torch.float64
