"""Gradients of half types: their types, how they are added, tangents, mappings, modules, optimisers."""

import warnings

import pytest
import rushlight as torch
from support import raises

nn = torch.nn
HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])


def leaf(*values, dtype):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


class Casting(torch.autograd.Function):
    """The identity, whose gradients come in another type."""

    @staticmethod
    def forward(ctx, x, dtype):
        ctx.dtype = dtype
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        return gradient.to(ctx.dtype), None


@HALVES
def test_a_gradient_has_the_type_of_its_leaf(dtype):
    x, y = leaf(1.0, 2.0, dtype=dtype), torch.ones(2, requires_grad=True)
    z = x * y
    assert z.dtype is torch.float32
    z.sum().backward()
    assert x.grad.dtype is dtype and y.grad.dtype is torch.float32
    assert y.grad.tolist() == [1, 2]


@HALVES
def test_a_conversion_passes_gradients_back_in_the_type_that_was(dtype):
    x = torch.ones(2, requires_grad=True)
    y = x.to(dtype)
    assert type(y.grad_fn).__name__ == "ToCopyBackward0"
    y.backward(torch.full((2,), 0.1, dtype=dtype))
    assert x.grad.tolist() == torch.full((2,), 0.1).to(dtype).tolist()


@HALVES
def test_gradients_are_added_in_the_half_type(dtype):
    x = leaf(1.0, dtype=dtype)
    (x * 1024).backward(torch.ones(1, dtype=dtype))
    (x * 0.001).backward(torch.ones(1, dtype=dtype))
    assert x.grad.dtype is dtype and x.grad.item() == 1024


@HALVES
def test_gradients_of_broadcasting_are_summed_before_they_are_rounded(dtype):
    x = leaf(1.0, dtype=dtype)
    (x * torch.ones(4096, dtype=dtype)).sum().backward()
    assert x.grad.item() == 4096


@HALVES
def test_derivatives_of_derivatives_have_the_half_type_too(dtype):
    x = leaf(1.0, 2.0, 3.0, dtype=dtype)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [3, 12, 27] and second.tolist() == [6, 12, 18]
    assert second.dtype is dtype


@HALVES
def test_a_leaf_says_which_type_its_gradient_has(dtype):
    x = leaf(1.0, 2.0, dtype=dtype)
    assert x.grad_dtype is dtype
    x.grad_dtype = torch.float32
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2, 2]
    (x * 2).sum().backward()
    assert x.grad.tolist() == [4, 4] and x.grad.dtype is torch.float32
    with pytest.raises(RuntimeError):
        x.grad_dtype = dtype
    wide = torch.ones(2, requires_grad=True)
    wide.grad_dtype = dtype
    (wide * 3).sum().backward()
    assert wide.grad.dtype is dtype


@HALVES
def test_a_leaf_without_a_type_for_gradients_takes_them_as_they_come(dtype):
    for wide in (torch.float32, torch.float64):
        x = leaf(1.0, 2.0, dtype=dtype)
        x.grad_dtype = None
        assert x.grad_dtype is None
        Casting.apply(x, wide).sum().backward()
        assert x.grad.dtype is wide
        x.grad = torch.ones(2, dtype=torch.float16)
        assert x.grad.dtype is torch.float16


@HALVES
def test_what_arrives_first_says_the_type_where_the_leaf_does_not(dtype):
    x = leaf(1.0, 2.0, dtype=dtype)
    x.grad_dtype = None
    (Casting.apply(x, torch.float64).sum() + (x * 2).sum()).backward()
    assert x.grad.dtype is dtype and x.grad.tolist() == [3, 3]


@HALVES
def test_it_does_so_whatever_else_goes_on(dtype):
    x = leaf(1.0, 2.0, dtype=dtype)
    x.grad_dtype = None
    with torch.autograd.forward_ad.dual_level():
        (Casting.apply(x, torch.float64).sum() + (x * 2).sum()).backward()
    assert x.grad.dtype is dtype and x.grad.tolist() == [3, 3]


@HALVES
def test_another_type_of_gradient_is_assigned_to_no_leaf_that_names_one(dtype):
    x = leaf(1.0, 2.0, dtype=dtype)
    with pytest.raises(RuntimeError, match="grad"):
        x.grad = torch.ones(2)
    x.grad_dtype = torch.float32
    x.grad = torch.ones(2)
    assert x.grad.dtype is torch.float32


def test_only_leaves_say_the_type_of_gradients():
    y = leaf(1.0, dtype=torch.float16) * 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with raises(RuntimeError, "grad_dtype can only be set on leaf tensors."):
            y.grad_dtype = torch.float32
    assert "not a leaf Tensor is being accessed" in str(caught[0].message)
    with raises(RuntimeError, "grad_dtype can only be accessed on leaf tensors."):
        _ = y.grad_dtype


@HALVES
def test_a_hook_must_not_change_the_type(dtype):
    found = "torch.HalfTensor" if dtype is torch.float16 else "CPUBFloat16Type"
    x = leaf(1.0, dtype=dtype)
    x.register_hook(lambda gradient: gradient.float())
    text = f"hook '<lambda>' has changed the type of value (was {found} got torch.FloatTensor)"
    with raises(RuntimeError, text):
        (x * 2).sum().backward()


@HALVES
def test_what_a_function_returns_is_given_the_type_of_the_input(dtype):
    x = leaf(1.0, 2.0, dtype=dtype)
    Casting.apply(x, torch.float64).sum().backward()
    assert x.grad.dtype is dtype
    (gradient,) = torch.autograd.grad(x * 2, x, torch.ones(2, dtype=torch.float64))
    assert gradient.dtype is dtype


@HALVES
def test_writes_in_place_have_gradients(dtype):
    x = leaf(1.0, 2.0, dtype=dtype)
    y = x * 1
    y.mul_(3).add_(0.5)
    y[0] = 5.0
    y.sum().backward()
    assert y.dtype is dtype and x.grad.tolist() == [0, 3]


@HALVES
def test_nodes_show_what_they_saved_in_the_half_type(dtype):
    x, y = leaf(1.0, 2.0, dtype=dtype), leaf(3.0, 4.0, dtype=dtype)
    assert (x * y).grad_fn._saved_other.dtype is dtype
    assert x.exp().grad_fn._saved_result.dtype is dtype
    assert x.softmax(0).grad_fn._saved_result.dtype is dtype


@HALVES
def test_tangents_are_halves(dtype):
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.tensor([1.0, 2.0], dtype=dtype), torch.ones(2, dtype=dtype))
        primal, tangent = forward_ad.unpack_dual((x * x).sum())
        assert primal.dtype is dtype and tangent.dtype is dtype and tangent.item() == 6


@HALVES
def test_transforms_work_on_halves(dtype):
    x = torch.arange(6, dtype=dtype).reshape(2, 3)
    mapped = torch.vmap(lambda row: row.softmax(0) + row.mean())(x)
    assert torch.equal(mapped, torch.stack([row.softmax(0) + row.mean() for row in x]))
    assert torch.func.jacrev(lambda v: v * v)(x[1]).diagonal().tolist() == [6, 8, 10]
    assert torch.func.jacfwd(lambda v: v * v)(x[1]).dtype is dtype
    assert torch.func.hessian(lambda v: (v**3).sum())(x[0]).diagonal().tolist() == [0, 6, 12]
    assert torch.autograd.functional.vjp(torch.exp, x, torch.ones_like(x))[1].dtype is dtype


@HALVES
def test_gradcheck_warns_of_the_precision(dtype):
    with pytest.warns(UserWarning, match="is not a double precision floating point"):
        assert torch.autograd.gradcheck(lambda x: x * 2, leaf(1.0, 2.0, dtype=dtype), eps=0.25, atol=0.1)
    # The steps are too small for the type: nothing changes.
    failing = leaf(1.0, 2.0, dtype=dtype)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="numerical:tensor"):
        torch.autograd.gradcheck(lambda x: x * x, failing)


@HALVES
def test_a_module_becomes_one_of_halves_and_back(dtype):
    module = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    assert (module.half() if dtype is torch.float16 else module.bfloat16()) is module
    types = {name: value.dtype for name, value in module.state_dict().items()}
    assert types.pop("1.num_batches_tracked") is torch.int64
    assert set(types.values()) == {dtype}
    y = module(torch.randn(5, 3, dtype=dtype))
    assert y.dtype is dtype
    y.sum().backward()
    assert all(parameter.grad.dtype is dtype for parameter in module.parameters())
    wide = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    wide.load_state_dict(module.state_dict())
    assert wide[0].weight.dtype is torch.float32
    assert torch.equal(wide[0].weight, module[0].weight.float())
    assert module.float()[0].weight.dtype is torch.float32


@HALVES
@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_optimisers_step_halves(dtype, name):
    x = leaf(1.0, 2.0, -3.0, dtype=dtype)
    optimizer = getattr(torch.optim, name)([x], lr=0.1)
    before = x.detach().clone()
    for _ in range(3):
        optimizer.zero_grad()
        (x * x).sum().backward()
        optimizer.step()
    assert x.dtype is dtype and (x.abs() < before.abs()).all()


@HALVES
def test_a_checkpoint_computes_halves_again(dtype):
    x = leaf(1.0, 2.0, dtype=dtype)
    y = torch.utils.checkpoint.checkpoint(lambda x: x * x, x, use_reentrant=False)
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


@HALVES
def test_anomaly_mode_sees_halves_that_are_no_numbers(dtype):
    x = leaf(-1.0, dtype=dtype)
    with warnings.catch_warnings(), raises(RuntimeError, "Function 'SqrtBackward0' returned nan values"):
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            x.sqrt().sum().backward()
