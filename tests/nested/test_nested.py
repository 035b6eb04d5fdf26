"""Nested tensors: parts of several sizes as one, jagged and strided."""

import pytest
import rushlight as torch
from support import raises

nested, nn, F = torch.nested, torch.nn, torch.nn.functional
LAYOUTS = [torch.jagged, torch.strided]
# What torch computes of jagged tensors only.
STRIDED_TOO = [torch.jagged, pytest.param(torch.strided, marks=pytest.mark.own)]
a, b = torch.arange(6.0).view(2, 3), torch.arange(9.0).view(3, 3).sin()


def made(layout, **options):
    return nested.nested_tensor([a, b], layout=layout, **options)


@pytest.mark.parametrize("layout", STRIDED_TOO)
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1, lambda x: 2 - x, lambda x: x * x, lambda x: x.sin().exp(), lambda x: -x, lambda x: x.softmax(-1),
        lambda x: F.relu(x), lambda x: F.gelu(x), lambda x: F.linear(x, b[:2]), lambda x: x > 1, lambda x: x / torch.ones(3),
        lambda x: F.layer_norm(x, (3,), torch.ones(3), torch.zeros(3)), lambda x: x.clone().detach(), lambda x: x.double(), lambda x: x.clamp(0, 1),
    ],
)  # fmt: skip
def test_functions_are_those_of_the_parts(layout, function):
    found = function(made(layout))
    assert found.is_nested and found.layout is layout and len(found) == 2
    for one, other in zip(found.unbind(), (a, b), strict=True):
        torch.testing.assert_close(one, function(other))


@pytest.mark.own  # torch reads another size of what is to be padded where a tensor is jagged
@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_are_read_and_padded(layout):
    x = made(layout)
    assert x.dim() == 3 and x.size(0) == 2 and x.size(2) == 3 and x.numel() == 15
    assert x[1].equal(b) and x[0, 1].equal(a[1]) and [one.shape[0] for one in x] == [2, 3]
    padded = nested.to_padded_tensor(x, -1.0)
    assert padded[0, :2].equal(a) and padded[1].equal(b) and bool((padded[0, 2] == -1).all())
    assert x.to_padded_tensor(0.0, (2, 4, 5)).shape == (2, 4, 5)
    with raises(
        RuntimeError,
        "Value in output_size is less than NestedTensor padded size. Truncation is not supported.",
    ):
        x.to_padded_tensor(0.0, (2, 2, 3))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_reach_a_leaf_and_the_tensors_it_was_made_of(layout):
    x = made(layout, requires_grad=True)
    assert x.requires_grad and x.is_leaf and x.grad is None
    (x * x).to_padded_tensor(0.0).sum().backward()
    assert x.grad.is_nested and x.grad[0].equal(2 * a) and x.grad[1].equal(2 * b)
    parts = [a.clone().requires_grad_(), b.clone().requires_grad_()]
    nested.as_nested_tensor(parts, layout=layout).sin().to_padded_tensor(0.0).sum().backward()
    assert parts[0].grad.equal(a.cos()) and parts[1].grad.equal(b.cos())


@pytest.mark.own  # torch asks for a driver of another device here
@pytest.mark.parametrize("layout", LAYOUTS)
def test_attention_is_that_of_each_part(layout):
    torch.manual_seed(0)
    project = nn.Linear(3, 12)
    x = made(layout)
    heads = [one.unflatten(-1, (2, 2)).transpose(1, 2) for one in project(x).chunk(3, -1)]
    found = F.scaled_dot_product_attention(*heads).transpose(1, 2)
    for one, part in zip(found.unbind(), (a, b), strict=True):
        single = [head.unflatten(-1, (2, 2)).transpose(0, 1) for head in project(part).chunk(3, -1)]
        wanted = F.scaled_dot_product_attention(*(head[None] for head in single))[0].transpose(0, 1)
        torch.testing.assert_close(one, wanted)


def test_a_jagged_tensor_has_values_and_offsets():
    x = made(torch.jagged)
    assert x.offsets().tolist() == [0, 2, 5] and x.values().equal(torch.cat([a, b])) and x.lengths() is None
    assert x.shape[1] == x.shape[1] and str(x.shape).startswith("torch.Size([2, j")
    assert x.sum(1).equal(torch.stack([a.sum(0), b.sum(0)])) and x.sum().equal(torch.cat([a, b]).sum())
    assert x.view(2, -1, 3, 1).unbind()[0].shape == (2, 3, 1)
    assert x.view(2, x.size(1), 3, 1).transpose(1, 2).unbind()[1].shape == (3, 3, 1)
    joined = torch.cat([x, 2 * x], -1)
    assert joined.offsets() is x.offsets() and joined[0].equal(torch.cat([a, 2 * a], 1))
    other = nested.nested_tensor_from_jagged(torch.arange(4.0), torch.tensor([0, 1, 4]), torch.tensor([1, 2]))
    assert [one.tolist() for one in other.unbind()] == [[0.0], [1.0, 2.0]]
    words = nested.nested_tensor([torch.tensor([1]), torch.tensor([0, 1])], layout=torch.jagged)
    assert F.embedding(words, a)[1].equal(a)


def test_stretches_and_selections_are_nested():
    rows = torch.arange(20.0).view(2, 5, 2)
    x = nested.narrow(rows, 1, torch.tensor([0, 1]), torch.tensor([2, 3]), layout=torch.jagged)
    assert x[0].equal(rows[0, :2]) and x[1].equal(rows[1, 1:4])
    y = nested.masked_select(torch.arange(4.0).view(2, 2), torch.tensor([[True, False], [True, True]]))
    assert y.offsets().tolist() == [0, 1, 3] and y.values().tolist() == [0.0, 2.0, 3.0]


def test_what_cannot_be_is_refused():
    with raises(
        TypeError, "Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor"
    ):
        nested.nested_tensor(5)
    with raises(
        RuntimeError, "Cannot represent given tensor list as a nested tensor with the jagged layout."
    ):
        nested.nested_tensor([a, b[:, :2]], layout=torch.jagged)
    with raises(RuntimeError, "Given dimension 1 is irregular and does not have a size."):
        made(torch.strided).size(1)
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        made(torch.jagged, requires_grad=True).backward()


@pytest.mark.own
def test_functions_that_are_not_there_are_named():
    with raises(NotImplementedError, "aten.cumprod.default is not computed of nested tensors"):
        made(torch.jagged).cumprod(1)


def test_shapes_are_equal_where_the_same_tensor_says_how_long_parts_are():
    values, offsets, lengths = torch.arange(6.0).view(3, 2), torch.tensor([0, 2, 3]), torch.tensor([1, 1])
    made = torch.nested.nested_tensor_from_jagged
    x = made(values, offsets)
    assert x.shape == made(values + 1, offsets).shape
    assert x.shape != made(values, offsets.clone()).shape
    assert x.shape != made(values, offsets, lengths).shape
    assert made(values, offsets, lengths).shape == made(values, offsets.clone(), lengths).shape
    assert made(values.t(), offsets, jagged_dim=2).unbind()[0].shape == (2, 2)


def test_inner_functions_of_jagged_tensors():
    from rushlight.nested._internal import nested_tensor as inner
    from rushlight.nested._internal.ops import extract_kwargs

    first = torch.arange(4.0).view(2, 2).requires_grad_()
    made, offsets = inner.jagged_from_list([first, torch.ones(1, 2)], None)
    assert offsets.tolist() == [0, 2, 3] and made.requires_grad
    again, same = inner.jagged_from_list([first.detach(), torch.ones(1, 2)], offsets)
    assert same is offsets and again.shape == made.shape
    x = torch.arange(12.0).view(2, 3, 2)
    rows, begins, lengths = inner.jagged_from_tensor_and_lengths(
        x, torch.tensor([0, 1]), torch.tensor([2, 1])
    )
    assert begins.tolist() == [0, 4, 5] and lengths.tolist() == [2, 1]
    assert [row.tolist() for row in rows.unbind()] == [[[0.0, 1.0], [2.0, 3.0]], [[8.0, 9.0]]]
    filled = inner.nested_from_padded(x, offsets)
    assert [row.tolist() for row in filled.unbind()] == [[[0.0, 1.0], [2.0, 3.0]], [[6.0, 7.0]]]
    assert inner.buffer_from_jagged(filled).sum().item() == 19.0
    assert sorted(extract_kwargs(filled)) == ["_metadata_cache", "_ragged_idx", "lengths", "offsets"]
    assert inner.NestedTensor(x[0], offsets).unbind()[1].tolist() == [[4.0, 5.0]]


def test_dimensions_behind_the_ragged_one_become_one():
    parts = [torch.arange(6.0).view(2, 3), torch.arange(12.0).view(4, 3)]
    nested = torch.nested.nested_tensor(parts, layout=torch.jagged)
    apart = nested.unflatten(-1, [3, 1])
    assert [part.tolist() for part in apart.flatten(-2).unbind()] == [part.tolist() for part in parts]
    heads = nested.unflatten(-1, [3, 1]).transpose(1, 2)
    assert heads.transpose(1, 2).flatten(-2).shape == nested.shape
    assert f"{nested}" == str(nested)
    with raises(RuntimeError, "flatten(): not supported for NestedTensor on ragged dim"):
        nested.flatten(1)
    with raises(RuntimeError, "flatten(): not supported for NestedTensor on dim=0"):
        nested.flatten(0, 1)
