"""Operators of one's own: `torch.library`."""

from typing import List, Optional, Sequence, Tuple  # noqa: UP035

import numpy as np
import pytest
import rushlight as torch
from rushlight import Tensor, library
from rushlight.utils._python_dispatch import TorchDispatchMode
from support import raises


@library.custom_op("rlt::sin", mutates_args=())
def sin(x: Tensor) -> Tensor:
    return torch.from_numpy(np.sin(x.numpy()))


def keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


sin.register_autograd(lambda ctx, g: g * ctx.saved_tensors[0].cos(), setup_context=keep)


@library.custom_op("rlt::scaled", mutates_args=())
def scaled(x: Tensor, n: int, *, by: float = 1.0) -> Tensor:
    return x * n * by


@library.custom_op("rlt::doubled_all", mutates_args=())
def doubled_all(xs: List[Tensor]) -> List[Tensor]:  # noqa: UP006
    return [x * 2 for x in xs]


@library.custom_op("rlt::increment", mutates_args={"x"})
def increment(x: Tensor) -> None:
    x.add_(1)


def test_an_operator_is_called_as_a_function_and_by_its_name():
    x = torch.ones(2)
    for call in (sin, torch.ops.rlt.sin, torch.ops.rlt.sin.default):
        torch.testing.assert_close(call(x), x.sin())
    assert repr(sin) == "<CustomOpDef(rlt::sin)>"
    assert repr(torch.ops.rlt.sin) == "<OpOverloadPacket(op='rlt.sin')>"
    assert repr(torch.ops.rlt.sin.default) == "<OpOverload(op='rlt.sin', overload='default')>"
    assert (
        str(torch.ops.rlt.scaled.default._schema)
        == "rlt::scaled(Tensor x, SymInt n, *, float by=1.) -> Tensor"
    )


def test_it_is_differentiated_by_what_is_registered():
    x = torch.ones(2, requires_grad=True)
    y = sin(x)
    assert y.grad_fn.name() == "GeneratedBackwardFor_rlt_sin_defaultBackward"
    y.sum().backward()
    assert x.grad.tolist() == torch.ones(2).cos().tolist()
    assert torch.autograd.gradcheck(sin, (torch.ones(2, dtype=torch.float64, requires_grad=True),))


def test_without_a_derivative_there_is_no_way_back():
    y = scaled(torch.ones(1, requires_grad=True), 2)
    text = (
        "Trying to backward through rlt.scaled.default but no autograd formula was registered. Please use "
        "register_autograd to add one."
    )
    with raises(RuntimeError, text):
        y.backward()


def test_arguments_that_have_names_only_are_told_apart():
    seen = []

    @library.custom_op("rlt::named", mutates_args=())
    def named(x: Tensor, n: int, *, by: float = 1.0) -> Tensor:
        return x * n * by

    def setup(ctx, inputs, keyword_only_inputs, output):
        seen.append((inputs[1:], keyword_only_inputs))
        ctx.factor = inputs[1] * keyword_only_inputs["by"]

    def backward(ctx, gradient):
        seen.append(ctx.needs_input_grad)
        return gradient * ctx.factor, None

    library.register_autograd("rlt::named", backward, setup_context=setup)
    x = torch.ones(1, requires_grad=True)
    named(x, 3, by=2.0).backward()
    assert x.grad.tolist() == [6.0]
    assert seen == [((3,), {"by": 2.0}), (True, False)]


def test_lists_of_tensors_are_taken_and_given():
    doubled_all.register_autograd(lambda ctx, gradients: [g * 2 for g in gradients])
    x = torch.ones(1, requires_grad=True)
    first, second = doubled_all([x, x])
    (first + 10 * second).backward()
    assert x.grad.tolist() == [22.0]


def test_a_write_is_counted():
    x = torch.ones(2)
    increment(x)
    assert (x.tolist(), x._version) == ([2.0, 2.0], 2)
    text = (
        "Cannot register autograd formula for non-functional operator <CustomOpDef(rlt::increment)> with "
        "schema rlt::increment(Tensor(a0!) x) -> (). Please create a functional operator and register an "
        "autograd formula for that."
    )
    with raises(RuntimeError, text):
        increment.register_autograd(lambda ctx, g: g)


def test_what_is_returned_shows_no_memory_of_an_argument():
    @library.custom_op("rlt::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x

    with pytest.raises(RuntimeError, match="must not also be an input to this custom operator"):
        same(torch.ones(2))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: scaled(x), "rlt::scaled() is missing value for argument 'n'. Declaration: rlt::scaled("),
        (
            lambda x: scaled(x, 1, 2),
            "rlt::scaled() takes 2 positional argument(s) but 3 was/were given.  Decl",
        ),
        (
            lambda x: scaled(x, 1, q=2),
            "Unknown keyword argument 'q' for operator 'rlt::scaled'. Schema: rlt::s",
        ),
        (
            lambda x: scaled(3, 2),
            "rlt::scaled() Expected a value of type 'Tensor' for argument 'x' but instead found type 'int'.\n"
            "Position: 0\nValue: 3\nDeclaration: rlt::scaled(Tensor x, SymInt n, *, float by=1.) -> Tensor\n"
            "Cast error details: Unable to cast 3 to Tensor",
        ),
        (
            lambda x: scaled(x, 2, by="a"),
            "rlt::scaled() Expected a value of type 'float' for argument 'by' but instead found type 'str'.\n"
            "Position: 2\nValue: 'a'\n",
        ),
    ],
)
def test_wrong_arguments_are_refused_by_the_schema(call, text):
    with raises(RuntimeError, text):
        call(torch.ones(1))


def test_many_samples_go_by_the_rule_that_is_registered():
    seen = []

    @library.custom_op("rlt::mapped", mutates_args=())
    def mapped(x: Tensor) -> Tensor:
        return x * 2

    def rule(info, in_dims, x):
        seen.append((info.batch_size, in_dims))
        return mapped(x), in_dims[0]

    mapped.register_vmap(rule)
    assert torch.vmap(mapped)(torch.ones(3, 2)).tolist() == [[2.0, 2.0]] * 3
    assert seen == [(3, (0,))]


@pytest.mark.filterwarnings("ignore")
def test_without_a_rule_they_go_one_by_one():
    x = torch.arange(6.0).view(2, 3)
    assert torch.vmap(lambda x: scaled(x, 2))(x).tolist() == (x * 2).tolist()


def test_modes_see_the_operator():
    log = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(1)
    with Log():
        y = scaled(x, 2)
    assert (log[0], y.tolist()) == ("rlt.scaled.default", [2.0])


def test_annotations_say_the_schema():
    def annotated(
        x: Tensor,
        n: Optional[int] = None,  # noqa: UP045
        sizes: Sequence[int] = None,  # noqa: RUF013
        s: str = "q",
        f: float = 1.5,
        *,
        k: Tensor,
    ) -> Tuple[Tensor, int]: ...  # noqa: UP006

    assert library.infer_schema(annotated, mutates_args={"k"}, op_name="op") == (
        'op(Tensor x, SymInt? n=None, SymInt[] sizes=None, str s="q", float f=1.5, *, Tensor(a5!) k) -> '
        "(Tensor, SymInt)"
    )


def unannotated(x): ...
def returns_nothing_said(x: Tensor): ...
def takes_any_number(*x: Tensor) -> Tensor: ...
def of_a_number(x: Tensor, n: int) -> None: ...
def with_a_list(x: Tensor, n: int = [1]) -> Tensor: ...


@pytest.mark.parametrize(
    ("function", "mutates", "text"),
    [
        (
            unannotated,
            (),
            "infer_schema(func): Parameter x must have a type annotation. Got func with signature (x))",
        ),
        (
            returns_nothing_said,
            (),
            "infer_schema(func): No return type annotation was provided. Please add one.",
        ),
        (
            takes_any_number,
            (),
            "infer_schema(func): We do not support positional-only args, varargs, or varkwargs.",
        ),
        (
            of_a_number,
            {"n"},
            "infer_schema(func): Parameter n is in mutable_args but only Tensors or collections of",
        ),
        (
            with_a_list,
            (),
            "infer_schema(func): Parameter n has an unsupported default value type <class 'list'>.",
        ),
        (
            of_a_number,
            "x",
            "mutates_args must either be a sequence of the names of the arguments that are mutated",
        ),
    ],
)
def test_what_annotations_cannot_say_is_refused(function, mutates, text):
    with raises(ValueError, text):
        library.infer_schema(function, mutates_args=mutates)


def test_operators_may_be_declared_first():
    lib = library.Library("rltlib", "FRAGMENT")
    assert lib.define("foo(Tensor x) -> Tensor") == "foo"
    lib.impl("foo", lambda x: x * 2, "CPU")
    x = torch.ones(1, requires_grad=True)
    assert torch.ops.rltlib.foo(x).grad_fn.name() == "MulBackward0"
    library.register_autograd("rltlib::foo", lambda ctx, g: g * 5, lib=lib)
    torch.ops.rltlib.foo(x).backward()
    assert x.grad.tolist() == [5.0]


def test_checks_say_what_came_of_them():
    x = torch.ones(2, requires_grad=True)
    tests = ["test_schema", "test_autograd_registration"]
    assert library.opcheck(sin, (x,), test_utils=tests) == dict.fromkeys(tests, "SUCCESS")
    with pytest.raises(ValueError, match="expected test_utils to be subset of"):
        library.opcheck(sin, (x,), test_utils="all")


def test_what_is_not_there():
    with raises(AttributeError, "'_OpNamespace' 'rlt' object has no attribute 'nothing'"):
        torch.ops.rlt.nothing  # noqa: B018
    with raises(AttributeError, "'_OpNamespace' 'rlt' object has no attribute 'nothing'"):
        library.register_autograd("rlt::nothing", lambda ctx, g: g)
    with raises(AttributeError, "The underlying op of 'rlt.sin' has no overload name 'other'"):
        torch.ops.rlt.sin.other  # noqa: B018


def test_functions_for_other_devices_are_never_called():
    mylib = torch.library.Library("forcpu", "FRAGMENT")
    mylib.define("twice(Tensor x) -> Tensor")
    mylib.impl("twice", lambda x: x * 2, "CPU")
    for key in ("CUDA", "AutogradCUDA", "XPU", "SparseCPU"):
        mylib.impl("twice", lambda x: 1 / 0, key)
    assert torch.ops.forcpu.twice(torch.ones(1)).item() == 2
    mylib._destroy()


def test_autograd_follows_what_is_registered_for_it():
    @torch.library.custom_op("forcpu::tripled", mutates_args=())
    def tripled(x: torch.Tensor) -> torch.Tensor:
        return x * 3

    tripled.register_autograd(lambda ctx, gradient: gradient * 100)
    torch.library.Library("forcpu", "FRAGMENT").impl("tripled", lambda x: x * 3, "AutogradCPU")
    x = torch.ones(1, requires_grad=True)
    tripled(x).backward()
    assert x.grad.item() == 3


def test_an_operator_for_kernels_of_triton_is_computed_where_it_calls_none():
    @torch.library.triton_op("forcpu::halved", mutates_args=())
    def halved(x: torch.Tensor) -> torch.Tensor:
        return x / 2

    assert halved(torch.ones(1)).item() == torch.ops.forcpu.halved(torch.ones(1)).item() == 0.5


def test_checks_say_what_is_wrong_with_an_operator():
    @torch.library.custom_op("checked::cube", mutates_args=())
    def cube(x: torch.Tensor) -> torch.Tensor:
        return x**3

    x = (torch.ones(2),)
    found = torch.library.opcheck(cube, x, raise_exception=False)
    assert found["test_schema"] == found["test_autograd_registration"] == "SUCCESS"
    assert "There was no fake impl registered" in str(found["test_faketensor"])
    forms = {
        "Shapes torch.Size([2]) and torch.Size([3]) are not equal!": lambda x: x.new_empty(3),
        "Dtypes torch.float32 and torch.int64 are not equal!": lambda x: x.new_empty(2, dtype=torch.int64),
    }
    for told, form in forms.items():
        cube.register_fake(form)
        with pytest.raises(
            Exception, match=r"opcheck\(op, ...\): test_faketensor failed with When"
        ) as failure:
            torch.library.opcheck(cube, x)
        assert told in str(failure.value)
    with pytest.raises(ValueError, match="op must be instance of torch"):
        torch.library.opcheck(lambda x: x, x)


def test_a_derivative_within_a_kernel_is_found():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    library = torch.library.Library("hidden", "DEF")
    library.define("doubled(Tensor x) -> Tensor")
    library.impl("doubled", Doubled.apply, "CPU")
    library.impl("doubled", torch.empty_like, "Meta")
    x = (torch.ones(2, requires_grad=True),)
    with pytest.raises(Exception, match="does not have an autograd kernel defined at an autograd key"):
        torch.library.opcheck(torch.ops.hidden.doubled, x)
    library._destroy()


def test_tensors_that_have_names_only_are_refused():
    schema = "(Tensor x, *, Tensor y) -> Tensor"
    with pytest.raises(NotImplementedError, match="custom_op with kwarg-only Tensor args"):
        torch.library.custom_op("named::f", lambda x, *, y: x, mutates_args=(), schema=schema)
    torch.library.define("named::g", schema)
    with pytest.raises(NotImplementedError, match="register_autograd with kwarg-only Tensor args"):
        torch.library.register_autograd("named::g", lambda ctx, gradient: gradient)


def test_a_list_of_numbers_is_one_argument_of_a_derivative():
    seen = []

    @library.custom_op("samples::cropped", mutates_args=())
    def cropped(picture: Tensor, box: Sequence[int]) -> Tensor:
        seen.append(box)
        return picture[..., box[1] : box[3], box[0] : box[2]].clone()

    def backward(ctx, gradient):
        seen.append(ctx.needs_input_grad)
        whole = gradient.new_zeros(ctx.shape)
        whole[..., ctx.box[1] : ctx.box[3], ctx.box[0] : ctx.box[2]] = gradient
        return whole, None

    def setup_context(ctx, inputs, output):
        ctx.shape, ctx.box = inputs[0].shape, inputs[1]

    cropped.register_autograd(backward, setup_context=setup_context)
    picture = torch.ones(2, 5, 5, requires_grad=True)
    cropped(picture, (0, 1, 3, 4)).sum().backward()
    assert picture.grad.sum() == 18
    assert seen == [[0, 1, 3, 4], (True, False)]

    seen_dims = []

    @cropped.register_vmap
    def rule(info, in_dims, picture, box):
        seen_dims.append(in_dims)
        return cropped(picture, box), in_dims[0]

    assert torch.vmap(lambda x: cropped(x, [0, 1, 3, 4]))(torch.ones(2, 5, 5)).shape == (2, 3, 3)
    assert seen_dims == [(0, [None] * 4)]
