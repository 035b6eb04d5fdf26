"""What torch's public functions come to, by its inner names, where these give or take something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .. import return_types
from .._calls.showing import shown_as_given, taking
from .._functions.composites import norm_except_dim, tensordot
from .._functions.native_functions import embedding_bag, grid_sampler_2d
from .._functions.segments import segment_reduce
from .._functions.uniques import _groups
from .._rushlight import Tensor, _neg_view
from ..autograd import forward_ad
from ..nn import functional
from ..nn.utils import rnn

__all__: list[str] = ["_neg_view"]

# How sums are scaled, as torch numbers it, by what transforms call that: forth, and back.
_FORTH = ("backward", "ortho", "forward")
_BACK = ("forward", "ortho", "backward")

_segment_reduce = segment_reduce


@shown_as_given
def _aminmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the least and the greatest element.

    >>> import rushlight as torch
    >>> torch._aminmax(torch.tensor([3, 1, 2]))
    (tensor(1), tensor(3))
    """
    least, greatest = native.aminmax(self, dim=dim, keepdim=keepdim)
    return least, greatest


@shown_as_given
def _make_dual(primal: Tensor, tangent: Tensor, level: int) -> Tensor:
    """Return a view of a tensor that carries a tangent at a level of forward mode."""
    return forward_ad._make_dual(primal, tangent, level)


@shown_as_given
def _unpack_dual(dual: Tensor, level: int) -> return_types._unpack_dual:
    """Return a tensor without its tangent at a level of forward mode, and the tangent, if it has one."""
    return return_types._unpack_dual(forward_ad._unpack_dual(dual, level))


@shown_as_given
def _unique(self: Tensor, sorted: bool = True, return_inverse: bool = False) -> tuple[Tensor, Tensor]:
    """Return the unique elements, and where each element is among them, if that is asked for.

    >>> import rushlight as torch
    >>> torch._unique(torch.tensor([3, 1, 3]), return_inverse=True)
    (tensor([1, 3]), tensor([1, 0, 1]))
    """
    return _unique2(self, sorted, return_inverse)[:2]


@shown_as_given
def _unique2(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the unique elements, where each element is among them and how often they are there."""
    values, inverse, counts = _groups(self, None, False, True, True)
    none = native.empty(0, dtype=native.int64)
    return values, inverse if return_inverse else none, counts if return_counts else none


@shown_as_given
def _grid_sampler_2d_cpu_fallback(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return what `grid_sampler_2d` does: there is one way to compute it."""
    return grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)


@shown_as_given
def _add_relu(self: Tensor, other: Any, *, alpha: Any = 1, out: Tensor | None = None) -> Tensor:
    """Return sums, or zero where they are negative.

    >>> import rushlight as torch
    >>> torch._add_relu(torch.tensor([1.0, 2.0]), torch.tensor([1.0, -3.0]))
    tensor([2., 0.])
    """
    return native._written("_add_relu", native.add(self, other, alpha=alpha).relu(), out)


@shown_as_given
def _add_relu_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """Add to a tensor in place, and put zeros where it becomes negative."""
    return self.add_(other, alpha=alpha).relu_()


@shown_as_given
def _addmm_activation(
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Any = 1,
    alpha: Any = 1,
    use_gelu: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return what `addmm` does, with all that is negative left out.

    >>> import rushlight as torch
    >>> torch._addmm_activation(torch.zeros(2), torch.ones(1, 1), torch.tensor([[2.0, -2.0]]))
    tensor([[2., 0.]])
    """
    sums = native.addmm(self, mat1, mat2, beta=beta, alpha=alpha)
    found = functional.gelu(sums) if use_gelu else sums.relu()
    return native._written("_addmm_activation", found, out)


@shown_as_given
def _compute_linear_combination(input: Tensor, coefficients: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return sums of slices, each times its coefficient: a sum for each row of coefficients.

    >>> import rushlight as torch
    >>> torch._compute_linear_combination(torch.tensor([1.0, 10.0]), torch.tensor([[2.0, 3.0]]))
    tensor([32.])
    """
    found = tensordot(coefficients.to(input.dtype), input, ([1], [0]))
    return native._written("_compute_linear_combination", found, out)


@shown_as_given
def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Return the softmax, of halves in single precision if that is asked for."""
    return native.softmax(self, dim, native.float32 if half_to_float else None)


@shown_as_given
def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Return the logarithm of the softmax, of halves in single precision if that is asked for."""
    return native.log_softmax(self, dim, native.float32 if half_to_float else None)


@shown_as_given
def _fft_c2c(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    """Return the transform of complex elements along some dimensions, forth or back.

    >>> import rushlight as torch
    >>> torch._fft_c2c(torch.tensor([1 + 0j, 0j]), [0], 0, True)
    tensor([1.+0.j, 1.+0.j])
    """
    from .. import fft

    function, scaled = (fft.fftn, _FORTH) if forward else (fft.ifftn, _BACK)
    return function(self, dim=list(dim), norm=scaled[normalization])


@shown_as_given
def _fft_r2c(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    """Return the transform of real elements, or the half of it that says all."""
    from .. import fft

    function = fft.rfftn if onesided else fft.fftn
    return function(self, dim=list(dim), norm=_FORTH[normalization])


@shown_as_given
def _fft_c2r(self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    """Return real elements, of which that is half of the transform."""
    from .. import fft

    sizes = [*(self.shape[each] for each in dim[:-1]), last_dim_size]
    return fft.irfftn(self, sizes, list(dim), _BACK[normalization])


@shown_as_given
def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """Return slices of a tensor that have lengths which are given.

    >>> import rushlight as torch
    >>> torch._weight_norm(torch.tensor([[3.0, 4.0]]), torch.tensor([[10.0]]))
    tensor([[6., 8.]])
    """
    return v * (g / norm_except_dim(v, 2, dim))


@shown_as_given
def _euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor:
    """Return how far each row of one tensor is from each of another."""
    from .._functions.distances import cdist

    return cdist(x1, x2)


@shown_as_given
def _stack(tensors: Sequence[Tensor], dim: int = 0, *, out: Tensor | None = None) -> Tensor:
    """Return tensors one after another along a new dimension."""
    return native.stack(tensors, dim, out=out)


@shown_as_given
def _conj(self: Tensor) -> Tensor:
    """Return a view that shows conjugates."""
    return native.conj(self)


@shown_as_given
def _conj_physical(self: Tensor) -> Tensor:
    """Return conjugates, in memory of their own."""
    return native.conj_physical(self)


@shown_as_given
def _adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Return means of parts of images, so many of them."""
    return functional.adaptive_avg_pool2d(self, output_size)


@shown_as_given
def _adaptive_avg_pool3d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Return means of parts of bodies, so many of them."""
    return functional.adaptive_avg_pool3d(self, output_size)


@shown_as_given
def _pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Tensor, Tensor]:
    """Return padded sequences as one, step by step, and how many of them have each step."""
    packed = rnn.pack_padded_sequence(input, lengths, batch_first)
    return packed.data, packed.batch_sizes


@shown_as_given
def _pad_packed_sequence(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: float, total_length: int
) -> tuple[Tensor, Tensor]:
    """Return packed sequences with padding behind them, and their lengths."""
    packed, total = rnn.PackedSequence(data, batch_sizes), total_length if total_length > 0 else None
    return rnn.pad_packed_sequence(packed, batch_first, padding_value, total)


@taking(
    "(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
    "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1)"
)
def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, ...]:
    """Return what rows of a table come to in bags, and what backward goes by; -1 is no padding.

    >>> import rushlight as torch
    >>> torch._embedding_bag(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1]), torch.tensor([0]))[0]
    tensor([[3.]])
    """
    return embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        None if padding_idx < 0 else padding_idx,
    )


_embedding_bag_forward_only = _embedding_bag


@shown_as_given
def _nested_tensor_from_mask(t: Tensor, mask: Tensor, mask_check: bool = True) -> Tensor:
    """Return the rows of each sequence where a mask holds, in tensors of several lengths."""
    from ..nested import as_nested_tensor

    if mask.dtype != native.bool:
        raise RuntimeError("Expected mask to be of ScalarType Bool, but got another type.")
    if mask.ndim != 2:
        raise RuntimeError("Padding mask should be 2D")
    if t.ndim != 3:
        raise RuntimeError("Input should be a 3D tensor, N * L * D")
    lengths = mask.sum(1)
    if mask_check and not bool((mask == (native.arange(mask.shape[1]) < lengths[:, None])).all()):
        raise RuntimeError("Mask must be left-aligned without gaps")
    return as_nested_tensor([rows[:length] for rows, length in zip(t, lengths.tolist(), strict=True)])


def _debug_has_internal_overlap(self: Tensor) -> int:
    """Tell whether elements of a tensor lie in one place: 0 if none do, 1 if some do, 2 if it is not seen.

    >>> import rushlight as torch
    >>> torch._debug_has_internal_overlap(torch.zeros(1).expand(3))
    1
    """
    if any(size > 1 and stride == 0 for size, stride in zip(self.shape, self.stride(), strict=True)):
        return 1
    expected = 1
    for stride, size in sorted(zip(self.stride(), self.shape, strict=True)):
        if size != 1 and stride != expected:
            return 2
        expected *= size
    return 0


def set_flush_denormal(mode: bool) -> bool:
    """Ask for numbers below the normal ones to become zero; answer whether that can be had: it cannot.

    >>> import rushlight as torch
    >>> torch.set_flush_denormal(True)
    False
    """
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return False
