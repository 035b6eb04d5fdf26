"""What a call that fits no signature is told: torch's words, as torch 2.13 says them."""

from __future__ import annotations

import copy
import pickle

import pytest
import rushlight as torch

x = torch.ones(2, 3)
y = torch.ones(2, 3)

# The call and the text of its TypeError.
REFUSED = {
    "torch.exp()": 'exp() missing 1 required positional arguments: "input"',
    "torch.exp(1)": "exp(): argument 'input' (position 1) must be Tensor, not int",
    "torch.exp([1.0])": "exp(): argument 'input' (position 1) must be Tensor, not list",
    "torch.exp(None)": "exp(): argument 'input' (position 1) must be Tensor, not NoneType",
    "torch.exp(x, y)": "exp() takes 1 positional argument but 2 were given",
    "torch.exp(x, out=3)": "exp(): argument 'out' must be Tensor, not int",
    "torch.exp(x, foo=1)": "exp() got an unexpected keyword argument 'foo'",
    "torch.relu(x, out=y)": "relu() got an unexpected keyword argument 'out'",
    "torch.exp(foo=x)": 'exp() missing 1 required positional arguments: "input"',
    "torch.exp(self=x)": 'exp() missing 1 required positional arguments: "input"',
    "x.exp(1)": "TensorBase.exp() takes no arguments (1 given)",
    "x.exp(foo=1)": "TensorBase.exp() takes no keyword arguments",
    "x.exp_(1, 2)": "TensorBase.exp_() takes no arguments (2 given)",
    "torch.add()": (
        "add() received an invalid combination of arguments - got (), but expected (Tensor "
        "input, Tensor other, *, Number alpha = 1, Tensor out = None)"
    ),
    "torch.add(x)": (
        "add() received an invalid combination of arguments - got (Tensor), but expected (Tensor "
        "input, Tensor other, *, Number alpha = 1, Tensor out = None)"
    ),
    'torch.add("a", 2)': "add(): argument 'input' (position 1) must be Tensor, not str",
    'torch.add(x, "a")': "add(): argument 'other' (position 2) must be Tensor, not str",
    "torch.add(x, None)": "add(): argument 'other' (position 2) must be Tensor, not NoneType",
    'torch.add(x, y, alpha="a")': "add(): argument 'alpha' must be Number, not str",
    "torch.add(x, y, alpha=torch.ones(2))": "add(): argument 'alpha' must be Number, not Tensor",
    "torch.add(x, alpha=2)": 'add() missing 1 required positional arguments: "other"',
    "torch.add(x, y, foo=1)": "add() got an unexpected keyword argument 'foo'",
    "torch.add(x, y, 2, 3)": "add() takes 2 positional arguments but 4 were given",
    "torch.add(x, y, 2, 3, 4)": (
        "add() received an invalid combination of arguments - got (Tensor, Tensor, !int!, !int!, "
        "!int!), but expected (Tensor input, Tensor other, *, Number alpha = 1, Tensor out = "
        "None)"
    ),
    "torch.add(x, y, 2, 3, foo=4)": (
        "add() received an invalid combination of arguments - got unrecognized keyword arguments: foo"
    ),
    "torch.add(x, foo=1, bar=2, baz=3, spam=4)": (
        "add() received an invalid combination of arguments - got unrecognized keyword "
        "arguments: spam, baz, bar, foo"
    ),
    "x.add()": (
        "add() received an invalid combination of arguments - got (), but expected (Tensor "
        "other, *, Number alpha = 1)"
    ),
    'x.add("a")': "add(): argument 'other' (position 1) must be Tensor, not str",
    'x.add(other=1, alpha="a")': "add(): argument 'alpha' must be Number, not str",
    "x.add_()": (
        "add_() received an invalid combination of arguments - got (), but expected (Tensor "
        "other, *, Number alpha = 1)"
    ),
    "x.mul(y, y)": "mul() takes 1 positional argument but 2 were given",
    "torch.sum()": (
        "sum() received an invalid combination of arguments - got (), but expected one of:\n"
        " * (Tensor input, *, torch.dtype dtype = None)\n"
        " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, "
        "Tensor out = None)\n"
    ),
    "torch.sum(1)": "sum(): argument 'input' (position 1) must be Tensor, not int",
    "torch.sum(x, {}, keepdim=True)": "sum(): argument 'dim' (position 2) must be tuple of ints, not dict",
    "torch.sum(x, [x, y], True)": (
        "sum(): argument 'dim' (position 2) must be tuple of ints, but found element of type Tensor at pos 0"
    ),
    "torch.sum(x, out=1)": (
        "sum() received an invalid combination of arguments - got (Tensor, out=int), but "
        "expected one of:\n"
        " * (Tensor input, *, torch.dtype dtype = None)\n"
        " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, "
        "Tensor out = None)\n"
    ),
    "torch.sum(x, input=x)": (
        "sum() received an invalid combination of arguments - got (Tensor, input=Tensor), but "
        "expected one of:\n"
        " * (Tensor input, *, torch.dtype dtype = None)\n"
        " * (Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, "
        "Tensor out = None)\n"
    ),
    "torch.sum(x, 1, True, foo=4)": "sum() got an unexpected keyword argument 'foo'",
    "torch.sum(x, dim=1, dim2=3, dim3=4)": "sum() got an unexpected keyword argument 'dim2'",
    'x.sum("a")': (
        "sum() received an invalid combination of arguments - got (str), but expected one of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
    ),
    "x.sum(1.5)": (
        "sum() received an invalid combination of arguments - got (float), but expected one of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
    ),
    "x.sum(True)": (
        "sum() received an invalid combination of arguments - got (bool), but expected one of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
    ),
    "x.sum(1, 2)": "sum(): argument 'keepdim' (position 2) must be bool, not int",
    "x.sum(1, 2, 3)": "sum() takes from 1 to 2 positional arguments but 3 were given",
    "x.sum(1, True, True, True)": (
        "sum() received an invalid combination of arguments - got (int, bool, bool, bool), but "
        "expected one of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
        "      didn't match because some of the arguments have invalid types: (!int!, !bool!, "
        "!bool!, !bool!)\n"
    ),
    "x.sum(1, dim=1)": "sum() got multiple values for argument 'dim'",
    "x.sum(dim=1, axis=1)": "sum() got an unexpected keyword argument 'axis'",
    'x.sum(dim="a")': (
        "sum() received an invalid combination of arguments - got (dim=str, ), but expected one "
        "of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
    ),
    'x.sum(dim="a", keepdim=3)': "sum(): argument 'dim' must be tuple of ints, not str",
    'x.sum((0, "a"))': (
        "sum(): argument 'dim' failed to unpack the object at pos 2 with error \"type must be "
        'tuple of ints,but got str"'
    ),
    "x.sum([True, 0])": (
        "sum() received an invalid combination of arguments - got (list), but expected one of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
    ),
    "x.sum(out=y)": (
        "sum() received an invalid combination of arguments - got (out=Tensor, ), but expected "
        "one of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
    ),
    "x.sum(1, dtype=str)": "sum(): argument 'dtype' must be torch.dtype, not type",
    "x.sum(a=1, b=2, c=3, d=4)": (
        "sum() received an invalid combination of arguments - got (c=int, b=int, d=int, a=int, "
        "), but expected one of:\n"
        " * (*, torch.dtype dtype = None)\n"
        " * (tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None)\n"
        "      didn't match because some of the keywords were incorrect: c, b, d, a\n"
    ),
    "torch.zeros()": 'zeros() missing 1 required positional arguments: "size"',
    'torch.zeros("a")': "zeros(): argument 'size' (position 1) must be tuple of ints, not str",
    "torch.zeros(True, 2)": "zeros() takes 1 positional argument but 2 were given",
    'torch.zeros(2, "a")': (
        "zeros(): argument 'size' failed to unpack the object at pos 2 with error \"type must be "
        'tuple of ints,but got str"'
    ),
    "torch.zeros((2, 3), 4)": "zeros() takes 1 positional argument but 2 were given",
    "torch.zeros((None, 2))": (
        "zeros(): argument 'size' (position 1) must be tuple of ints, but found element of type "
        "NoneType at pos 0"
    ),
    "torch.zeros(size=2)": "zeros(): argument 'size' must be tuple of ints, not int",
    "torch.zeros(2, size=2)": "zeros() got multiple values for argument 'size'",
    "torch.zeros(2, foo=1)": "zeros() got an unexpected keyword argument 'foo'",
    "torch.zeros(2, dtype=1)": "zeros(): argument 'dtype' must be torch.dtype, not int",
    "torch.zeros(2, device=3.5)": "zeros(): argument 'device' must be torch.device, not float",
    "torch.zeros(2, layout=1)": "zeros(): argument 'layout' must be torch.layout, not int",
    "torch.zeros(2, requires_grad=1)": "zeros(): argument 'requires_grad' must be bool, not int",
    "torch.full()": 'full() missing 2 required positional argument: "size", "fill_value"',
    "torch.full((2,))": 'full() missing 1 required positional arguments: "fill_value"',
    "torch.full(2, 1)": "full(): argument 'size' (position 1) must be tuple of ints, not int",
    'torch.full((2,), "a")': "full(): argument 'fill_value' (position 2) must be Number, not str",
    "torch.full((2,), [1])": "full(): argument 'fill_value' (position 2) must be Number, not list",
    "torch.full((2,), 1, 2)": "full() takes 2 positional arguments but 3 were given",
    "torch.Tensor.exp()": "unbound method TensorBase.exp() needs an argument",
}


@pytest.mark.parametrize("call", REFUSED)
def test_a_refused_call_is_told_why_in_the_words_of_torch(call: str) -> None:
    with pytest.raises(TypeError) as refusal:
        eval(call)
    assert str(refusal.value) == REFUSED[call]


def test_an_integer_beyond_64_bits_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^Overflow when unpacking long long$"):
        x.sum(2**70)
    with pytest.raises(OverflowError, match=r"^int too big to convert$"):
        torch.full((2,), 2**70)
    with pytest.raises(TypeError, match='failed to unpack the object at pos 2 with error "Overflow'):
        torch.zeros(2, 2**70)


def test_names_of_numpy_stand_for_those_of_torch() -> None:
    assert torch.sum(a=x, axis=1, keepdims=True).shape == (2, 1)
    assert torch.add(x1=x, x2=y).shape == (2, 3)


def test_a_keyword_that_is_another_string_object_is_the_same_keyword() -> None:
    assert x.sum(**{"".join(["d", "im"]): 1}).shape == (2,)


def test_none_leaves_an_optional_argument_out() -> None:
    assert torch.zeros(2, dtype=None, device=None, requires_grad=None).dtype == torch.float32
    assert x.sum(None).shape == ()


def test_a_function_and_a_method_are_found_again_by_name() -> None:
    assert pickle.loads(pickle.dumps(torch.sum)) is torch.sum
    assert pickle.loads(pickle.dumps(torch.Tensor.sum)) is torch.Tensor.sum
    assert copy.deepcopy(torch.sum) is torch.sum


def test_a_function_in_a_class_does_not_become_its_method() -> None:
    class Holder:
        exponential = torch.exp

    assert Holder().exponential(x).shape == (2, 3)


def test_out_is_what_is_returned() -> None:
    out = torch.zeros(2, 3)
    assert torch.add(x, y, out=out) is out
    assert out.tolist() == [[2.0] * 3] * 2


def test_out_of_another_shape_is_resized_with_a_warning() -> None:
    out = torch.zeros(3)
    with pytest.warns(UserWarning, match="resized since it had shape \\[3\\], which does not match"):
        torch.add(x, y, out=out)
    assert out.shape == (2, 3)


def test_out_cannot_be_of_a_narrower_category() -> None:
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.exp(x, out=torch.zeros(2, 3, dtype=torch.int64))


def test_out_does_not_take_part_in_autograd() -> None:
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.exp(leaf, out=torch.zeros(2))


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("torch.subtract(x, 2, 3)", torch.full((2, 3), -5.0)),
        ("x.subtract(2, 3)", torch.full((2, 3), -5.0)),
        ("torch.divide(x, 2)", torch.full((2, 3), 0.5)),
        ("x.divide(2, rounding_mode='floor')", torch.zeros(2, 3)),
        ("torch.amax(x, None)", torch.tensor(1.0)),
        ("torch.linalg.norm(x, 2, 1)", torch.full((2,), 3.0).sqrt()),
        ("torch.linalg.norm(x, 'fro')", torch.tensor(6.0).sqrt()),
        ("torch.linalg.norm(input=x, ord=1, dim=[0])", torch.full((3,), 2.0)),
        ("torch.bucketize(2, torch.arange(4))", torch.tensor(2)),
        ("torch.fft.fftn(x, 1).real", torch.ones(2, 1)),
        ("torch.fft.fftfreq(2, 1, dtype=torch.float64)", torch.tensor([0.0, -0.5], dtype=torch.float64)),
        ("torch.hamming_window(2, False, 1, 0)", torch.ones(2)),
        ("torch.gradient(torch.arange(3.0), spacing=2)[0]", torch.full((3,), 0.5)),
        ("torch.gradient(torch.arange(3.0), spacing=[torch.arange(3)], dim=(0,))[0]", torch.ones(3)),
        ("torch.histogram(x, 1).hist", torch.tensor([6.0])),
        ("x.histogram().hist.sum()", torch.tensor(6.0)),
        ("x.sum_to_size(1, 3)", torch.full((1, 3), 2.0)),
        ("x.sum_to_size([1, 3])", torch.full((1, 3), 2.0)),
        ("x.histc(2, max=2)", torch.tensor([0.0, 6.0])),
    ],
)
def test_a_call_that_fits_one_of_several_forms_is_made(call: str, result: torch.Tensor) -> None:
    torch.testing.assert_close(eval(call), result)


def test_a_method_that_is_written_in_python_shows_itself_and_not_the_function() -> None:
    shown = []

    class Seeing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            shown.append(function)
            return super().__torch_function__(function, types, args, kwargs or {})

    seen = torch.ones(3).as_subclass(Seeing)
    torch.histc(seen, 2)
    seen.histc(2)
    assert shown[0] is torch.histc
    assert torch.Tensor.histc in shown


def test_an_operand_of_the_wrong_kind_is_refused_before_anything_is_computed() -> None:
    class Loud:
        def __getattr__(self, name: str) -> None:
            raise AssertionError(f"asked for {name}")

    for function in (torch.fft.fft, torch.linalg.cond, torch.combinations, torch.special.ndtr):
        with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor, not Loud"):
            function(Loud())
