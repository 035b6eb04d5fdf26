"""`func.vmap`: functions mapped over samples, all of which are computed at once."""

import functools
from collections import OrderedDict

import pytest
import rushlight as torch
from rushlight.func import vmap
from support import looped, numbers, raises


def test_it_is_known_under_two_names():
    assert torch.vmap is vmap


@pytest.mark.parametrize(
    "func",
    [
        lambda x: x * 2 + 1,
        lambda x: x.sin().sum(),
        lambda x: x.softmax(0).cumsum(1),
        lambda x: x.amax(1) - x.mean(0, keepdim=True).sum(),
        lambda x: x.t().reshape(-1)[1:],
        lambda x: torch.cat([x, torch.ones(1, 3)]),
        lambda x: torch.stack([x, x + 1], 1),
        lambda x: torch.where(x > 0, x, torch.zeros(())),
        lambda x: x @ numbers(3, 4),
        lambda x: numbers(5, 2) @ x,
        lambda x: x[:, [0, 2]],
        lambda x: x[torch.tensor([1, 0]), torch.tensor([2, 2])],
        lambda x: x.var(0) + x.norm() + x.prod(),
        lambda x: x.flip(0).roll(1, 1).tril(),
        lambda x: x.repeat(2, 1, 2),
        lambda x: x.argmax(1),
        lambda x: (x > 0).any(0),
        lambda x: x.clamp(min=-0.5),
        lambda x: x.to(torch.float64).sort(1)[0] if hasattr(x, "sort") else x.to(torch.float64),
        lambda x: x.index_select(1, torch.tensor([2, 0])),
        lambda x: x.gather(1, torch.tensor([[0], [2]])),
        lambda x: torch.zeros_like(x).copy_(x[0]),
        lambda x: x.new_zeros(2, 3).add_(x),
        lambda x: x.expand(4, 2, 3).permute(2, 0, 1).unsqueeze(1).flatten(0, 1),
        lambda x: x.logsumexp(1) + x.max(1)[0] + x.min(1).values,
    ],
)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_mapping_is_calling_for_each_sample(func, dim):
    x = numbers(4, 2, 3).movedim(0, dim)
    torch.testing.assert_close(vmap(func, in_dims=dim)(x), looped(func, numbers(4, 2, 3)))


@pytest.mark.parametrize(
    ("func", "shapes"),
    [
        (torch.dot, [(4,), (4,)]),
        (torch.mv, [(2, 4), (4,)]),
        (torch.mm, [(2, 4), (4, 3)]),
        (torch.matmul, [(2, 4), (4,)]),
        (torch.matmul, [(5, 2, 4), (4, 3)]),
        (torch.add, [(2, 3), (3,)]),
        (torch.mul, [(), (2, 3)]),
        (torch.outer, [(2,), (3,)]),
        (torch.addmm, [(3,), (2, 4), (4, 3)]),
        (torch.nn.functional.linear, [(2, 4), (3, 4), (3,)]),
        (torch.nn.functional.mse_loss, [(2, 3), (2, 3)]),
        (torch.maximum, [(2, 1), (3,)]),
    ],
)
def test_functions_of_several_arguments_map_any_of_them(func, shapes):
    args = [numbers(3, *shape) for shape in shapes]
    torch.testing.assert_close(vmap(func)(*args), looped(func, *args))
    for mapped in range(len(args)):
        dims = tuple(0 if index == mapped else None for index in range(len(args)))
        given = [arg if index == mapped else arg[0] for index, arg in enumerate(args)]
        samples = [arg if index == mapped else arg[:1].expand(*arg.shape) for index, arg in enumerate(args)]
        torch.testing.assert_close(vmap(func, in_dims=dims)(*given), looped(func, *samples))


def test_indices_may_differ_between_samples():
    x, i = numbers(3, 4), torch.tensor([1, -1, 0])
    torch.testing.assert_close(vmap(lambda x, i: x[i])(x, i), looped(lambda x, i: x[i], x, i))
    torch.testing.assert_close(vmap(lambda i: x[:, i])(torch.tensor([1, 3])), x[:, [1, 3]].T)
    rows = torch.tensor([[0, 1], [2, 2]])
    torch.testing.assert_close(vmap(lambda i: x[i])(rows), x[rows])
    torch.testing.assert_close(vmap(lambda i: x.index_select(0, i))(rows), x[rows])


def test_results_lie_where_out_dims_say():
    x = numbers(3, 2, 4)
    first, second = vmap(lambda x: (x, x.sum()), out_dims=(2, 0))(x)
    assert first.shape == (2, 4, 3) and second.shape == (3,)
    assert vmap(lambda x: x, out_dims=-1)(x).shape == (2, 4, 3)
    assert vmap(lambda x: {"a": x}, out_dims=1)(x)["a"].shape == (2, 3, 4)
    assert vmap(lambda x: torch.ones(2))(x).shape == (3, 2)
    assert vmap(lambda x: torch.ones(2), out_dims=None)(x).shape == (2,)


def test_arguments_may_be_nested_and_shared():
    x, y = numbers(3, 2), numbers(2)
    result = vmap(lambda pair, more: pair[0] + pair[1]["k"] * more, in_dims=((0, {"k": None}), None))(
        (x, {"k": y}), 2
    )
    torch.testing.assert_close(result, x + y * 2)
    ordered = vmap(lambda d: d["a"] * 2)(OrderedDict(a=x))
    torch.testing.assert_close(ordered, x * 2)


def test_keyword_arguments_are_not_mapped():
    torch.testing.assert_close(
        vmap(lambda x, *, y: x + y)(numbers(3, 2), y=numbers(2)), numbers(3, 2) + numbers(2)
    )


def test_mappings_nest():
    x, y = numbers(2, 3), numbers(4, 3)
    table = vmap(lambda a: vmap(lambda b: torch.dot(a, b))(y))(x)
    torch.testing.assert_close(table, x @ y.T)
    assert vmap(vmap(lambda a: a.sum(), in_dims=1), in_dims=1)(numbers(2, 3, 4)).shape == (3, 4)


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 10])
def test_chunks_change_nothing(chunk_size):
    x = numbers(5, 3)
    whole = vmap(lambda x: (x * 2, x.sum()), out_dims=(1, 0))(x)
    chunks = vmap(lambda x: (x * 2, x.sum()), out_dims=(1, 0), chunk_size=chunk_size)(x)
    torch.testing.assert_close(chunks, whole)


def test_no_sample_gives_an_empty_result():
    assert vmap(lambda x: x.sin().sum())(torch.ones(0, 2)).shape == (0,)
    assert vmap(lambda x: x @ torch.ones(2, 3))(torch.ones(0, 4, 2)).shape == (0, 4, 3)


def test_a_mapped_function_keeps_its_name():
    def named(x):
        return x

    assert vmap(named).__name__ == "named"


def test_types_are_those_of_a_sample():
    assert vmap(lambda a: a + torch.ones(2))(torch.ones(3, dtype=torch.float64)).dtype is torch.float32
    assert vmap(lambda a: a * torch.ones(2, dtype=torch.int32))(torch.ones(3)).dtype is torch.float32


def test_inside_a_tensor_looks_like_a_sample():
    def look(x):
        assert x.shape == (2, 3) and x.dim() == 2 and x.numel() == 6 and len(x) == 2
        assert x.is_leaf and not x.requires_grad and x.grad_fn is None
        assert x.dtype is torch.float32
        return x

    vmap(look, in_dims=1)(numbers(2, 5, 3).requires_grad_())


def test_inside_a_tensor_prints_all_samples():
    texts = []

    def look(x):
        texts.append(repr(x))
        return x

    vmap(look)(torch.ones(2, 1))
    assert texts == ["BatchedTensor(lvl=1, bdim=0, value=\n    tensor([[1.],\n            [1.]])\n)"]
    vmap(vmap(look))(torch.ones(1, 2))
    assert texts[1] == (
        "BatchedTensor(lvl=2, bdim=0, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n        tensor([[1., 1.]])\n    )\n)"
    )


def double(x):
    return x * 2


X = torch.ones(3, 2)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: vmap(double)(),
            ValueError,
            "vmap(double)(<inputs>): got no inputs. Maybe you forgot to add inputs",
        ),
        (
            lambda: vmap(double, in_dims=[0])(X),
            ValueError,
            "vmap(double, in_dims=[0], ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
            "matching the structure of inputs, got: <class 'list'>.",
        ),
        (
            lambda: vmap(double, in_dims=(0, 0))(X),
            ValueError,
            "vmap(double, in_dims=(0, 0), ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. "
            "in_dims has structure TreeSpec(tuple, None, [*,\n  *]) but inputs has structure TreeSpec(tuple, None, [*]).",
        ),
        (
            lambda: vmap(double, in_dims=("a",))(X),
            ValueError,
            "vmap(double, in_dims=('a',), ...)(<inputs>): Got in_dim=a for an input but in_dim must be either an "
            "integer dimension or None.",
        ),
        (
            lambda: vmap(double)(3),
            ValueError,
            "vmap(double, in_dims=0, ...)(<inputs>): Got in_dim=0 for an input but the input is of type "
            "<class 'int'>. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim",
        ),
        (
            lambda: vmap(double, in_dims=2)(X),
            ValueError,
            "vmap(double, in_dims=2, ...)(<inputs>): Got in_dim=2 for some input, but that input is a Tensor of "
            "dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2.",
        ),
        (
            lambda: vmap(double, in_dims=None)(X),
            ValueError,
            "vmap(double, in_dims=None, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple",
        ),
        (
            lambda: vmap(double, in_dims=(None,))(X),
            ValueError,
            "vmap: Expected at least one Tensor to vmap over",
        ),
        (
            lambda: vmap(torch.add)(X, torch.ones(4, 2)),
            ValueError,
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [3, 4] for the "
            "mapped dimension",
        ),
        (
            lambda: vmap(double, out_dims=(0, 0))(X),
            ValueError,
            "vmap(double, ..., out_dims=(0, 0))(<inputs>): out_dims is not compatible with the structure of `outputs`. "
            "out_dims has structure TreeSpec(tuple, None, [*,\n  *]) but outputs has structure *.",
        ),
        (
            lambda: vmap(double, out_dims="a")(X),
            ValueError,
            "vmap(double, ..., out_dims=a): `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear.",
        ),
        (
            lambda: vmap(double, out_dims=None)(X),
            ValueError,
            "vmap(double, ...): `double` can not return a BatchedTensor when out_dim is None",
        ),
        (
            lambda: vmap(functools.partial(lambda a, b: 3, 1))(X),
            ValueError,
            "vmap(functools.partial(<lambda>, ...), ...): `functools.partial(<lambda>, ...)` must only return Tensors, "
            "got type <class 'int'>. Did you mean to set out_dims= to None for output?",
        ),
        (
            lambda: vmap(double, out_dims=5)(X),
            IndexError,
            "Dimension out of range (expected to be in range of [-2, 1], but got 5)",
        ),
        (
            lambda: vmap(double, chunk_size=0),
            ValueError,
            "vmap: chunk_size should be None or greater than 0. (got 0)",
        ),
        (
            lambda: vmap(double, randomness="none"),
            RuntimeError,
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got none",
        ),
    ],
)
def test_a_wrong_call_says_what_is_wrong(call, kind, text):
    with raises(kind, text):
        call()


@pytest.mark.parametrize(
    ("func", "text"),
    [
        (
            lambda x: x.sum().item(),
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over",
        ),
        (
            lambda x: float(x.sum()),
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over",
        ),
        (
            lambda x: x if x.sum() > 0 else -x,
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't "
            "support that yet, please file an issue at https://github.com/pytorch/pytorch/issues .",
        ),
        (lambda x: x.tolist(), "Cannot access data pointer of Tensor that doesn't have storage"),
        (lambda x: x.numpy(), "Cannot access data pointer of Tensor that doesn't have storage"),
        (
            lambda x: x.nonzero(),
            "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
            "aten::nonzero. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.",
        ),
        (
            lambda x: x[x > 0],
            "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
            "indexing with a boolean mask.",
        ),
        (
            lambda x: torch.masked_select(x, x > 0),
            "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because",
        ),
        (
            lambda x: torch.equal(x, x),
            "Batching rule not implemented for aten::equal. We could not generate a fallback.",
        ),
        (
            lambda x: torch.allclose(x, x),
            "vmap over torch.allclose isn't supported yet. Please file an issue at",
        ),
        (lambda x: x.data, "accessing `data` under vmap transform is not allowed"),
        (
            lambda x: x.sum().backward(),
            "backward() called inside a functorch transform. This is not supported",
        ),
        (
            lambda x: x.requires_grad_(),
            "You are attempting to call Tensor.requires_grad_() (or perhaps using",
        ),
    ],
)
def test_what_would_differ_between_samples_is_refused(func, text):
    with raises(RuntimeError, text):
        vmap(func)(numbers(3, 2))


def test_a_tensor_that_escaped_is_of_no_use():
    kept = []

    def keep(x):
        kept.append(x)
        return x

    vmap(keep)(X)
    with raises(RuntimeError, "Either your tensor may have escaped from inside a function being vmapped"):
        kept[0] + 1


def test_an_error_inside_closes_the_mapping():
    def fail(x):
        raise KeyError("x")

    with pytest.raises(KeyError):
        vmap(fail)(X)
    torch.rand(2)
    X.clone().requires_grad_()


def test_chunks_cannot_be_joined_nowhere():
    with raises(TypeError, "cat(): argument 'dim' must be int, not NoneType"):
        vmap(lambda x: torch.ones(2), out_dims=None, chunk_size=2)(torch.ones(3, 2))


def test_tensors_without_numbers_are_made_while_samples_are_there():
    kept = []
    torch.func.vmap(lambda x: kept.append(x) or x)(torch.ones(2))
    assert torch.ones(2).to("meta").device.type == "meta"
    kept.clear()
