"""Pruning: parameters some of whose elements are held at zero by a mask.

A pruned parameter `weight` is stored as `weight_orig`, the mask as the buffer `weight_mask`, and `weight` is
their product, which is made anew before every forward.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._rushlight import Tensor

if TYPE_CHECKING:
    from ..modules.module import Module


class BasePruningMethod(ABC):
    """A way to choose which elements become zero; a hook of the module that has the parameter."""

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask for the scores `t`: zero where `default_mask` is, and where this method says so."""

    def apply_mask(self, module: Module) -> Tensor:
        """Return the parameter with zeros where the mask has them."""
        original: Tensor = getattr(module, f"{self._tensor_name}_orig")
        mask: Tensor = getattr(module, f"{self._tensor_name}_mask")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter by this method, beside those by which it is pruned already."""
        before = _taken_from(module, name)
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        if before is not None:
            container = before if isinstance(before, PruningContainer) else PruningContainer(before)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        if importance_scores is not None:
            assert importance_scores.shape == original.shape, (
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {original.shape}"
            )
        scores = original if importance_scores is None else importance_scores
        if before is None:
            module.register_parameter(f"{name}_orig", original)
            del module._parameters[name]
            mask = native.ones_like(original)
        else:
            mask = getattr(module, f"{name}_mask").detach().clone()
        try:
            module.register_buffer(f"{name}_mask", method.compute_mask(scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if before is None:
                setattr(module, name, module._parameters.pop(f"{name}_orig"))
            raise
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None
    ) -> Tensor:
        """Return a tensor with zeros where this method says so."""
        if importance_scores is not None:
            assert importance_scores.shape == t.shape, (
                f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs "
                f"{t.shape}"
            )
        scores = t if importance_scores is None else importance_scores
        mask = native.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the parameter an ordinary one again, with zeros where it has been pruned."""
        name = self._tensor_name
        pruned = self.apply_mask(module)
        delattr(module, name)
        original = module._parameters.pop(f"{name}_orig")
        assert original is not None
        original.data = pruned.data
        del module._buffers[f"{name}_mask"]
        setattr(module, name, original)


def _taken_from(module: Module, name: str) -> BasePruningMethod | None:
    """Return the method by which a parameter is pruned, which is a hook of the module no longer."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            del module._forward_pre_hooks[key]
            return hook
    return None


class PruningContainer(BasePruningMethod):
    """Several methods one after the other: each chooses among what the others have left."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method, of the same parameter."""
        if method is None:
            return
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with what the last method chooses of the rest."""
        method = self._pruning_methods[-1]
        left = _left_for(method, default_mask)
        mask = default_mask.to(dtype=t.dtype, copy=True)
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=t.dtype)
        return mask


def _left_for(method: BasePruningMethod, mask: Tensor) -> Any:
    """Return an index of what a method may still choose from."""
    kind = method.PRUNING_TYPE
    if kind == "unstructured":
        return mask == 1
    if kind == "global":
        return (slice(None),) * mask.ndim
    if kind != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
    if not hasattr(method, "dim"):
        raise AttributeError(
            'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
        )
    dim = method.dim % mask.ndim
    others = [other for other in range(mask.ndim) if other != dim]
    return (*(slice(None),) * dim, mask.sum(others) != 0)


def _validate_pruning_amount_init(amount: Any) -> None:
    """Refuse what is neither a share nor a number of elements."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    share: Any = amount
    if share < 0 or (not isinstance(amount, numbers.Integral) and share > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """Refuse to prune more elements than there are."""
    if isinstance(amount, numbers.Integral) and int(amount) > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}"
        )


def _validate_structured_pruning(t: Tensor) -> None:
    """Refuse to prune slices of what has none."""
    if t.ndim <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.ndim} dims"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """Return how many of so many elements are pruned."""
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    """Return the norm of each slice along a dimension."""
    return native.norm(t, p=n, dim=[other for other in range(t.ndim) if other != dim % t.ndim])


class Identity(BasePruningMethod):
    """Prunes nothing: the parameter becomes one that can be pruned by hand."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask as it is."""
        return default_mask


class _Amount(BasePruningMethod):
    """Prunes so many elements, or such a share of them."""

    amount: Any

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        """Return how many of so many are pruned."""
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        return count


class _Unstructured(_Amount):
    """Prunes elements wherever they are: those with the least scores."""

    PRUNING_TYPE = "unstructured"

    def _scores(self, t: Tensor) -> Tensor:
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with zeros for the least scores too."""
        count = self._count(t.numel())
        mask = default_mask.clone()
        if count != 0:
            least = native.topk(self._scores(t).reshape(-1), k=count, largest=False)
            mask.view(-1)[least.indices] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _scores(self, t: Tensor) -> Tensor:
        return -native.rand_like(t)  # Those with the largest numbers go.


class L1Unstructured(_Unstructured):
    """Prunes the elements nearest to zero."""

    def _scores(self, t: Tensor) -> Tensor:
        return t.abs()

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: float, importance_scores: Tensor | None = None
    ) -> BasePruningMethod:
        """Prune a parameter by this method, beside those by which it is pruned already."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(_Amount):
    """Prunes whole slices along a dimension: those with the least scores."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _scores(self, t: Tensor) -> Tensor:
        """Return a score for each slice."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask with zeros for the slices with the least scores too."""
        _validate_structured_pruning(t)
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask
        kept = native.topk(self._scores(t), k=size - count, largest=True).indices
        slices = native.zeros(size)
        slices[kept] = 1
        shape = [1] * t.ndim
        shape[self.dim] = size
        return slices.view(shape).to(dtype=default_mask.dtype) * default_mask


class RandomStructured(_Structured):
    """Prunes slices at random."""

    def _scores(self, t: Tensor) -> Tensor:
        return native.rand(t.shape[self.dim])

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, dim: int = -1) -> BasePruningMethod:  # type: ignore[override]
        """Prune a parameter by this method, beside those by which it is pruned already."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices with the least norms."""

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _scores(self, t: Tensor) -> Tensor:
        return _compute_norm(t, self.n, self.dim)

    @classmethod
    def apply(  # type: ignore[override]
        cls,
        module: Module,
        name: str,
        amount: float,
        n: Any,
        dim: int,
        importance_scores: Tensor | None = None,
    ) -> BasePruningMethod:
        """Prune a parameter by this method, beside those by which it is pruned already."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the product of both masks."""
        assert default_mask.shape == self.mask.shape, (
            f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
        )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> BasePruningMethod:  # type: ignore[override]
        """Prune a parameter by this method, beside those by which it is pruned already."""
        return super().apply(module, name, mask=mask)


def identity(module: Module, name: str) -> Module:
    """Store a parameter as a pruned one of which nothing is pruned yet."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements of a parameter at random: so many, or such a share."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements nearest to zero, or with the least scores: so many, or such a share.

    >>> import rushlight as torch
    >>> from rushlight.nn.utils import prune
    >>> layer = torch.nn.Linear(3, 1, bias=False)
    >>> with torch.no_grad():
    ...     _ = layer.weight.copy_(torch.tensor([[1.0, -2.0, 3.0]]))
    >>> prune.l1_unstructured(layer, "weight", amount=1).weight
    tensor([[ 0., -2.,  3.]], grad_fn=<MulBackward0>)
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices of a parameter along a dimension at random: so many, or such a share."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the slices of a parameter with the least norms of order `n`: so many, or such a share."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune elements of several parameters, pairs of a module and a name, as if they were one tensor."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    if not isinstance(importance_scores or {}, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    tensors = [getattr(module, name) for module, name in pairs]
    scores = [(importance_scores or {}).get(pair, own) for pair, own in zip(pairs, tensors, strict=True)]
    masks = [
        getattr(module, f"{name}_mask", native.ones_like(own))
        for (module, name), own in zip(pairs, tensors, strict=True)
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    flat, mask = (native.cat([one.reshape(-1) for one in each]) for each in (scores, masks))
    pruned = PruningContainer(method).compute_mask(flat, mask)
    parts = native.split(pruned, [own.numel() for own in tensors])
    for (module, name), own, part in zip(pairs, tensors, parts, strict=True):
        custom_from_mask(module, name, mask=part.view_as(own))


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what a mask says."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Make a pruned parameter an ordinary one again, with zeros where it has been pruned."""
    method = _taken_from(module, name)
    if method is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    method.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Tell whether a parameter of a module, or of one in it, is pruned."""
    hooks = (hook for _, inner in module.named_modules() for hook in inner._forward_pre_hooks.values())
    return any(isinstance(hook, BasePruningMethod) for hook in hooks)
