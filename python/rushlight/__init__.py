"""rushlight: a define-by-run autograd engine for the CPU with the API of torch.

>>> import rushlight as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])

Everything that computes is compiled (`rushlight._rushlight`); this package adds what
is better said in Python. The heavier rooms (`nn`, `optim`, ...) load on first use.
"""

from __future__ import annotations

import os as _os

from . import _compat, _devices, _functions, _rushlight, _tensor, autograd
from ._calls.showing import shown_to
from ._compat import known_libraries as _known_libraries
from ._functions import *  # noqa: F403 - it says what it has
from ._lazy import on_first_use
from ._rushlight import *  # noqa: F403 - it is the public API
from ._rushlight import Tensor, float32, float64, int16, int32, int64
from ._tensors.typename import typename
from .autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import TypeIs

    from . import __future__ as __future__
    from . import accelerator as accelerator
    from . import amp as amp
    from . import ao as ao
    from . import backends as backends
    from . import compiler as compiler
    from . import cpu as cpu
    from . import cuda as cuda
    from . import distributed as distributed
    from . import distributions as distributions
    from . import fft as fft
    from . import func as func
    from . import functional as functional
    from . import fx as fx
    from . import hub as hub
    from . import inspection as inspection
    from . import jit as jit
    from . import library as library
    from . import linalg as linalg
    from . import masked as masked
    from . import memory as memory
    from . import mps as mps
    from . import mtia as mtia
    from . import multiprocessing as multiprocessing
    from . import nested as nested
    from . import nn as nn
    from . import onnx as onnx
    from . import optim as optim
    from . import overrides as overrides
    from . import profiler as profiler
    from . import quantization as quantization
    from . import random as random
    from . import return_types as return_types
    from . import serialization as serialization
    from . import signal as signal
    from . import sparse as sparse
    from . import special as special
    from . import storage as storage
    from . import testing as testing
    from . import torch_version as torch_version
    from . import types as types
    from . import utils as utils
    from . import version as version
    from . import xpu as xpu
    from ._calls.compiled import compile as compile
    from ._compat import _dynamo as _dynamo
    from ._compat import _functorch as _functorch
    from ._compat import _vmap_internals as _vmap_internals
    from ._devices.streams import AcceleratorError as AcceleratorError
    from ._devices.streams import Event as Event
    from ._devices.streams import OutOfMemoryError as OutOfMemoryError
    from ._devices.streams import Stream as Stream
    from ._devices.streams import get_device_module as get_device_module
    from ._functions.assertions import _assert as _assert
    from ._functions.assertions import _check as _check
    from ._functions.assertions import sym_float as sym_float
    from ._functions.assertions import sym_int as sym_int
    from ._functions.assertions import sym_ite as sym_ite
    from ._functions.assertions import sym_max as sym_max
    from ._functions.assertions import sym_min as sym_min
    from ._functions.assertions import sym_not as sym_not
    from ._functions.assertions import sym_sum as sym_sum
    from ._functions.chains import chain_matmul as chain_matmul
    from ._functions.deprecated import eig as eig
    from ._functions.deprecated import lstsq as lstsq
    from ._functions.deprecated import matrix_rank as matrix_rank
    from ._functions.deprecated import solve as solve
    from ._functions.deprecated import symeig as symeig
    from ._functions.eigenpairs import lobpcg as lobpcg
    from ._functions.losses import affine_grid_generator as affine_grid_generator
    from ._functions.losses import bilinear as bilinear
    from ._functions.losses import conv_tbc as conv_tbc
    from ._functions.losses import cosine_embedding_loss as cosine_embedding_loss
    from ._functions.losses import cosine_similarity as cosine_similarity
    from ._functions.losses import ctc_loss as ctc_loss
    from ._functions.losses import grid_sampler as grid_sampler
    from ._functions.losses import hinge_embedding_loss as hinge_embedding_loss
    from ._functions.losses import instance_norm as instance_norm
    from ._functions.losses import kl_div as kl_div
    from ._functions.losses import margin_ranking_loss as margin_ranking_loss
    from ._functions.losses import pairwise_distance as pairwise_distance
    from ._functions.losses import poisson_nll_loss as poisson_nll_loss
    from ._functions.losses import triplet_margin_loss as triplet_margin_loss
    from ._functions.lowrank import orgqr as orgqr
    from ._functions.lowrank import ormqr as ormqr
    from ._functions.lowrank import pca_lowrank as pca_lowrank
    from ._functions.lowrank import svd_lowrank as svd_lowrank
    from ._functions.native_functions import _convolution as _convolution
    from ._functions.native_functions import _shape_as_tensor as _shape_as_tensor
    from ._functions.native_functions import convolution as convolution
    from ._functions.native_functions import embedding_bag as embedding_bag
    from ._functions.native_functions import embedding_renorm_ as embedding_renorm_
    from ._functions.native_functions import gcd_ as gcd_
    from ._functions.native_functions import grid_sampler_2d as grid_sampler_2d
    from ._functions.native_functions import grid_sampler_3d as grid_sampler_3d
    from ._functions.native_functions import lcm_ as lcm_
    from ._functions.native_functions import ldexp_ as ldexp_
    from ._functions.native_functions import native_batch_norm as native_batch_norm
    from ._functions.native_functions import native_channel_shuffle as native_channel_shuffle
    from ._functions.native_functions import native_dropout as native_dropout
    from ._functions.native_functions import native_group_norm as native_group_norm
    from ._functions.native_functions import native_layer_norm as native_layer_norm
    from ._functions.native_functions import xlogy_ as xlogy_
    from ._functions.recurrences import gru as gru
    from ._functions.recurrences import gru_cell as gru_cell
    from ._functions.recurrences import lstm as lstm
    from ._functions.recurrences import lstm_cell as lstm_cell
    from ._functions.recurrences import rnn_relu as rnn_relu
    from ._functions.recurrences import rnn_relu_cell as rnn_relu_cell
    from ._functions.recurrences import rnn_tanh as rnn_tanh
    from ._functions.recurrences import rnn_tanh_cell as rnn_tanh_cell
    from ._functions.spectra import istft as istft
    from ._functions.spectra import stft as stft
    from ._functions.windows import bartlett_window as bartlett_window
    from ._functions.windows import blackman_window as blackman_window
    from ._functions.windows import hamming_window as hamming_window
    from ._functions.windows import hann_window as hann_window
    from ._functions.windows import kaiser_window as kaiser_window
    from ._machine import compiled_with_cxx11_abi as compiled_with_cxx11_abi
    from ._machine import from_file as from_file
    from ._machine import get_device as get_device
    from ._machine import get_num_interop_threads as get_num_interop_threads
    from ._machine import has_lapack as has_lapack
    from ._machine import has_mkl as has_mkl
    from ._machine import has_openmp as has_openmp
    from ._machine import has_spectral as has_spectral
    from ._machine import is_distributed as is_distributed
    from ._machine import set_num_interop_threads as set_num_interop_threads
    from ._ops import ops as ops
    from ._settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
    from ._settings import get_deterministic_debug_mode as get_deterministic_debug_mode
    from ._settings import get_float32_matmul_precision as get_float32_matmul_precision
    from ._settings import (
        is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    )
    from ._settings import set_deterministic_debug_mode as set_deterministic_debug_mode
    from ._settings import set_float32_matmul_precision as set_float32_matmul_precision
    from ._settings import use_deterministic_algorithms as use_deterministic_algorithms
    from ._tensors.legacy import BFloat16Tensor as BFloat16Tensor
    from ._tensors.legacy import BoolTensor as BoolTensor
    from ._tensors.legacy import ByteTensor as ByteTensor
    from ._tensors.legacy import CharTensor as CharTensor
    from ._tensors.legacy import DoubleTensor as DoubleTensor
    from ._tensors.legacy import FloatTensor as FloatTensor
    from ._tensors.legacy import HalfTensor as HalfTensor
    from ._tensors.legacy import IntTensor as IntTensor
    from ._tensors.legacy import LongTensor as LongTensor
    from ._tensors.legacy import ShortTensor as ShortTensor
    from ._tensors.legacy import set_default_tensor_type as set_default_tensor_type
    from ._tensors.sharing import frombuffer as frombuffer
    from .amp._former import get_autocast_cpu_dtype as get_autocast_cpu_dtype
    from .amp._former import get_autocast_gpu_dtype as get_autocast_gpu_dtype
    from .amp._former import is_autocast_cpu_enabled as is_autocast_cpu_enabled
    from .amp._former import set_autocast_cpu_dtype as set_autocast_cpu_dtype
    from .amp._former import set_autocast_cpu_enabled as set_autocast_cpu_enabled
    from .amp._former import set_autocast_gpu_dtype as set_autocast_gpu_dtype
    from .amp._scaling import (
        _amp_foreach_non_finite_check_and_unscale_ as _amp_foreach_non_finite_check_and_unscale_,
    )
    from .amp._scaling import _amp_update_scale_ as _amp_update_scale_
    from .amp._state import autocast_decrement_nesting as autocast_decrement_nesting
    from .amp._state import autocast_increment_nesting as autocast_increment_nesting
    from .amp._state import clear_autocast_cache as clear_autocast_cache
    from .amp._state import get_autocast_dtype as get_autocast_dtype
    from .amp._state import is_autocast_cache_enabled as is_autocast_cache_enabled
    from .amp._state import is_autocast_enabled as is_autocast_enabled
    from .amp._state import set_autocast_cache_enabled as set_autocast_cache_enabled
    from .amp._state import set_autocast_dtype as set_autocast_dtype
    from .amp._state import set_autocast_enabled as set_autocast_enabled
    from .amp.autocast_mode import autocast as autocast
    from .as_torch import activate
    from .func.vmap import vmap as vmap
    from .inspection.graph import graph as graph
    from .serialization import load as load
    from .serialization import save as save
    from .sparse._constructors import sparse_bsc_tensor as sparse_bsc_tensor
    from .sparse._constructors import sparse_bsr_tensor as sparse_bsr_tensor
    from .sparse._constructors import sparse_compressed_tensor as sparse_compressed_tensor
    from .sparse._constructors import sparse_coo_tensor as sparse_coo_tensor
    from .sparse._constructors import sparse_csc_tensor as sparse_csc_tensor
    from .sparse._constructors import sparse_csr_tensor as sparse_csr_tensor
    from .storage import TypedStorage as TypedStorage
    from .storage import UntypedStorage as UntypedStorage
    from .storage import is_storage as is_storage
    from .utils._device import get_default_device as get_default_device
    from .utils._device import set_default_device as set_default_device
    from .utils.dlpack import from_dlpack as from_dlpack
    from .utils.dlpack import to_dlpack as to_dlpack

    as_torch = activate
else:
    _ROOMS = (
        "_C _VF backends compiler distributed types __future__ _decomp _dynamo _functorch _tensor_str _utils "
        "_vmap_internals amp as_torch cpu cuda distributions fft func functional futures inspection "
        "library linalg memory multiprocessing masked nested nn ops optim overrides package profiler random "
        "return_types serialization signal special storage testing torch torch_version utils __config__ "
        "_custom_ops _library _linalg_utils _prims _prims_common _refs _utils_internal _higher_order_ops "
        "_jit_internal accelerator fx _inductor _logging _subclasses ao hub quantization onnx jit mps "
        "optimize sparse export quasirandom mtia monitor xpu version"
    )
    __getattr__, __dir__ = on_first_use(
        globals(),
        rooms=_ROOMS.split(),
        places={
            "._devices.absent_types": "bit bits16 bits1x8 bits2x4 bits4x2 bits8 float4_e2m1fn_x2 int1 int2 "
            "int3 int4 int5 int6 int7 jagged qint32 qint8 quint2x4 quint4x2 quint8 uint1 uint2 uint3 uint4 "
            "uint5 uint6 uint7 sparse_bsc sparse_bsr sparse_coo sparse_csc sparse_csr",
            "._functions.assertions": "_assert _check _check_index _check_is_size _check_not_implemented "
            "_check_tensor_all _check_tensor_all_with _check_type _check_value _check_with _is_all_true "
            "_is_any_true sym_float sym_int sym_ite sym_max sym_min sym_not sym_sum",
            "._functions.chains": "chain_matmul",
            "._compat.inner_functions": "_assert_async _assert_scalar _assert_tensor_metadata "
            "_int_mm _nnpack_available "
            "_convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo _disable_dynamo "
            "_dirichlet_grad _sample_dirichlet _standard_gamma classes",
            "._compat.inner_indexing": "_chunk_cat _unsafe_masked_index _unsafe_masked_index_put_accumulate",
            "._compat.inner_operators": "_adaptive_avg_pool2d _adaptive_avg_pool3d _add_relu _add_relu_ "
            "_addmm_activation _aminmax _compute_linear_combination _conj _conj_physical "
            "_debug_has_internal_overlap _embedding_bag _embedding_bag_forward_only _euclidean_dist "
            "_fft_c2c _fft_c2r _fft_r2c _grid_sampler_2d_cpu_fallback "
            "_log_softmax _make_dual _neg_view "
            "_nested_tensor_from_mask _pack_padded_sequence _pad_packed_sequence _segment_reduce _softmax "
            "_stack _unique _unique2 _unpack_dual _weight_norm set_flush_denormal",
            ".nn.functional.grouped": "_grouped_mm _scaled_mm _scaled_mm_v2",
            ".nn.functional.native_attention": "_masked_softmax _native_multi_head_attention "
            "_transform_bias_rescale_qkv",
            "._calls.compiled": "compile",
            "._functions.eigenpairs": "lobpcg",
            "._tensors.legacy": "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor "
            "HalfTensor IntTensor LongTensor ShortTensor set_default_tensor_type",
            "._functions.losses": "affine_grid_generator bilinear conv_tbc cosine_embedding_loss "
            "cosine_similarity ctc_loss grid_sampler hinge_embedding_loss instance_norm kl_div "
            "margin_ranking_loss pairwise_distance poisson_nll_loss triplet_margin_loss",
            "._functions.lowrank": "orgqr ormqr pca_lowrank svd_lowrank",
            "._functions.fake_quantised": "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine",
            ".ao.observers": "per_channel_affine per_channel_affine_float_qparams per_channel_symmetric "
            "per_tensor_affine per_tensor_symmetric",
            "._functions.symbols": "SymBool SymFloat SymInt",
            "._tensors.storage_classes": "BFloat16Storage BoolStorage ByteStorage CharStorage "
            "ComplexDoubleStorage ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage "
            "LongStorage ShortStorage Storage",
            "._compat._C": "AnyType Block BoolType DeviceObjType DictType DisableTorchFunction "
            "DisableTorchFunctionSubclass DispatchKey DispatchKeySet FloatType FunctionSchema Graph IntType "
            "ListType Node NumberType OptionalType PyTorchFileReader PyTorchFileWriter ScriptFunction "
            "ScriptObject StringType Tag TensorType TupleType Value",
            ".amp": "autocast GradScaler",
            "._machine": "compiled_with_cxx11_abi from_file get_device get_num_interop_threads has_cuda "
            "has_cudnn has_lapack has_mkl has_mkldnn has_mps has_openmp has_spectral is_distributed "
            "set_num_interop_threads",
            "._functions.native_functions": "_batch_norm_with_update _convolution "
            "_native_batch_norm_legit _shape_as_tensor _softmax_backward_data "
            "convolution embedding_bag embedding_renorm_ frobenius_norm gcd_ grid_sampler_2d grid_sampler_3d "
            "lcm_ ldexp_ native_batch_norm native_channel_shuffle native_dropout native_group_norm "
            "native_layer_norm nuclear_norm xlogy_",
            "._functions.recurrences": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh "
            "rnn_tanh_cell",
            "._functions.deprecated": "eig lstsq matrix_rank solve symeig",
            "._functions.segments": "hash_tensor segment_reduce",
            ".sparse": "dsmm hsmm hspmm native_norm saddmm smm spmm sspaddmm",
            ".sparse._constructors": "sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor "
            "sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor",
            ".sparse._invariants": "_validate_compressed_sparse_indices "
            "_validate_sparse_bsc_tensor_args _validate_sparse_bsr_tensor_args "
            "_validate_sparse_compressed_tensor_args _validate_sparse_coo_tensor_args "
            "_validate_sparse_csc_tensor_args _validate_sparse_csr_tensor_args",
            "._settings": "are_deterministic_algorithms_enabled get_deterministic_debug_mode "
            "get_float32_matmul_precision is_deterministic_algorithms_warn_only_enabled "
            "set_deterministic_debug_mode set_float32_matmul_precision set_vital "
            "use_deterministic_algorithms",
            "._tensors.sharing": "frombuffer",
            "._functions.spectra": "istft stft",
            "._devices.streams": "AcceleratorError Event OutOfMemoryError Stream get_device_module",
            "._functions.windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
            ".amp._former": "get_autocast_cpu_dtype get_autocast_gpu_dtype is_autocast_cpu_enabled "
            "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_gpu_dtype",
            ".amp._scaling": "_amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_",
            ".amp._state": "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
            "get_autocast_dtype is_autocast_cache_enabled is_autocast_enabled set_autocast_cache_enabled "
            "set_autocast_dtype set_autocast_enabled",
            ".func": "vmap",
            ".inspection": "graph",
            ".jit": "Future ScriptModule fork wait",
            "._compat._higher_order_ops": "cond while_loop",
            ".serialization": "load save",
            ".storage": "StorageBase TypedStorage UntypedStorage is_storage",
            ".utils._device": "get_default_device set_default_device",
            ".utils.dlpack": "from_dlpack to_dlpack",
        },
        families={"_foreach_": "._functions.foreach", "_cast_": "._compat.inner_functions"},
    )

__version__ = _rushlight.__version__

# These shadow builtins for the rest of this file: nothing below uses them.
float = float32
double = float64
short = int16
int = int32
long = int64

legacy_contiguous_format = _rushlight.contiguous_format

# The compiled ones take other numbers of levels than torch's, which `_compat.inner_operators` has.
del _make_dual, _unpack_dual  # type: ignore[name-defined] # noqa: F821

_tensor.install(Tensor)
_devices.install(_rushlight.device)

# The package's forms, which take several tensors or a list of them, before the compiled ones.
atleast_1d = _functions.composites.atleast_1d
atleast_2d = _functions.composites.atleast_2d
meshgrid = _functions.composites.meshgrid  # type: ignore[assignment]
norm = _functions.composites.norm
split = _functions.composites.split

e = 2.718281828459045
pi = 3.141592653589793
inf = 1e400
newaxis = None
nan = inf - inf


def is_tensor(obj: object, /) -> TypeIs[Tensor]:
    """Tell whether `obj` is a tensor.

    >>> import rushlight as torch
    >>> torch.is_tensor(torch.zeros(2)), torch.is_tensor([0.0, 0.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


@shown_to("tensors")  # type: ignore[no-redef, unused-ignore]
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return the tensors in the shape that they broadcast to together.

    >>> import rushlight as torch
    >>> [x.shape for x in torch.broadcast_tensors(torch.zeros(2, 1), torch.zeros(3))]
    [torch.Size([2, 3]), torch.Size([2, 3])]
    """
    return _rushlight.broadcast_tensors(tensors)


__all__ = [
    *(name for name in dir(_rushlight) if name[0] != "_" and name != "TensorBase"),
    *_functions.__all__,
    "__version__",
    "autograd",
    "broadcast_tensors",
    "double",
    "e",
    "enable_grad",
    "float",
    "inf",
    "inference_mode",
    "int",
    "is_tensor",
    "long",
    "nan",
    "no_grad",
    "pi",
    "set_grad_enabled",
    "short",
    "typename",
]

_compat.be_found()
_known_libraries.register_tensor()
if _os.environ.get("RUSHLIGHT_AS_TORCH", "0") not in ("", "0"):
    from .as_torch import activate as _activate

    _activate()
