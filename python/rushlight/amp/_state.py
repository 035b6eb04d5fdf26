"""What a thread is told about mixed precision, and the mode that does it.

The mode sees every compiled function that is called, beneath all others. Those that are named here get their
arguments in a half type, in single precision, or in the widest of their types; all others are called as they
are.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_IN_HALVES = """
__matmul__ __rmatmul__ addbmm addmm baddbmm bmm chain_matmul conv1d conv2d conv3d conv_transpose1d
conv_transpose2d conv_transpose3d corrcoef cov einsum inner linalg_matrix_power linalg_multi_dot
linalg_vecdot linear matmul matrix_power mm prelu tensordot
"""
_IN_SINGLE = """
adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits
cdist cholesky cholesky_inverse cholesky_solve cross_entropy_loss fractional_max_pool2d
fractional_max_pool3d geqrf huber_loss inverse l1_loss linalg_cholesky linalg_cholesky_ex linalg_cond
linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex
linalg_lstsq linalg_matrix_rank linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv
linalg_tensorsolve lu_solve max_pool3d max_unpool2d max_unpool3d mse_loss multi_margin_loss
multilabel_margin_loss nanquantile nll_loss nll_loss_nd orgqr ormqr pinverse polar prod qr quantile
reflection_pad replication_pad smooth_l1_loss stft svd trace triangular_solve view_as_complex
"""
_IN_WIDEST = """
cat index_copy stack
"""

_LOWERED, _EXACT, _WIDEST = (frozenset(names.split()) for names in (_IN_HALVES, _IN_SINGLE, _IN_WIDEST))


class State(threading.local):
    """What a thread is told."""

    def __init__(self) -> None:
        self.enabled = False
        self.dtype: Any = native.bfloat16
        self.caches = True
        self.nesting = 0
        # The number of a leaf -> the leaf, and what it is in the half type.
        self.cached: dict[int, tuple[Tensor, Tensor]] = {}
        self.mode: Mode | None = None

    def enable(self, enabled: bool) -> None:
        """Turn it on or off. The mode stays until the outermost block ends."""
        self.enabled = enabled
        if enabled and self.mode is None:
            self.mode = Mode()
            native._exchange_mode_beneath(self.mode)
        elif not enabled and self.mode is not None and self.nesting == 0:
            native._exchange_mode_beneath(None)
            self.mode = None


state = State()


class Mode:
    """Gives functions their arguments in the types that are best for them."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if state.enabled and kwargs.get("out") is None:
            name = getattr(func, "__name__", "")
            wanted = None
            if name in _LOWERED:
                wanted = state.dtype
            elif name in _EXACT:
                wanted = native.float32
            elif name in _WIDEST:
                wanted = _widest([args, kwargs])
            if wanted is not None:
                args = cast(args, wanted)
                kwargs = cast(kwargs, wanted)
        return func(*args, **kwargs)


def _counts(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point() and value.dtype is not native.float64


def _widest(value: Any) -> Any:
    """Return the type that holds all tensors of floating-point numbers, `None` where there are none."""
    if isinstance(value, Tensor):
        return value.dtype if value.is_floating_point() else None
    if not isinstance(value, (tuple, list, dict)):
        return None
    found = None
    for one in value.values() if isinstance(value, dict) else value:
        dtype = _widest(one)
        if dtype is not None:
            found = dtype if found is None else native.promote_types(found, dtype)
    return found


def cast(value: Any, dtype: Any) -> Any:
    """Return the value with the tensors in it in another type, but for those of double precision."""
    if _counts(value):
        return value if value.dtype is dtype else _converted(value, dtype)
    if isinstance(value, dict):
        return {name: cast(one, dtype) for name, one in value.items()}
    if type(value) in (tuple, list):
        return type(value)(cast(one, dtype) for one in value)
    return value


def _converted(value: Tensor, dtype: Any) -> Tensor:
    """Return the tensor in another type; what parameters become is kept until the outermost block ends."""
    keeps = (
        state.caches
        and state.nesting > 0
        and dtype is state.dtype
        and value.dtype is native.float32
        and value.requires_grad
        and value.is_leaf
        and not value._is_view()
    )
    if not keeps:
        return value.to(dtype)
    if id(value) not in state.cached:
        state.cached[id(value)] = value, value.to(dtype)
    return state.cached[id(value)][1]


def _kind(device_type: Any) -> str:
    """Return the name of a kind of device, if it is one."""
    return str(native.device(device_type).type)


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Tell whether functions get their arguments in half types now.

    >>> import rushlight as torch
    >>> torch.is_autocast_enabled("cpu")
    False
    """
    return _kind(device_type) == "cpu" and state.enabled


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Say whether functions get their arguments in half types from now on."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if _kind(device_type) == "cpu":
        state.enable(bool(enabled))


def get_autocast_dtype(device_type: str) -> Any:
    """Return the half type that functions get their arguments in.

    >>> import rushlight as torch
    >>> torch.get_autocast_dtype("cpu")
    torch.bfloat16
    """
    if not is_autocast_available(device_type):
        raise RuntimeError("unsupported scalarType")
    return state.dtype if _kind(device_type) == "cpu" else native.float16


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Say which half type functions get their arguments in."""
    if _kind(device_type) == "cpu":
        state.dtype = dtype


def is_autocast_cache_enabled() -> bool:
    """Tell whether parameters in a half type are kept until the outermost block ends."""
    return state.caches


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether parameters in a half type are kept until the outermost block ends."""
    state.caches = enabled


def clear_autocast_cache() -> None:
    """Give up what parameters became in a half type."""
    state.cached.clear()


def autocast_increment_nesting() -> int:
    """Begin a block, and return how many there are."""
    state.nesting += 1
    return state.nesting


def autocast_decrement_nesting() -> int:
    """End a block, and return how many are left."""
    state.nesting -= 1
    return state.nesting


def is_autocast_available(device_type: str) -> bool:
    """Tell whether a kind of device knows mixed precision.

    >>> import rushlight as torch
    >>> torch.amp.is_autocast_available("cpu")
    True
    """
    return _kind(device_type) in (
        "cpu",
        "cuda",
        "mps",
        "xpu",
        "hpu",
        "mtia",
        "xla",
        "ipu",
        "maia",
        "privateuseone",
    )
