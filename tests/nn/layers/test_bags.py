"""`torch.embedding_bag`: rows of a table in bags, and what backward goes by."""

import math

import pytest
import rushlight as torch
import rushlight.nn.functional as F
from rushlight.autograd import gradcheck
from support import raises

TABLE = torch.arange(12.0).reshape(6, 2)
NUMBERS = torch.tensor([0, 2, 1, 4])
STARTS = torch.tensor([0, 2])


@pytest.mark.parametrize(
    ("mode", "expected", "rest"),
    [
        (0, [[4.0, 6.0], [10.0, 12.0]], [[], [0, 0], [0, 0]]),
        (1, [[2.0, 3.0], [5.0, 6.0]], [[0, 0, 1, 1], [2, 2], [2, 2]]),
        (2, [[4.0, 5.0], [8.0, 9.0]], [[0, 0, 1, 1], [2, 2], [[2, 2], [4, 4]]]),
    ],
)
def test_bags_come_with_where_they_are_from(mode, expected, rest):
    found = torch.embedding_bag(TABLE, NUMBERS, STARTS, False, mode)
    assert type(found) is tuple and found[0].tolist() == expected
    assert [part.tolist() for part in found[1:]] == rest
    found = torch.embedding_bag(TABLE, NUMBERS.int(), STARTS.int(), False, mode)
    assert {part.dtype for part in found[1:]} == {torch.int32}


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding", [None, 2])
def test_rows_get_gradients(mode, padding):
    table = TABLE.double().requires_grad_()

    def function(table):
        return torch.embedding_bag(table, NUMBERS, STARTS, False, mode, False, None, False, padding)[0]

    assert gradcheck(function, table)


def test_shares_get_gradients():
    table, shares = TABLE.clone().requires_grad_(), torch.ones(4, requires_grad=True)
    found = torch.embedding_bag(table, NUMBERS, STARTS, per_sample_weights=shares)
    assert found[0].grad_fn.name() == "EmbeddingBagBackward0" and not found[1].requires_grad
    found[0].sum().backward()
    assert shares.grad.tolist() == [1.0, 9.0, 5.0, 17.0]


def test_no_bags_are_no_rows():
    found = torch.embedding_bag(TABLE, NUMBERS, STARTS[:0])
    assert found[0].shape == (0, 2)
    found = torch.embedding_bag(TABLE, NUMBERS[:0], torch.tensor([0, 0]))
    assert found[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("kind", "text", "call"),
    [
        (
            RuntimeError,
            "Index 1 of input takes value 7 which is not in the valid range [0, 6)",
            lambda: torch.embedding_bag(TABLE, torch.tensor([1, 7]), STARTS[:1]),
        ),
        (
            RuntimeError,
            "Index 1 of input takes value 7 which is not in the valid range [0, 6)",
            lambda: torch.nn.functional.embedding_bag(torch.tensor([1, 7]), TABLE, STARTS[:1]),
        ),
        (
            RuntimeError,
            "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be -1",
            lambda: torch.embedding_bag(TABLE, torch.tensor([1, -1]), STARTS[:1], False, 2),
        ),
        (
            RuntimeError,
            "embedding_bag: per_sample_weights only supported with mode='sum'",
            lambda: torch.embedding_bag(TABLE, NUMBERS, STARTS, mode=1, per_sample_weights=torch.ones(4)),
        ),
        (
            RuntimeError,
            "Expected per_sample_weights.value().numel() == indices.numel() to be true, but got false.",
            lambda: torch.embedding_bag(TABLE, NUMBERS, STARTS, per_sample_weights=torch.ones(3)),
        ),
        (
            RuntimeError,
            "`mode` must be sum, mean, or max.",
            lambda: torch.embedding_bag(TABLE, NUMBERS, STARTS, False, 5),
        ),
        (
            TypeError,
            "embedding_bag(): argument 'mode' must be int, not str",
            lambda: torch.embedding_bag(TABLE, NUMBERS, STARTS, mode="sum"),
        ),
        (
            RuntimeError,
            "weight has to be a 2D Tensor, but got Tensor of dimension 1",
            lambda: torch.embedding_bag(TABLE[0], NUMBERS, STARTS),
        ),
    ],
)
def test_calls_that_make_no_sense_are_refused(kind, text, call):
    with raises(kind, text):
        call()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_that_bags_have_the_type_of_the_table(mode, dtype):
    table = torch.ones(5, 2, dtype=dtype, requires_grad=True)
    found = torch.nn.functional.embedding_bag(torch.tensor([1, 2, 4]), table, torch.tensor([0, 1]), mode=mode)
    found.sum().backward()
    assert found.dtype == table.grad.dtype == dtype


def test_that_the_first_of_equals_has_all_of_the_gradient():
    table = torch.tensor([[1.0], [1.0], [0.0]], requires_grad=True)
    found = torch.nn.functional.embedding_bag(torch.tensor([[2, 1, 0, 1]]), table, mode="max")
    found.sum().backward()
    assert table.grad.tolist() == [[0], [1], [0]]


def test_the_greatest_of_bags_of_one_size_are_those_of_bags_with_ends():
    table = (torch.arange(60) * 37 % 11).reshape(10, 6).double()
    table[4, 2] = math.nan
    numbers = torch.tensor([[1, 2, 3, 1], [4, 4, 5, 9], [0, 0, 0, 0]])
    answers = []
    for given in ((numbers, None), (numbers.flatten(), torch.tensor([0, 4, 8]))):
        leaf = table.clone().requires_grad_()
        found = F.embedding_bag(given[0], leaf, given[1], mode="max")
        (found * torch.arange(18.0).reshape(3, 6)).sum().backward()
        answers.append((found.detach(), leaf.grad))
    for one, other in zip(*answers, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)
    assert F.embedding_bag(numbers[:0], table, mode="max").shape == (0, 6)
