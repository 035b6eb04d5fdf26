"""What is drawn like a mapped tensor: in its order, for each sample or once for all."""

import pytest
import rushlight as torch
from rushlight.func import vmap
from support import raises

X = torch.linspace(0.1, 0.9, 24).view(3, 4, 2)
SAME = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
    "functorch"
)


def drawn(function, *arguments):
    torch.manual_seed(0)
    return function(*arguments)


@pytest.mark.parametrize("function", [torch.rand_like, torch.randn_like, lambda x: torch.randint_like(x, 9)])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_each_sample_draws_what_all_together_would(function, dim):
    mapped = drawn(vmap(function, in_dims=dim, randomness="different"), X)
    assert torch.equal(mapped, drawn(function, X.movedim(dim, 0)))


def test_counts_are_drawn_for_each_sample():
    counts = torch.full((3, 4, 2), 5.0)
    mapped = vmap(torch.binomial, randomness="different")
    assert torch.equal(drawn(mapped, counts, X), drawn(torch.binomial, counts, X))


@pytest.mark.parametrize(
    "function", [lambda x: torch.bernoulli(x, 0.5), lambda x: torch.binomial(torch.ones(4, 2), x)]
)
def test_the_same_numbers_are_not_drawn_for_samples_that_differ(function):
    with raises(RuntimeError, SAME):
        vmap(function, randomness="same")(X)
    shared = vmap(lambda _: function(X[0]), randomness="same")(X)
    assert torch.equal(shared[0], shared[1])


def test_numbers_of_their_own_are_not_written_to_what_samples_share():
    text = (
        "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
        "randomness. If this is necessary for your usage, please file an issue with functorch."
    )
    with raises(RuntimeError, text):
        vmap(lambda x: torch.zeros(4, 2).bernoulli_(X[0]), randomness="different")(X)


def test_mappings_within_each_other_each_say_what_they_want():
    def within(inner, outer):
        return drawn(vmap(vmap(torch.rand_like, randomness=inner), randomness=outer), X)

    columns = within("different", "same")
    assert torch.equal(columns[0], columns[2])
    assert not torch.equal(columns[0, 0], columns[0, 1])
    rows = within("same", "different")
    assert torch.equal(rows[0, 0], rows[0, 1])
    assert not torch.equal(rows[0], rows[2])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.bernoulli(x, 0.5),
        lambda x: torch.normal(x, 1.0),
        lambda x: torch.normal(0.0, x.abs()),
        lambda x: torch.normal(x, x.abs()),
    ],
)
@pytest.mark.parametrize("inner", ["same", "different"])
def test_nor_where_only_the_samples_of_an_outer_mapping_differ(function, inner):
    with raises(RuntimeError, SAME):
        vmap(lambda x: vmap(lambda _: function(x), randomness=inner)(X), randomness="same")(X)
