"""The function behind an operator that is called by its handle: `torch.ops.aten.mm.default`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .. import _rushlight
from .._rushlight import Tensor
from . import package
from .gradients import GRADIENTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from .._ops import OpOverload

__all__ = ["function_of"]


def _slice(x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


# Operators that no public function has the name of, or only one that takes something else.
_OTHERS: dict[str, Callable[[ModuleType], Any]] = {
    "_cdist_forward": lambda torch: lambda x, y, p, compute_mode=None: torch.cdist(x, y, p),
    "_conj_copy": lambda torch: lambda x: x.conj().clone().resolve_conj(),
    "_convolution_mode": lambda torch: _convolved,
    "_dim_arange": lambda torch: lambda like, dim: torch.arange(like.size(dim)),
    "_is_zerotensor": lambda torch: lambda x: False,
    "_linalg_det": lambda torch: lambda x: (torch.linalg.det(x), *torch.linalg.lu_factor(x)),
    "_linalg_eigh": lambda torch: lambda x, UPLO="L", compute_v=True: torch.linalg.eigh(x, UPLO),
    "_linalg_svd": lambda torch: (
        lambda x, full_matrices=False, compute_uv=True, *, driver=None: torch.linalg.svd(x, full_matrices)
    ),
    "_log_softmax": lambda torch: lambda x, dim, half=False: torch.log_softmax(x, dim),
    "_logcumsumexp": lambda torch: torch.logcumsumexp,
    "_neg_view_copy": lambda torch: torch.neg,
    "_pin_memory": lambda torch: lambda x, device=None: x.pin_memory(),
    "_prelu_kernel": lambda torch: torch.prelu,
    "_reshape_copy": lambda torch: lambda x, size: x.reshape(size).clone(),
    "_reshape_alias": lambda torch: lambda x, size, stride: x.as_strided(size, stride, x.storage_offset()),
    "_scaled_dot_product_flash_attention_for_cpu": lambda torch: _attended,
    "_sparse_addmm": lambda torch: torch.addmm,
    "_softmax": lambda torch: lambda x, dim, half=False: torch.softmax(x, dim),
    "_to_cpu": lambda torch: list,
    "_to_copy": lambda torch: lambda x, *, dtype=None, **rest: x.to(dtype or x.dtype, copy=True),
    "_unsafe_index": lambda torch: _indexed,
    "_unsafe_index_put": lambda torch: _put,
    "_unsafe_view": lambda torch: lambda x, size: x.reshape(size),
    "_local_scalar_dense": lambda torch: Tensor.item,
    "alias": lambda torch: lambda x: x.as_subclass(torch.Tensor),
    "copy": lambda torch: lambda x, source: source.to(x.dtype).expand(x.shape).clone(),
    "expand": lambda torch: lambda x, size, *, implicit=False: x.expand(size),
    "index": lambda torch: _indexed,
    "index_put": lambda torch: _put,
    "index_put_": lambda torch: lambda x, *rest: x.copy_(_put(x, *rest)),
    "lift": lambda torch: lambda x: x,
    "lift_fresh": lambda torch: lambda x: x,
    "lift_fresh_copy": lambda torch: torch.clone,
    "matrix_H": lambda torch: lambda x: x.mH,
    "max_pool2d_with_indices": lambda torch: (
        lambda x, *rest, **options: torch.nn.functional.max_pool2d(x, *rest, return_indices=True, **options)
    ),
    "_new_zeros_with_same_feature_meta": lambda torch: (
        lambda x, other, *, self_num_batch_dims=0: x.new_zeros([*x.shape[:self_num_batch_dims], *other.shape])
    ),
    "native_dropout": lambda torch: lambda x, p, train: _dropout(torch, x, p, train),
    "native_dropout_backward": lambda torch: lambda grad, mask, scale: grad * mask * scale,
    "nll_loss_forward": lambda torch: _nll_loss,
    "numpy_T": lambda torch: lambda x: x.T,
    **{f"reflection_pad{dims}d": lambda torch: _padded("reflect") for dims in (1, 2, 3)},
    **{f"replication_pad{dims}d": lambda torch: _padded("replicate") for dims in (1, 2, 3)},
    "slice": lambda torch: _slice,
    "sym_constrain_range_for_size": lambda torch: lambda size, *, min=None, max=None: None,
    "sym_is_contiguous": lambda torch: Tensor.is_contiguous,
    "sym_numel": lambda torch: Tensor.numel,
    "sym_size": lambda torch: Tensor.size,
    "sym_storage_offset": lambda torch: Tensor.storage_offset,
    "sym_stride": lambda torch: Tensor.stride,
    "unique_dim": lambda torch: _unique,
}


def _indexed(x: Tensor, indices: list[Tensor | None]) -> Tensor:
    return x[tuple(slice(None) if index is None else index for index in indices)]


def _put(x: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    given = [index for index in indices if index is not None]
    if len(given) == len(indices):
        return _rushlight.index_put(x, given, values, accumulate)
    # The function takes no dimensions that are left out, so that elements are counted through all of them.
    numbers = _indexed(_rushlight.arange(x.numel()).view(x.shape), indices)
    put = x.reshape(-1).index_put((numbers.flatten(),), values.expand(numbers.shape).flatten(), accumulate)
    return put.view(x.shape)


def _padded(mode: str) -> Callable[..., Any]:
    return lambda x, padding: package().nn.functional.pad(x, padding, mode)


def _nll_loss(
    x: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    functional = package().nn.functional
    how = ("none", "mean", "sum")[reduction]
    loss = functional.nll_loss(x, target, weight, ignore_index=ignore_index, reduction=how)
    kept = target[target != ignore_index]
    total = x.new_tensor(kept.numel()) if weight is None else weight[kept].sum()
    return loss, total if reduction or x.ndim < 2 else total.new_zeros(())


def _attended(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    attend = package().nn.functional.scaled_dot_product_attention
    output = attend(query, key, value, attn_mask, dropout_p, is_causal, scale=scale)
    scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(
            ~_rushlight.ones_like(scores, dtype=_rushlight.bool).tril(), -float("inf")
        )
    elif attn_mask is not None:
        scores = scores + attn_mask
    return output, scores.logsumexp(-1)


def _unique(
    x: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    # It counts and says where each is, whether or not it is asked to.
    found: tuple[Tensor, Tensor, Tensor] = package().unique(x, sorted, True, True, dim)
    return found


def _convolved(
    x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: str, dilation: Any, groups: int
) -> Any:
    functional = package().nn.functional
    convolve = getattr(functional, f"conv{x.ndim - 2}d")
    return convolve(x, weight, bias, stride, padding, dilation, groups)


def _dropout(torch: ModuleType, x: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    kept = torch.nn.functional.dropout(torch.ones_like(x), p, train is not False)
    return x * kept, kept != 0


# Operators whose functions stand in a module of their own, by how their names begin.
_FAMILIES = {"linalg_": "linalg", "fft_": "fft", "special_": "special"}


def _apart(name: str) -> Callable[..., Any] | None:
    """Return what an operator is made of that copies what another shows or writes to."""
    view, writes = name.removesuffix("_copy"), getattr(Tensor, f"{name}_", None)
    if view != name:
        torch = package()
        shows: Any = next((getattr(room, view) for room in (torch, Tensor) if hasattr(room, view)), None)

        def copied(*args: Any, **kwargs: Any) -> Any:
            shown = shows(*args, **kwargs)
            return shown.clone() if isinstance(shown, Tensor) else [one.clone() for one in shown]

        return copied if shows is not None else None
    if writes is None:
        return None
    return lambda x, *args, **kwargs: writes(x.clone(), *args, **kwargs)


@cache
def function_of(operator: OpOverload) -> Callable[..., Any]:
    """Return what computes an operator."""
    name = operator._packet.__name__
    torch = package()
    found: Callable[..., Any] | None
    if name in _OTHERS:
        found = _OTHERS[name](torch)
    elif name in GRADIENTS:
        found = GRADIENTS[name]
    elif family := next((start for start in _FAMILIES if name.startswith(start)), None):
        found = getattr(getattr(torch, _FAMILIES[family]), name.removeprefix(family))
    else:
        rooms = (torch, Tensor, _rushlight._nn)
        found = next((getattr(room, name) for room in rooms if hasattr(room, name)), None)
        # Beside what it computes, the last room knows names of what is not computed.
        found = found or vars(torch._C._nn).get(name) or _apart(name)
    if found is None:
        from .._compat._decomp import decomposition_table

        found = decomposition_table.get(operator)
    if found is not None:
        return found
    raise NotImplementedError(f"Could not run '{operator.name()}' with arguments from the 'CPU' backend.")
