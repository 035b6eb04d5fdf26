"""Sizes that no memory has are refused with an error, whatever they are the sizes of."""

import pytest
import rushlight as torch

F = torch.nn.functional
HUGE = 1 << 45
X, IMAGE, ZERO = torch.ones(3, 4), torch.ones(1, 2, 4, 4), torch.zeros(1, dtype=torch.int64)
CALLS = {
    "linspace": lambda: torch.linspace(0, 1, HUGE),
    "linspace of tensors": lambda: torch.linspace(torch.tensor(0.0), torch.tensor(1.0), HUGE),
    "complex linspace": lambda: torch.linspace(0, 1j, HUGE),
    "logspace": lambda: torch.logspace(0, 1, HUGE),
    "histogram": lambda: torch.histogram(X, HUGE),
    "repeat_interleave": lambda: torch.repeat_interleave(X, torch.tensor([HUGE, 1, 1]), 0),
    "repeated numbers": lambda: torch.repeat_interleave(torch.tensor([HUGE, 1])),
    "interpolate": lambda: F.interpolate(IMAGE, size=(HUGE, 3)),
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(IMAGE, (HUGE, 2)),
    "affine_grid": lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, HUGE, 2), align_corners=False),
    "index": lambda: X[ZERO.expand(HUGE)],
    "index_select": lambda: X.index_select(0, ZERO.expand(HUGE)),
    "take": lambda: torch.take(X, ZERO.expand(HUGE)),
    "sort": lambda: torch.zeros(1).expand(HUGE).sort(),
    "cumsum": lambda: torch.zeros(1).expand(HUGE).cumsum(0),
}


@pytest.mark.parametrize("name", CALLS)
def test_they_are_refused_as_memory_that_is_not_there(name):
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        CALLS[name]()


# torch goes through the elements without making room for them, or begins to.
@pytest.mark.own
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(),
        lambda x: x[torch.tensor([0])],
        lambda x: x.topk(3),
        lambda x: x.tolist(),
        lambda x: torch.empty(HUGE, 0).unbind(),
        lambda x: torch.empty(HUGE, 0).split(1),
    ],
)
def test_so_is_what_has_to_be_copied_or_listed(call):
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        call(torch.zeros(1).expand(HUGE))


def test_more_digits_than_any_number_has_are_refused():
    torch.set_printoptions(precision=1 << 40)
    with pytest.raises(ValueError, match=r"^precision too big$"):
        repr(torch.tensor([0.5]))


@pytest.mark.parametrize(
    ("shape", "dim", "words"),
    [
        ((0, 3), 1, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"),
        ((2, 0, 3), 0, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"),
        ((0, 0), 0, "Number of zero sized dimensions is more than one, so unique cannot be applied "),
    ],
)
def test_slices_of_nothing_are_not_told_apart(shape, dim, words):
    with pytest.raises(RuntimeError, match=f"^{words}$"):
        torch.empty(shape).unique(dim=dim)


def test_there_may_be_no_slices_at_all():
    assert torch.empty(0, 3).unique(dim=0).shape == (0, 3)
