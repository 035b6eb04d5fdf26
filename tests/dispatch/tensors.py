"""Classes of tensors that the tests of this folder share."""

from typing import ClassVar

import rushlight as torch
from rushlight.utils._python_dispatch import return_and_correct_aliasing
from rushlight.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

aten = torch.ops.aten


class Logged(torch.Tensor):
    """A wrapper around a tensor that writes down what it is shown."""

    log: ClassVar[list] = []

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            elem.size(),
            strides=elem.stride(),
            storage_offset=elem.storage_offset(),
            dtype=elem.dtype,
            layout=elem.layout,
            device=elem.device,
            requires_grad=requires_grad,
        )

    def __init__(self, elem, requires_grad=False):
        self.elem = elem

    def __repr__(self):
        return f"{type(self).__name__}({self.elem})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.log.append((str(func), types))
        args, kwargs = tree_map_only(Logged, lambda x: x.elem, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, cls, func(*args, **kwargs))


class Two(torch.Tensor):
    """Two tensors at once."""

    @staticmethod
    def __new__(cls, a, b, size=None, stride=None):
        return torch.Tensor._make_wrapper_subclass(
            cls,
            a.size() if size is None else size,
            strides=a.stride() if stride is None else stride,
            dtype=a.dtype,
            requires_grad=a.requires_grad,
        )

    def __init__(self, a, b, size=None, stride=None):
        self.a, self.b = a, b

    def __repr__(self):
        return f"Two({self.a}, {self.b})"

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(parts, context, size, stride):
        return Two(parts["a"], parts["b"], size, stride)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        given = (args, kwargs or {})
        results = []
        for name in ("a", "b"):
            own, options = tree_map_only(Two, lambda x, name=name: getattr(x, name), given)
            results.append(tree_flatten(func(*own, **options)))
        (first, spec), (second, _) = results
        both = [
            cls(*pair) if isinstance(pair[0], torch.Tensor) else pair[0]
            for pair in zip(first, second, strict=True)
        ]
        return return_and_correct_aliasing(func, *given, tree_unflatten(both, spec))


class Counted(torch.Tensor):
    """A tensor with numbers that counts what is computed with it."""

    count = 0

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        Counted.count += 1
        return super().__torch_dispatch__(func, types, args, kwargs or {})


def logged(call):
    """Return what `call` returns, and the names of the operators that were shown meanwhile."""
    Logged.log.clear()
    result = call()
    return result, [name for name, _ in Logged.log]
