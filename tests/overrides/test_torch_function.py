"""Objects that want to see the functions that are called with them, and modes that see every call."""

import operator
import typing

import pytest
import rushlight as torch
from rushlight.overrides import TorchFunctionMode, has_torch_function, is_tensor_like
from support import raises

HANDLED = {}


class Diagonal:
    """A matrix with one value on its diagonal, which is no tensor."""

    def __init__(self, size, value):
        self.size = size
        self.value = value

    def tensor(self):
        return self.value * torch.eye(self.size)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        known = all(issubclass(kind, (torch.Tensor, Diagonal)) for kind in types)
        if func not in HANDLED or not known:
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))


def mean(matrix):
    return matrix.value / matrix.size


def add(left, right):
    left, right = (one.tensor() if isinstance(one, Diagonal) else one for one in (left, right))
    return torch.add(left, right)


HANDLED.update({torch.mean: mean, torch.add: add, torch.Tensor.add: add})


class Named(torch.Tensor):
    """A tensor whose class stays."""


class Logging(torch.Tensor):
    """A tensor that writes down what it is given to."""

    log: typing.ClassVar = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.fixture
def log():
    Logging.log.clear()
    return Logging.log


def test_a_function_is_answered_by_an_argument_that_is_no_tensor():
    assert torch.mean(Diagonal(5, 2)) == 0.4
    assert torch.add(torch.ones(2, 2), Diagonal(2, 3)).tolist() == [[4.0, 1.0], [1.0, 4.0]]
    assert (torch.ones(2, 2) + Diagonal(2, 3)).tolist() == [[4.0, 1.0], [1.0, 4.0]]


def test_a_function_that_nobody_answers_is_an_error():
    text = (
        "Multiple dispatch failed for 'torch.mul'; all __torch_function__ handlers returned "
        f"NotImplemented:\n\n  - tensor subclass {Diagonal!r}\n\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )
    with raises(TypeError, text):
        torch.mul(Diagonal(2, 3), 2)
    with raises(TypeError, "unsupported operand type(s) for *: 'Tensor' and 'Diagonal'"):
        torch.ones(2) * Diagonal(2, 3)


def test_derived_classes_are_asked_before_those_that_they_derive_from():
    seen = []

    class Outer:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((cls, types, kwargs))
            return NotImplemented if cls is Inner else "answered"

    class Inner(Outer):
        pass

    assert torch.sub(Outer(), Inner(), alpha=2) == "answered"
    assert [cls for cls, _, _ in seen] == [Inner, Outer]
    assert seen[0][1:] == ((Inner, Outer), {"alpha": 2})


def test_elements_of_lists_are_asked_too():
    class Piece:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert torch.cat([torch.ones(1), Piece()]) == "cat"


def test_results_of_a_derived_class_are_of_that_class():
    x = torch.ones(2, 3).as_subclass(Named)
    for result in (x + 1, 1 - x, torch.sin(x), x.sum(0), x[0], x.detach(), x.view(6), x @ x.t(), x == 1, -x):
        assert type(result) is Named
    assert type(torch.ones(3) + x) is Named
    assert [type(part) for part in x.unbind()] == [Named, Named]
    largest = x.max(1)
    assert type(largest.values) is Named
    assert type(x.tolist()) is list
    assert isinstance(x.shape, torch.Size)


def test_gradients_pass_a_derived_class():
    x = torch.ones(2, requires_grad=True)
    y = x.as_subclass(Named) * 3
    assert y.grad_fn.name() == "AliasBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    (gradient,) = torch.autograd.grad((x.as_subclass(Named) * 2).sum(), x)
    assert gradient.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda x: x + 1, ["add"]),
        (lambda x: 1 - x, ["__rsub__"]),
        (lambda x: x / 2, ["div"]),
        (lambda x: x @ x, ["matmul"]),
        (lambda x: x < 1, ["lt"]),
        (lambda x: x[0], ["__getitem__"]),
        (lambda x: operator.setitem(x, 0, 1.0), ["__setitem__"]),
        (lambda x: operator.iadd(x, 1), ["add_"]),
        (lambda x: torch.stack([x, x]), ["stack"]),
        (lambda x: torch.nn.functional.linear(x, torch.ones(3, 2)), ["linear"]),
        (lambda x: x.sum().backward(), ["sum", "backward"]),
        (lambda x: torch.autograd.grad(x.sum(), x), ["sum", "grad"]),
    ],
)
def test_a_class_sees_what_its_instances_are_given_to(log, call, names):
    base = torch.ones(2, requires_grad=names[-1] in ("backward", "grad"))
    x = base.as_subclass(Logging)
    log.clear()
    call(x)
    assert log == names


def test_parameters_see_nothing_and_make_tensors():
    x = torch.ones(2).as_subclass(Named)
    parameter = torch.nn.Parameter(torch.ones(2))
    assert type(parameter * 2) is torch.Tensor
    assert type(parameter * x) is Named
    assert not has_torch_function((parameter,))


def test_a_mode_sees_every_call_of_its_block():
    class Doubling(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result * 2 if func in (torch.add, torch.Tensor.add) else result

    x = torch.ones(2)
    with Doubling():
        assert torch.add(x, 1).tolist() == [4.0, 4.0]
        assert (x + 1).tolist() == [4.0, 4.0]
        with Doubling():
            assert (x + 1).tolist() == [8.0, 8.0]
        assert (x - 1).tolist() == [0.0, 0.0]
    assert (x + 1).tolist() == [2.0, 2.0]


def test_what_takes_part_is_like_a_tensor():
    assert is_tensor_like(torch.ones(2))
    assert is_tensor_like(Diagonal(2, 3))
    assert not is_tensor_like([1.0])
    assert has_torch_function((3, Diagonal(2, 3)))
    assert not has_torch_function((3, torch.ones(2)))


class Watching(torch.Tensor):
    seen: typing.ClassVar[list] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        owner = getattr(func, "__self__", None)
        cls.seen.append((getattr(owner, "__name__", None), func.__name__, len(args)))
        return super().__torch_function__(func, types, args, kwargs or {})


def watched():
    x = torch.ones(2, 3).as_subclass(Watching)
    Watching.seen.clear()
    return x


@pytest.mark.parametrize(
    "name",
    [
        "shape",
        "dtype",
        "device",
        "ndim",
        "data",
        "T",
        "requires_grad",
        "grad",
        "grad_fn",
        "is_leaf",
        "_version",
    ],
)
def test_to_read_an_attribute_is_a_call(name):
    x = watched()
    getattr(x, name)
    assert Watching.seen == [(name, "__get__", 1)]


def test_to_set_or_delete_an_attribute_is_a_call():
    x = watched()
    x.requires_grad = True
    x.grad = torch.ones(2, 3)
    del x.grad
    x.data = torch.zeros(2, 3)
    assert Watching.seen == [
        ("requires_grad", "__set__", 2),
        ("grad", "__set__", 2),
        ("grad", "__delete__", 1),
        ("data", "__set__", 2),
    ]
    assert x.requires_grad and x.sum().item() == 0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (len, "__len__"),
        (lambda x: bool(x.as_subclass(torch.Tensor)[0, 0].as_subclass(Watching)), "__bool__"),
        (repr, "__repr__"),
        (str, "__repr__"),
        (lambda x: format(x), "__format__"),
        (lambda x: 1.0 in x, "__contains__"),
        (lambda x: x.__reduce_ex__(2), "__reduce_ex__"),
    ],
)
def test_special_methods_are_calls(call, name):
    x = watched()
    call(x)
    assert name in [seen for _, seen, _ in Watching.seen]


def test_what_attributes_give_belongs_to_the_class():
    x = watched().requires_grad_()
    assert {type(x.data), type(x.T), type(x.mT), type(x.real)} == {Watching}
    (x * 2).sum().backward()
    assert type(x.grad) is type(x._base) is torch.Tensor


def test_a_class_answers_for_attributes():
    class Seven(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func == torch.Tensor.shape.__get__:
                return "shape"
            if func is torch.Tensor.__len__:
                return 7
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Seven)
    assert (x.shape, len(x), torch.Tensor.shape.__get__(x)) == ("shape", 7, "shape")
    assert torch.ones(2).shape == (2,)


def test_modes_see_attributes_too():
    class Log(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    seen = []
    x = torch.ones(2)
    with Log():
        x.requires_grad, len(x), x.data
    assert seen == [torch.Tensor.requires_grad.__get__, torch.Tensor.__len__, torch.Tensor.data.__get__]


def test_an_attribute_that_fails_fails_as_ever():
    x = watched()
    with pytest.raises(RuntimeError):
        x.grad = torch.ones(7)
    with pytest.raises(AttributeError):
        x.is_leaf = True


class Pair(typing.NamedTuple):
    value: torch.Tensor
    scale: torch.Tensor


class Scaled(Pair):
    "A tuple of tensors that stands for a tensor itself."

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*[arg.value if isinstance(arg, cls) else arg for arg in args], **(kwargs or {}))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, pair: torch.add(x, pair),
        lambda x, pair: x.add(pair),
        lambda x, pair: x + pair,
        lambda x, pair: pair + x,
        lambda x, pair: torch.nn.functional.linear(x, pair),
    ],
)
def test_a_tuple_of_a_class_that_wants_to_see_calls_is_shown_them(call):
    x = torch.ones(2)
    assert torch.equal(call(x, Scaled(torch.ones(2, 2), x)), call(x, torch.ones(2, 2)))


def test_tuples_of_other_classes_are_lists():
    x = torch.ones(2)
    assert torch.stack(Pair(x, x)).shape == (2, 2)
