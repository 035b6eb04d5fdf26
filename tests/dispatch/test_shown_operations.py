"""Classes below `Tensor` that are shown the operations on their instances: `__torch_dispatch__`."""

import copy

import pytest
import rushlight as torch
from dispatch.tensors import Counted, Logged, aten, logged
from rushlight.utils._python_dispatch import TorchDispatchMode
from support import raises

F = torch.nn.functional


def wrapped(*shape, requires_grad=True):
    numbers = torch.arange(1.0, 1 + torch.ones(shape).numel()).reshape(shape) / 7
    return Logged(numbers, requires_grad=requires_grad)


def test_an_operation_is_shown_to_the_class():
    x = wrapped(2, requires_grad=False)
    y, names = logged(lambda: (x * 2).exp())
    assert names == ["aten.mul.Tensor", "aten.exp.default"]
    assert type(y) is Logged and torch.equal(y.elem, (x.elem * 2).exp())
    assert Logged.log[0][1] == (Logged,)


def test_what_the_class_returns_is_the_result():
    made = []

    class Kept(Logged):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            made.append(super().__torch_dispatch__(func, types, args, kwargs))
            made[-1].note = str(func)
            return made[-1]

    y = Kept(torch.ones(2), requires_grad=True) + 1
    assert y is made[0] and y.note == "aten.add.Tensor"
    assert y.requires_grad and y.grad_fn.name() == "AddBackward0"


def test_backward_is_shown_and_gradients_are_of_the_class():
    x = wrapped(2)
    y = x * x
    _, names = logged(lambda: y.sum().backward())
    assert names == [
        "aten.sum.default",
        "aten.ones_like.default",
        "aten.expand.default",
        "aten.mul.Tensor",
        "aten.mul.Tensor",
        "aten.add.Tensor",
        "aten.detach.default",
    ]
    assert type(x.grad) is Logged and torch.allclose(x.grad.elem, 2 * x.elem)


def test_what_an_operation_keeps_of_its_output_is_detached():
    x = wrapped(2)
    y, names = logged(lambda: x.exp())
    assert names == ["aten.exp.default", "aten.detach.default"]
    (gradient,), names = logged(lambda: torch.autograd.grad(y.sum(), x))
    assert names == [
        "aten.sum.default",
        "aten.ones_like.default",
        "aten.expand.default",
        "aten.detach.default",
        "aten.mul.Tensor",
    ]
    assert torch.allclose(gradient.elem, x.elem.exp())


def test_what_an_operation_keeps_of_its_input_is_the_input():
    x = wrapped(2)
    assert (x * x).grad_fn._saved_self is x
    assert type(x.exp().grad_fn._saved_result) is Logged


@pytest.mark.parametrize(
    "call",
    [
        lambda x: (x * 2 + 1 / x - x**2).mean(),
        lambda x: x.softmax(0) * x.log_softmax(1),
        lambda x: x @ x.t(),
        lambda x: F.linear(x, x, x[:, 0]),
        lambda x: torch.where(x > 0.5, x, -x).relu(),
        lambda x: x.clamp(0.2, 0.9).sigmoid().tanh(),
        lambda x: x[1:, None, ::2] * x[0, 0],
        lambda x: x[torch.tensor([0, 1, 1])],
        lambda x: x.max(1).values + x.sort(0).values[0],
        lambda x: x.std() * x.norm() + x.prod() + x.var(1),
        lambda x: torch.cat([x, x.flip(0)]).cumsum(0),
        lambda x: torch.stack(x.unbind(1)).split(2)[0],
        lambda x: F.layer_norm(x, (3,)) + F.gelu(x),
        lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2])),
        lambda x: F.conv1d(x[None], x[None, :, :2]),
        lambda x: x.gather(1, torch.tensor([[0], [2], [1]])).expand(3, 2),
        lambda x: torch.einsum("ij,kj->ik", x, x),
        lambda x: x.masked_fill(x > 0.7, 2.0).triu(),
        lambda x: (x * 1).mul_(x).exp_(),
        lambda x: (x * 1).clamp_(max=1.0).mul_(2),
        lambda x: x * x.sum().item() if x.sum() > 0 else x,
        lambda x: x.to(torch.float64).reshape(-1).unfold(0, 2, 1),
        lambda x: torch.linalg.inv(x + 3 * torch.eye(3)),
    ],
)
def test_values_and_gradients_are_those_of_what_is_inside(call):
    inside = wrapped(3, 3).elem.requires_grad_()
    expected = call(inside)
    (wanted,) = torch.autograd.grad(expected.sum(), inside)
    x = Logged(inside.detach(), requires_grad=True)
    got = call(x)
    (gradient,) = torch.autograd.grad(got.sum(), x)
    assert type(got) is type(gradient) is Logged
    assert got.grad_fn.name() == expected.grad_fn.name()
    assert torch.allclose(got.elem, expected) and torch.allclose(gradient.elem, wanted, atol=1e-6)


def test_gradients_of_gradients_are_those_of_what_is_inside():
    x = wrapped(2)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert torch.allclose(second.elem, 6 * x.elem)


def test_a_write_is_shown_and_returns_what_was_written_to():
    x = wrapped(2) * 2
    y, names = logged(lambda: x.add_(1))
    assert y is x and names == ["aten.add_.Tensor"] and x._version == 1
    assert x.grad_fn.name() == "AddBackward0"


def test_a_write_to_what_was_kept_is_noticed():
    x = wrapped(2) * 1
    y = x * x
    x.mul_(2)
    with raises(RuntimeError, "one of the variables needed for gradient computation has been modified"):
        y.sum().backward()


def test_views_know_their_base():
    x = wrapped(2, 3)
    view = x.view(6)
    assert type(view) is Logged and view._is_view() and view._base is x
    y = x * 1
    y.view(-1)[0].mul_(5)
    assert y.grad_fn.name() == "torch::autograd::CopySlices"


def test_without_recording_there_is_no_history():
    x = wrapped(2)
    with torch.no_grad():
        y = x * 2
    assert type(y) is Logged and y.grad_fn is None


def test_detached_tensors_are_what_the_class_makes_of_it():
    x = wrapped(2)
    y, names = logged(lambda: x.detach())
    assert names == ["aten.detach.default"] and type(y) is Logged and not y.requires_grad
    assert type(x.data) is Logged


def test_numbers_are_asked_of_the_class():
    x = wrapped(3, requires_grad=False)
    number, names = logged(lambda: x.sum().item())
    assert names == ["aten.sum.default", "aten._local_scalar_dense.default"]
    assert number == x.elem.sum().item() == float(x.sum())
    assert bool(x.sum() > 0) is True


def test_tensors_are_made_like_them():
    x = wrapped(2, requires_grad=False)
    for call in (torch.ones_like, torch.zeros_like, torch.empty_like, lambda x: x.new_zeros(3)):
        assert type(call(x)) is Logged


def test_memory_that_is_read_otherwise_is_shown():
    x = wrapped(2, 2, requires_grad=False)
    y, names = logged(lambda: x.view(torch.int32))
    assert names[0] == "aten.view.dtype"
    assert type(y) is Logged and torch.equal(y.elem, x.elem.view(torch.int32))
    z, names = logged(lambda: Logged(torch.ones(2, dtype=torch.complex64)).conj())
    assert names == ["aten._conj.default"] and z.elem.is_conj()
    z, names = logged(lambda: torch._neg_view(x))
    assert names == ["aten._neg_view.default"] and z.elem.is_neg()


def test_an_operation_with_two_results_is_shown_with_both():
    x = wrapped(2)
    (mantissas, exponents), names = logged(lambda: torch.frexp(x))
    assert names[0] == "aten.frexp.Tensor" and type(exponents) is Logged
    assert torch.equal(mantissas.elem * 2.0**exponents.elem, x.elem)
    mantissas.sum().backward()
    assert torch.equal(x.grad.elem, 2.0**-exponents.elem)


def test_plain_tensors_may_take_part():
    x = wrapped(2, requires_grad=False)
    assert type(torch.ones(2) * x) is Logged
    plain = torch.zeros(2)
    assert plain.copy_(x) is plain


def test_a_plain_tensor_may_be_the_result():
    class Bare(Logged):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*[arg.elem if isinstance(arg, Bare) else arg for arg in args])

    x = Bare(torch.ones(2), requires_grad=True)
    y = x * 3
    assert type(y) is torch.Tensor and y.grad_fn.name() == "MulBackward0"
    assert torch.equal(torch.autograd.grad(y.sum(), x)[0], torch.full((2,), 3.0))


def test_the_class_above_computes():
    Counted.count = 0
    x = torch.ones(2).as_subclass(Counted)
    y = x + 1
    assert type(y) is torch.Tensor and Counted.count == 1 and torch.equal(y, torch.full((2,), 2.0))


def test_without_a_handler_of_its_own_a_class_is_shown_nothing():
    class Plain(torch.Tensor):
        pass

    assert Plain.__torch_dispatch__ is torch.Tensor.__torch_dispatch__
    assert Plain.__torch_dispatch__ is torch._C._disabled_torch_dispatch_impl
    assert type(torch.ones(2).as_subclass(Plain) + 1) is Plain


def test_a_handler_switches_the_showing_of_calls_off():
    assert Counted.__torch_function__ is torch._C._disabled_torch_function_impl

    class Both(Counted):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs)

    assert Both.__torch_function__ is not torch._C._disabled_torch_function_impl


def test_a_class_is_asked_before_the_class_above_it():
    asked = []

    class Above(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            asked.append((cls, types))
            return "above" if cls is Above else NotImplemented

    class Below(Above):
        pass

    above, below = torch.ones(2).as_subclass(Above), torch.ones(2).as_subclass(Below)
    with raises(RuntimeError, "Unable to cast above to Tensor"):
        torch.mul(above, below)
    assert asked == [(Below, (Below, Above)), (Above, (Below, Above))]


class Declining(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def test_somebody_has_to_answer():
    x = torch.ones(2).as_subclass(Declining)
    text = (
        "Multiple dispatch failed for 'torch._ops.aten.exp.default'; all __torch_dispatch__ handlers returned "
        f"NotImplemented:\n\n  - tensor subclass {Declining}\n\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )
    with raises(TypeError, text):
        x.exp()
    with raises(TypeError, "unsupported operand type(s) for +: 'Declining' and 'int'"):
        x + 1


def test_modes_are_asked_before_classes():
    asked = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            asked.append((str(func), types))
            return func(*args, **(kwargs or {}))

    x = wrapped(2, requires_grad=False)
    Logged.log.clear()
    with Mode():
        y = x * 2
    assert type(y) is Logged and asked[0] == ("aten.mul.Tensor", (Logged,))
    assert [name for name, _ in Logged.log] == ["aten.mul.Tensor"]


def test_a_mode_may_leave_it_to_classes():
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    x, declining = torch.ones(2).as_subclass(Counted), torch.ones(2).as_subclass(Declining)
    with Mode():
        assert type(x * 2) is torch.Tensor
        with raises(TypeError, "Multiple dispatch failed for 'torch._ops.aten.mul.Tensor'"):
            torch.mul(declining, 2)


def test_an_error_of_the_handler_comes_through():
    class Refusing(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise ValueError(f"no {func}")

    with raises(ValueError, "no aten.add.Tensor"):
        torch.ones(2).as_subclass(Refusing) + 1


def test_a_handler_that_asks_itself_again_does_not_end():
    class Again(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with pytest.raises(RecursionError):
        torch.ones(2).as_subclass(Again) + 1


def test_functions_of_ones_own_keep_tensors_of_the_class():
    seen = []

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, gradient):
            seen.extend(map(type, (gradient, *ctx.saved_tensors)))
            return gradient * ctx.saved_tensors[1]

    x = wrapped(2)
    y = Exp.apply(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert seen == [Logged] * 3 and torch.allclose(gradient.elem, x.elem.exp())


def test_hooks_are_given_tensors_of_the_class():
    seen = []
    x = wrapped(2)
    y = x * 1
    y.register_hook(lambda gradient: seen.append(type(gradient)))
    y.sum().backward()
    assert seen == [Logged]


def test_hooks_on_what_is_kept_are_given_tensors_of_the_class():
    seen = []

    def look(x):
        seen.append(type(x))
        return x

    x = wrapped(2)
    with torch.autograd.graph.saved_tensors_hooks(look, look):
        y = x.exp() * x
    y.sum().backward()
    assert set(seen) == {Logged} and torch.allclose(x.grad.elem, x.elem.exp() * (1 + x.elem))


def test_optimisers_step_such_parameters():
    x = wrapped(2)
    before = x.elem.clone()
    (x * 3).sum().backward()
    torch.optim.SGD([x], lr=0.5).step()
    assert type(x) is Logged and torch.allclose(x.elem, before - 1.5)


def test_parameters_may_be_such_tensors():
    parameter = torch.nn.Parameter(wrapped(2, 2, requires_grad=False))
    assert type(parameter) is Logged and isinstance(parameter, torch.nn.Parameter)
    layer = torch.nn.Linear(2, 2, bias=False)
    layer.weight = parameter
    layer(torch.ones(1, 2)).sum().backward()
    assert type(parameter.grad) is Logged


def test_once_none_is_left_nothing_is_shown():
    x = wrapped(2)
    copied = copy.copy(x.elem)
    del x
    _, names = logged(lambda: copied * 2 + torch.ones(2))
    assert names == []


def test_operators_are_the_ones_of_the_library():
    seen = []

    class Seen(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_dispatch__(func, types, args, kwargs or {})

    torch.ones(2).as_subclass(Seen).neg()
    assert seen == [aten.neg.default] and seen[0] is aten.neg.default


def test_no_tensor_is_taken_apart_to_write_to_another():
    x, y, names = torch.ones(3), torch.ones(3), []

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    with Names():
        torch.exp(x, out=y)
        torch.add(x, x, out=y)
    assert "unbind" not in names


def test_conversions_are_shown_with_the_type_that_they_convert_to():
    shown = []

    class Conversions(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is aten._to_copy.default:
                shown.append(kwargs["dtype"])
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    with Conversions():
        torch.float_power(x, 2).sum().backward()
        x.double()
        x.to(torch.float32, copy=True)
    assert shown == [torch.float64, torch.float32, torch.float64, torch.float32]
