"""Writing to batched tensors in place, and random numbers while a function is mapped."""

import pytest
import rushlight as torch
from rushlight.func import vmap
from support import raises

X = torch.arange(6.0).reshape(3, 2)


def test_a_write_to_a_batched_tensor_reaches_every_sample():
    def write(x):
        y = x.clone()
        y.mul_(2).add_(torch.ones(2))
        y[0] = y[1]
        y[1].fill_(7)
        return y

    expected = torch.stack([torch.stack([row[1] * 2 + 1, torch.tensor(7.0)]) for row in X])
    torch.testing.assert_close(vmap(write)(X), expected)


def test_a_write_to_an_argument_is_seen_outside():
    x = X.clone()
    vmap(lambda row: row.add_(1))(x)
    torch.testing.assert_close(x, X + 1)


def test_changes_of_geometry_concern_the_sample():
    def change(x):
        y = x.clone()
        y.t_()
        y.unsqueeze_(0)
        return y

    assert vmap(change, in_dims=2)(torch.ones(2, 3, 4)).shape == (4, 1, 3, 2)


@pytest.mark.parametrize(
    ("func", "text"),
    [
        (
            lambda x: torch.zeros(2).copy_(x),
            "vmap: inplace arithmetic(self, *extra_args) is not possible because",
        ),
        (
            lambda x: torch.zeros(2).mul_(x),
            "vmap: inplace arithmetic(self, *extra_args) is not possible because",
        ),
        (lambda x: torch.zeros(2).fill_(x[0]), "vmap: fill_(self, *extra_args) is not possible because"),
        (
            lambda x: torch.zeros(2).index_add_(0, torch.tensor([0, 1]), x),
            "vmap: index_add_(self, *extra_args) is not possible because",
        ),
        (
            lambda x: torch.zeros(2).scatter_(0, torch.tensor([0, 1]), x),
            "vmap: aten::scatter_(self, *extra_args) is not possible because there exists a Tensor `other` in "
            "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
            "`self` not being vmapped over at level 1. Please try to use out-of-place operators instead of "
            "aten::scatter_.",
        ),
        (lambda x: torch.zeros(2).add_(x), "output with shape [2] doesn't match the broadcast shape [3, 2]"),
    ],
)
def test_what_all_samples_share_has_no_room_for_what_differs(func, text):
    with raises(RuntimeError, text):
        vmap(func)(X)


@pytest.mark.parametrize(
    "func",
    [
        lambda x: torch.rand(2),
        lambda x: torch.randn(2),
        lambda x: torch.randperm(4),
        lambda x: torch.randint(5, (2,)),
        lambda x: torch.rand_like(x),
        lambda x: x.bernoulli(),
        lambda x: x.clone().normal_(),
        lambda x: torch.dropout(x, 0.5, True),
    ],
)
def test_random_operations_are_refused_unless_the_caller_says_what_they_do(func):
    with raises(
        RuntimeError, "vmap: called random operation while in randomness error mode. Please either use the"
    ):
        vmap(func)(X / 10)


def test_different_randomness_gives_each_sample_its_own():
    drawn = vmap(lambda x: torch.rand(100), randomness="different")(X)
    assert drawn.shape == (3, 100) and not drawn[0].equal(drawn[1])
    torch.manual_seed(3)
    drawn = vmap(lambda x: torch.rand(4), randomness="different")(X)
    torch.manual_seed(3)
    assert drawn.equal(torch.rand(3, 4))


def test_same_randomness_gives_all_samples_one():
    drawn = vmap(lambda x: x * 0 + torch.rand(2), randomness="same")(X)
    assert drawn[0].equal(drawn[1]) and drawn[0].equal(drawn[2])
    written = vmap(lambda x: x.clone().uniform_(), randomness="same")(X)
    assert written[0].equal(written[1])
    order = vmap(lambda x: torch.randperm(20), randomness="same")(X)
    assert order[0].equal(order[1])


def test_nested_mappings_each_have_their_say():
    def draw(inner):
        return vmap(lambda y: torch.rand(()), randomness=inner)

    rows = vmap(draw("same"), randomness="different")(torch.ones(3, 4))
    assert rows.unique().numel() == 3 if hasattr(rows, "unique") else rows[0, 0] == rows[0, 3]
    columns = vmap(draw("different"), randomness="same")(torch.ones(3, 4))
    assert columns[0].equal(columns[2]) and columns[0, 0] != columns[0, 1]


def test_chunks_of_the_same_randomness_draw_the_same():
    drawn = vmap(lambda x: torch.rand(3), randomness="same", chunk_size=1)(X)
    assert drawn[0].equal(drawn[2])


@pytest.mark.parametrize(
    ("func", "randomness", "text"),
    [
        (
            lambda x: torch.zeros(2).normal_(),
            "different",
            "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
            "randomness. If this is necessary for your usage, please file an issue with functorch.",
        ),
        (
            lambda x: torch.bernoulli(x),
            "same",
            "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
            "functorch",
        ),
    ],
)
def test_impossible_randomness_is_refused(func, randomness, text):
    with raises(RuntimeError, text):
        vmap(func, randomness=randomness)(X / 10)
