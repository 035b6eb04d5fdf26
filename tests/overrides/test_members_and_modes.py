"""Methods and attributes that are no operations are shown like these, and whoever declines is named."""

import typing

import pytest
import rushlight as torch
from rushlight.overrides import TorchFunctionMode
from support import raises, run_script


class Seen(torch.Tensor):
    log: typing.ClassVar[list] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append((func.__name__, types))
        return super().__torch_function__(func, types, args, kwargs or {})


def calls(function):
    """Return the names of what `function` calls with an instance."""
    x = torch.ones(2, 2).as_subclass(Seen)
    Seen.log.clear()
    function(x)
    return [name for name, _ in Seen.log]


@pytest.mark.parametrize(
    "name",
    [
        "dim",
        "ndimension",
        "numel",
        "nelement",
        "tolist",
        "data_ptr",
        "storage_offset",
        "element_size",
        "is_floating_point",
        "is_complex",
        "is_signed",
        "is_conj",
        "is_inference",
        "_is_view",
        "is_shared",
    ],
)
def test_a_method_is_shown(name):
    expected = {"ndimension": "dim", "nelement": "numel"}.get(name, name)
    assert calls(lambda x: getattr(x, name)())[0] in (name, expected)


def test_methods_that_change_how_a_tensor_takes_part_are_shown():
    assert calls(lambda x: x.requires_grad_().register_hook(lambda g: g))[-1] == "register_hook"
    assert calls(lambda x: x.requires_grad_().retain_grad())[-1] == "retain_grad"
    assert calls(lambda x: x[0, 0].item()) == ["__getitem__", "item"]


def test_a_method_that_is_shown_answers_as_ever():
    x = torch.ones(2, 3)
    assert (x.dim(), x.numel(), torch.Tensor.dim(x), x[0, 0].item(), x.tolist()[0]) == (
        2,
        6,
        2,
        1.0,
        [1.0] * 3,
    )
    assert torch.Tensor.dim.__name__ == "dim"
    with pytest.raises(TypeError):
        x.dim(3)


class Log(TorchFunctionMode):
    def __init__(self):
        self.log = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append((func.__name__, types))
        return func(*args, **(kwargs or {}))


def test_a_mode_sees_methods_and_attributes_with_the_class_of_tensors():
    x, log = torch.ones(2), Log()
    with log:
        x.dim()
        x.shape  # noqa: B018
        x.sum()
        torch.tensor(1.0)
        torch.from_numpy(x.numpy())
    seen = [call for call in log.log if call[0] != "numpy"]
    assert seen == [("dim", (torch.Tensor,)), ("__get__", (torch.Tensor,)), ("sum", ()), ("tensor", ())]


class Declines(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return NotImplemented


def test_a_mode_that_declines_is_a_failure():
    x = torch.ones(2)
    with Declines():
        text = (
            "Multiple dispatch failed for 'torch.zeros'; all __torch_function__ handlers returned "
            "NotImplemented:\n\n  - mode object <"
        )
        with raises(TypeError, text):
            torch.zeros(3)
        with raises(TypeError, "unsupported operand type(s) for +: 'Tensor' and 'int'"):
            x + 1


def test_an_object_in_a_list_is_shown_the_call():
    run_script("""
        class Other:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return func.__name__, types
        assert torch.cat([Other(), torch.ones(2)]) == ("cat", (Other,))
        assert torch.stack([torch.ones(2), Other()]) == ("stack", (Other,))
        try:
            torch.cat([torch.ones(2), 3])
        except TypeError as error:
            assert str(error).startswith("expected Tensor as element 1 in argument 0, but got int"), error
        else:
            raise AssertionError
    """)


def test_a_handler_that_is_a_plain_method_is_deprecated():
    run_script("""
        import warnings
        class Plain:
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return 7
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert torch.add(Plain(), 1) == torch.add(Plain(), 2) == 7
        (one,) = caught
        assert one.category is UserWarning
        assert str(one.message).startswith("Defining your `__torch_function__` as a plain method is deprecated")
    """)


def test_modes_see_backward_and_grad():
    seen = []

    class Watching(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func, args, kwargs))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    with Watching():
        y.backward(retain_graph=True)
        torch.autograd.backward(y, retain_graph=True, inputs=[x])
        torch.autograd.grad(y, x)
    shown = [func for func, _, _ in seen if getattr(func, "__name__", "") in ("backward", "grad")]
    assert shown == [torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad]
    (call,) = [(args, kwargs) for func, args, kwargs in seen if func is torch.autograd.backward]
    assert call[0] == ((y,),) and call[1]["inputs"] == (x,)
    assert x.grad.tolist() == [4.0, 4.0]
