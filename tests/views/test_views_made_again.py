"""`_view_func` and its kin: what a view shows of its base, of another tensor in the base's place."""

import pytest
import rushlight as torch
from support import raises

VIEWS = {
    "view": lambda b: b.view(2, 3),
    "chain": lambda b: b.view(2, 3).t()[1:].select(1, 0),
    "split": lambda b: b.split(2)[1],
    "unbind": lambda b: b.unbind()[4],
    "chunk": lambda b: b.chunk(3)[2],
    "diagonal": lambda b: b.view(2, 3).diagonal(),
    "expand": lambda b: b.view(1, 6).expand(4, 6),
    "as_strided": lambda b: b.as_strided((2, 2), (1, 2), 1),
    "unfold": lambda b: b.unfold(0, 2, 1),
    "slice": lambda b: b[1:5:2],
    "squeeze": lambda b: b.view(1, 6).squeeze(0),
    "alias": lambda b: b.view_as(b),
}
READINGS = {
    "view_as_real": torch.view_as_real,
    "real": lambda b: b.real,
    "imag": lambda b: b.imag,
    "conj": lambda b: b.conj(),
    "mH": lambda b: b.view(2, 3).mH,
    "negative": lambda b: b.conj().imag,
    "part": lambda b: b[1:].real[::2],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("tracked", [False, True])
def test_a_view_is_made_again_of_a_new_base(view, tracked):
    base = torch.arange(6.0, requires_grad=tracked)
    made = view(base)
    assert made._is_view() and made._base is base
    other = torch.arange(10.0, 16.0)
    for again in (made._view_func(other), made._view_func_unsafe(new_base=other)):
        assert torch.equal(again, view(other)) and again.stride() == made.stride()
        assert again._base is other and again.data_ptr() == view(other).data_ptr()


@pytest.mark.parametrize("view", READINGS.values(), ids=READINGS)
def test_so_is_one_that_reads_other_elements(view):
    base, other = (torch.randn(6, dtype=torch.complex64) for _ in range(2))
    made = view(base)
    again = made._view_func(other)
    assert torch.equal(again, view(other)) and again._base is other
    assert (again.is_conj(), again.is_neg()) == (made.is_conj(), made.is_neg())
    assert torch.equal(made._rev_view_func_unsafe(view(other)), other)


def test_pairs_of_numbers_are_read_as_complex_ones_again():
    base, other = torch.randn(6, 2), torch.randn(6, 2)
    made = torch.view_as_complex(base)[1:].conj()
    assert torch.equal(made._view_func(other), torch.view_as_complex(other)[1:].conj())
    back = made._rev_view_func_unsafe(made._view_func(other))
    assert torch.equal(back, other)


def test_gradients_arrive_at_the_new_base():
    view = torch.arange(6.0).view(2, 3)[1]
    other = torch.ones(6, requires_grad=True)
    view._view_func(other).sum().backward()
    assert other.grad.tolist() == [0, 0, 0, 1, 1, 1]


def test_views_that_a_function_returns_are_made_again():
    class View(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(2, 3)

        @staticmethod
        def backward(ctx, grad):
            return grad.view(6)

    base = torch.ones(6, requires_grad=True) * 1
    row = View.apply(base)[1]
    assert row._base is base
    assert row._view_func(torch.arange(6)).tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    "other",
    [
        lambda: torch.arange(3.0),
        lambda: torch.arange(12.0),
        lambda: torch.arange(12.0)[::2],
        lambda: torch.arange(12.0)[3:9],
        lambda: torch.arange(6.0).view(3, 2),
    ],
)
def test_a_new_base_lies_as_the_base_does(other):
    assert torch.arange(6.0).view(2, 3)._view_func(other()) is None


def test_otherwise_the_same_places_in_memory_are_shown():
    view = torch.arange(6.0)[2:4]
    assert view._view_func_unsafe(torch.arange(20.0)[5:]).tolist() == [2, 3]
    with raises(
        RuntimeError,
        "setStorage: sizes [2], strides [1], storage offset 2, and itemsize 4 requiring a storage size of 16 are "
        "out of bounds for storage of size 12",
    ):
        view._view_func_unsafe(torch.arange(3.0))


def test_what_is_no_view_is_made_of_nothing():
    x, other = torch.arange(6.0), torch.ones(6)
    assert x._view_func(other) is None and x._view_func_unsafe(other) is None
    assert x._rev_view_func_unsafe(other) is None
    with torch.inference_mode():
        assert torch.arange(6.0).view(2, 3)._view_func(torch.arange(6.0)) is None


def test_windows_have_no_way_back():
    with raises(RuntimeError, "No _rev_view_func() found"):
        torch.arange(6.0).view(2, 3)._rev_view_func_unsafe(torch.ones(2, 3))


def test_numbers_of_a_window_on_other_elements_can_be_replaced():
    view = torch.randn(4, dtype=torch.complex64).real
    other = torch.randn(4, dtype=torch.complex64)
    seen = []
    again = view._view_func_unsafe(other, lambda number: seen.append(number) or number, lambda tensor: tensor)
    assert seen == [4, 2, 0] and torch.equal(again, other.real)
    fewer = view._view_func_unsafe(other, symint_visitor_fn=lambda number: 3 if number == 4 else number)
    assert torch.equal(fewer, other.real[:3])
    assert torch.arange(6).view(2, 3)._view_func(torch.arange(6), seen.append).shape == (2, 3)


@pytest.mark.parametrize("wrong", [None, 3])
def test_a_new_base_is_a_tensor(wrong):
    view = torch.arange(6).view(2, 3)
    found = type(wrong).__name__
    for call in (view._view_func, view._view_func_unsafe):
        with raises(TypeError, f"_view_func(): argument 'new_base' (position 1) must be Tensor, not {found}"):
            call(wrong)
        with raises(TypeError, '_view_func() missing 1 required positional arguments: "new_base"'):
            call()
    with raises(RuntimeError, "_rev_view_func expect a single argument that is a Tensor"):
        view._rev_view_func_unsafe(wrong)
