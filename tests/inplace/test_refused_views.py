"""Views that may not be written to, and the reasons that the errors give."""

import pytest
import rushlight as torch
from support import raises

AMBIGUOUS = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving both the view and the inplace either both inside the "
)
CUSTOM = (
    " This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom "
    "Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the "
    "output of the custom Function."
)


class Shown(torch.autograd.Function):
    """A view of its input."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Increased(torch.autograd.Function):
    """Writes to its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


@pytest.fixture
def x():
    return torch.ones(4, requires_grad=True)


def test_a_view_of_a_view_made_without_recording_names_what_made_it(x):
    base = x * 1
    with torch.no_grad():
        outer = base[:2]
    inner = outer[:1]
    start = "Output 0 of Slice is a view of a view which was created in no_grad mode and "
    with raises(RuntimeError, start + "is being modified inplace with grad mode enabled." + AMBIGUOUS + "no"):
        inner.add_(1)
    base.add_(1)
    rest = "its base or another view of its base has been modified inplace with grad mode enabled."
    with raises(RuntimeError, start + rest + AMBIGUOUS + "no_grad block"):
        inner + 1


def test_a_view_of_a_view_made_in_inference_mode_names_what_made_it(x):
    base = x * 1
    with torch.inference_mode():
        outer = base[:2]
    start = "Output 0 of Slice is a view of a view which was created in inference mode and is being modified "
    with raises(RuntimeError, start + "inplace in normal mode." + AMBIGUOUS + "inference_mode block"):
        outer[:1].add_(1)


def test_an_unrecorded_view_that_a_function_returned_has_no_function_to_name(x):
    start = "A view was created in no_grad mode and is being modified inplace with grad mode enabled."
    unrecorded = Shown.apply(torch.ones(3))
    unrecorded.add_(1)
    with raises(RuntimeError, start + CUSTOM):
        unrecorded.mul_(x[:3])
    with raises(RuntimeError, "Output 0 of Shown is a view and is being modified inplace." + CUSTOM):
        Shown.apply(x * 2).add_(1)


def test_a_function_may_not_write_to_a_view_of_a_leaf(x):
    text = "a view of a leaf Variable that requires grad is being used in an in-place operation."
    with raises(RuntimeError, text):
        Increased.apply(x[:2])
    assert x.is_leaf


def test_a_function_may_not_write_to_one_of_several_views(x):
    first = (x * 2).split(2)[0]
    with raises(RuntimeError, "Output 0 of Split is a view and is being modified inplace. This view is the"):
        Increased.apply(first)


def test_a_function_that_must_not_write_has_written_all_the_same(x):
    with torch.no_grad():
        aside = x[:2]
    with raises(RuntimeError, "a leaf Variable that requires grad has been used in an in-place operation."):
        Increased.apply(aside)
    assert x._version == 2 and x.tolist() == [2.0, 2.0, 1.0, 1.0]
    base = x * 1
    start = "Output 0 of Split is a view and is being modified inplace."
    with pytest.raises(RuntimeError) as caught:
        Increased.apply(base.split(2)[0])
    assert str(caught.value).startswith(start)
    assert base._version == 2


def made_in(mode, make):
    with mode:
        return make()


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        (
            "part",
            "no_grad",
            "A view was created in no_grad mode and is being modified inplace with grad mode",
        ),
        ("part", "inference", "A view was created in inference mode and is being modified inplace in normal"),
        (
            "shown",
            "part",
            "Output 0 of View is a view and is being modified inplace. This view is the output",
        ),
        (
            "shown",
            "no_grad",
            "A view was created in no_grad mode and is being modified inplace with grad mode",
        ),
        ("no_grad", "part", "Output 0 of View is a view and is being modified inplace. This view is the"),
        ("no_grad", "inference", "A view was created in inference mode and is being modified inplace in"),
        ("inference", "no_grad", "A view was created in inference mode and is being modified inplace in"),
        (
            "inference",
            "part",
            "Output 0 of View is a view of a view which was created in inference mode and is",
        ),
        (
            "part",
            "view",
            "Output 0 of View is a view and is being modified inplace. This view is the output of",
        ),
    ],
)
def test_the_last_reason_counts_unless_it_was_inference_mode(x, first, last, text):
    make = {
        "view": lambda y: y.view(-1),
        "part": lambda y: y.unbind()[0].view(1),
        "shown": Shown.apply,
        "no_grad": lambda y: made_in(torch.no_grad(), lambda: y.view(-1)),
        "inference": lambda y: made_in(torch.inference_mode(), lambda: y.view(-1)),
    }
    view = make[last](make[first](x.clone()))
    with raises(RuntimeError, text):
        view.mul_(2)


def test_a_view_that_cannot_tell_its_history_still_tells_of_its_gradient():
    y = torch.ones(2, requires_grad=True) * 1
    view = Shown.apply(y)
    y.add_(1)
    with raises(RuntimeError, "Output 0 of Shown is a view and its base or another view"):
        _ = view.is_leaf
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor"):
        assert view.grad is None
    view.grad = torch.ones(2)
    assert view.grad.tolist() == [1.0, 1.0]
    assert view.requires_grad_() is view
    for switch in (view.requires_grad_, lambda value: setattr(view, "requires_grad", value)):
        with raises(RuntimeError, "you can only change requires_grad flags of leaf variables."):
            switch(False)
