"""Every public function shows its calls, itself and once, before it does anything: also those written in Python."""

import copy
import inspect
import os
import pickle
import traceback
import typing
import weakref

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.nn import functional as F
from rushlight.overrides import TorchFunctionMode, has_torch_function, redispatch_function
from support import raises

SHOWN = []


def no_tensor(letter):
    """A class that takes part in functions of tensors, and whose instances print as the letter."""

    def handler(cls, func, types, args=(), kwargs=None):
        SHOWN.append((func, types, args, kwargs))
        return "answer"

    members = {"__torch_function__": classmethod(handler), "__repr__": lambda self: letter}
    return type(letter, (), members)()


OTHERS = {letter: no_tensor(letter) for letter in "abcdefghijklm"}


def table():
    with open(os.path.join(os.path.dirname(__file__), "shown.txt"), encoding="utf-8") as file:
        return [line.strip().split(" | ") for line in file if line.strip() and line[0] != "#"]


def told(args, kwargs):
    """The arguments as text; `**{}` where there are none by keyword, but a dictionary."""
    named = [f"{name}={value!r}" for name, value in sorted((kwargs or {}).items())]
    none = ["**{}"] if kwargs == {} else []
    return f"({', '.join([repr(value) for value in args] + named + none)})"


@pytest.mark.parametrize(("call", "arguments", "asked"), table(), ids=lambda text: text.partition("|")[0])
def test_a_call_is_shown_before_it_is_made(call, arguments, asked):
    SHOWN.clear()
    assert eval(call, {"torch": torch}, OTHERS) == "answer"
    [(function, types, args, kwargs)] = SHOWN
    assert function is eval(call[: call.index("(")], {"torch": torch})
    assert told(args, kwargs) == arguments
    assert " ".join(kind.__name__ for kind in types) == asked


class Seen(torch.Tensor):
    log: typing.ClassVar[list] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append((func, types, kwargs))
        return super().__torch_function__(func, types, args, kwargs or {})


class Sees(TorchFunctionMode):
    def __init__(self):
        self.log = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append((func, types, kwargs))
        return func(*args, **(kwargs or {}))


CALLS = """
F.softmax(x, 1)
F.log_softmax(x, dim=1)
F.relu(x)
F.gelu(x)
F.dropout(x)
F.layer_norm(x, (3,))
F.normalize(x)
F.pad(x, (1, 1))
F.interpolate(image, scale_factor=2)
F.max_pool2d(image, 2)
F.unfold(image, 2)
F.cross_entropy(x, places)
F.mse_loss(x, x)
F.cosine_similarity(x, x)
F.pairwise_distance(x, x)
F.one_hot(places)
F.embedding(places, x)
F.scaled_dot_product_attention(image, image, image)
torch.fft.fft(x)
torch.fft.fftshift(x)
torch.linalg.norm(x)
torch.linalg.pinv(x)
torch.linalg.multi_dot([x, x.T])
torch.special.ndtr(x)
torch.unique(places)
torch.tensordot(x, x)
torch.einsum("ij,ij->i", x, x)
torch.cdist(x, x)
torch.norm(x)
torch.split(x, 1)
torch.bucketize(x, x[0])
torch.gradient(x)
torch.cartesian_prod(x[0], x[0])
torch.block_diag(x, x)
torch.atleast_2d(x)
torch.Tensor.norm(x)
torch.Tensor.split(x, 1)
torch.Tensor.unflatten(x, 1, (3, 1))
torch.Tensor.type_as(x, x)
torch.Tensor.sum_to_size(x, 1, 3)
torch.Tensor.untyped_storage(x)
""".strip().splitlines()


def operands():
    return {
        "x": torch.tensor([[1.0, 2.0, 4.0], [0.5, 0.25, 3.0]]),
        "image": torch.arange(16.0).view(1, 1, 4, 4),
        "places": torch.tensor([1, 0]),
    }


@pytest.mark.parametrize("call", CALLS)
def test_a_class_of_tensors_sees_one_call(call):
    room = {name: value.as_subclass(Seen) for name, value in operands().items()}
    function = eval(call[: call.index("(")])
    # What makes the arguments is seen as well.
    Seen.log.clear()
    eval(call, globals(), room)
    assert Seen.log[-1][:2] == (function, (Seen,))
    assert len(Seen.log) == 1 + call.count("x[0]") + call.count("x.T")


@pytest.mark.parametrize("call", CALLS)
def test_a_mode_sees_one_call(call):
    function = eval(call[: call.index("(")])
    room = operands()
    with Sees() as mode:
        eval(call, globals(), room)
    # What makes the arguments is seen as well.
    assert mode.log[-1][0] is function
    assert len(mode.log) == 1 + call.count("x[0]") + call.count("x.T")


@pytest.mark.parametrize(
    ("module", "function", "operand"),
    [
        (lambda: nn.Softmax(1), "F.softmax", "x"),
        (lambda: nn.ReLU(), "F.relu", "x"),
        (lambda: nn.LayerNorm(3), "F.layer_norm", "x"),
        (lambda: nn.Dropout(), "F.dropout", "x"),
        (lambda: nn.MaxPool2d(2), "F.max_pool2d", "image"),
        (lambda: nn.Upsample(scale_factor=2), "F.interpolate", "image"),
        (lambda: nn.ConstantPad1d(1, 0.0), "F.pad", "x"),
        (lambda: nn.Embedding(2, 2), "F.embedding", "places"),
        (lambda: nn.LSTM(4, 4), "torch.lstm", "image[0]"),
        (lambda: nn.GRU(4, 4, batch_first=True), "torch.gru", "image[0]"),
        (lambda: nn.RNNCell(3, 4), "torch.rnn_tanh_cell", "x"),
        (lambda: nn.LSTMCell(3, 4), "torch.lstm_cell", "x"),
    ],
)
def test_a_module_shows_the_function_that_it_calls(module, function, operand):
    layer, room = module(), operands()
    room = {name: value.as_subclass(Seen) for name, value in room.items()}
    operand = eval(operand, {}, room)
    Seen.log.clear()
    layer(operand)
    called = [one.__name__ for one, *_ in Seen.log]
    assert called.count(eval(function).__name__) == 1
    assert "linear" not in called and "sigmoid" not in called


def test_indices_that_are_asked_for_are_another_call():
    image = operands()["image"].as_subclass(Seen)
    for function, with_indices in (
        (F.max_pool2d, F.max_pool2d_with_indices),
        (F.adaptive_max_pool2d, F.adaptive_max_pool2d_with_indices),
    ):
        Seen.log.clear()
        function(image, 2)
        function(image, 2, return_indices=True)
        assert [one for one, *_ in Seen.log] == [function, with_indices]


def test_operators_of_methods_in_python_hand_on_keywords():
    x = torch.ones(2).as_subclass(Seen)
    for call in (lambda: 2**x, lambda: x**2, lambda: 2 - x, lambda: x // 2, lambda: len(x)):
        Seen.log.clear()
        call()
        assert Seen.log[0][2] == {}
    with Sees() as mode:
        2 ** torch.ones(2)
    assert mode.log[-1][1:] == ((torch.Tensor,), {})


def test_tensors_in_a_list_of_operands_are_asked():
    x = operands()["x"]
    Seen.log.clear()
    torch.einsum("ij,ij->i", [x, x.as_subclass(Seen)])
    assert [one for one, *_ in Seen.log] == [torch.einsum]


def test_nobody_sees_a_call_that_does_not_fit():
    SHOWN.clear()
    with pytest.raises(TypeError):
        F.softmax(OTHERS["a"], nothing=1)
    with pytest.raises(TypeError):
        F.softmax()
    assert not SHOWN


class Declines:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("F.softmax(x, 0)", "torch.nn.functional.softmax"),
        ("F.max_pool2d(x, 2)", "torch.nn.functional.max_pool2d"),
        ("torch.unique(x)", "torch.functional.unique"),
        ("torch.einsum('i,i', x, x)", "torch.functional.einsum"),
        ("torch.Tensor.norm(x)", "torch._tensor.norm"),
        ("torch.Tensor.register_hook(x, 2)", "torch._tensor.register_hook"),
        ("torch.svd_lowrank(x)", "torch._lowrank.svd_lowrank"),
        ("torch.sym_max(x, 2)", "torch.sym_max"),
    ],
)
def test_a_call_that_all_decline_has_no_implementation(call, name):
    with raises(
        TypeError,
        f"no implementation found for '{name}' on types that implement __torch_function__: [<class ",
    ):
        eval(call, globals(), {"x": Declines()})


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("torch.fft.fft(x)", "torch.fft.fft_fft"),
        ("torch.linalg.norm(x)", "torch.linalg.linalg_norm"),
        ("torch.linalg.inv(x)", "torch.linalg.linalg_inv"),
        ("torch.linalg.multi_dot([x, x])", "torch.linalg.linalg_multi_dot"),
        ("torch.special.ndtr(x)", "torch.special.special_ndtr"),
        ("torch.bucketize(x, x)", "torch.bucketize"),
        ("F.one_hot(x)", "torch.nn.one_hot"),
        ("F.gelu(x)", "torch.nn.gelu"),
        ("F.pairwise_distance(x, x)", "torch.pairwise_distance"),
    ],
)
def test_a_compiled_call_that_all_decline_failed_to_dispatch(call, name):
    with raises(
        TypeError, f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned"
    ):
        eval(call, globals(), {"x": Declines()})


def test_they_are_functions_like_any_other():
    softmax = F.softmax
    assert inspect.isfunction(softmax) and inspect.isroutine(softmax)
    assert softmax.__name__ == softmax.__qualname__ == "softmax"
    assert list(inspect.signature(softmax).parameters) == ["input", "dim", "_stacklevel", "dtype"]
    assert "softmax" in inspect.getsource(softmax)
    assert repr(softmax).startswith("<function softmax at 0x")
    assert pickle.loads(pickle.dumps(softmax)) is softmax
    assert copy.deepcopy(softmax) is softmax
    assert weakref.ref(softmax)() is softmax
    assert list(inspect.signature(torch.Tensor.norm).parameters) == ["self", "p", "dim", "keepdim", "dtype"]
    softmax.mark = 3
    assert softmax.mark == 3
    del softmax.mark
    with pytest.raises(AttributeError):
        softmax.mark  # noqa: B018


def test_in_a_class_they_are_methods():
    class Holds:
        activation = F.relu

    with pytest.raises(TypeError):
        Holds().activation(torch.ones(1))
    assert Holds.activation is F.relu
    assert Holds().activation.__func__ is F.relu


@pytest.mark.own
def test_a_failure_shows_the_line_of_the_program_and_that_of_the_function():
    try:
        F.one_hot(torch.ones(2))
    except RuntimeError as error:
        frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert frames == ["test_a_failure_shows_the_line_of_the_program_and_that_of_the_function", "one_hot"]


def test_a_call_that_is_made_as_it_is_shows_what_it_calls():
    class Again(torch.Tensor):
        log: typing.ClassVar[list] = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.log.append(func)
            return redispatch_function(func, types, args, kwargs)

    x = torch.ones(2, 2).as_subclass(Again)
    torch.Tensor.split(x, 1)
    F.softsign(x)
    assert Again.log[:1] == [torch.Tensor.split]
    assert Again.log.count(F.softsign) == 1


def test_a_mode_sees_a_call_where_classes_see_none():
    x = torch.ones(2, 2).as_subclass(Seen)
    Seen.log.clear()
    with Sees() as mode, torch._C.DisableTorchFunctionSubclass():
        F.softmax(x, 0)
    assert [(one, types) for one, types, _ in mode.log] == [(F.softmax, ())]
    assert not Seen.log
    assert not has_torch_function(())


def test_mixed_precision_is_beneath_all_modes():
    x, w = torch.ones(2, 2), torch.ones(2, 2)
    for outside in (True, False):
        first, second = Sees(), torch.autocast("cpu", dtype=torch.bfloat16)
        with first if outside else second, second if outside else first:
            first.log.clear()
            sums = torch.einsum("ij,kj->ik", x, w)
            product = F.linear(x, w)
            loss = F.mse_loss(product, w)
        assert [one for one, *_ in first.log] == [torch.einsum, F.linear, F.mse_loss]
        assert (sums.dtype, product.dtype, loss.dtype) == (torch.bfloat16, torch.bfloat16, torch.float32)
    assert torch._C._len_torch_function_stack() == 0
