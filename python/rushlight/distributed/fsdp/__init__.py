"""Modules whose parameters are spread over processes: libraries ask whether a module is one, and none is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from ..._devices.absent import refusing
from ..._module_aliases import add_module_aliases
from ...nn.modules.module import Module

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FSDPModule",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "MixedPrecision",
    "OptimStateKeyType",
    "ShardingStrategy",
    "StateDictType",
]

_REFUSED = (
    "torch.distributed.fsdp: parameters are not spread over processes here; "
    "torch.nn.parallel.DistributedDataParallel has all of them in each"
)


class FullyShardedDataParallel(Module):
    """A module whose parameters are spread. None is ever made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_REFUSED)


class FSDPModule:
    """The same, as a class that modules would be given."""


class ShardingStrategy(Enum):
    """What would be spread."""

    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    """When parameters would be fetched."""

    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    """Which parameters a state would have."""

    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class OptimStateKeyType(Enum):
    """By what a state of an optimiser would name parameters."""

    PARAM_NAME = auto()
    PARAM_ID = auto()


class ModuleWrapPolicy:
    """Which modules would be spread: those of some classes."""

    def __init__(self, module_classes: Any) -> None:
        self._module_classes = set(module_classes)

    def __call__(self, module: Module, recurse: bool, *args: Any, **kwargs: Any) -> bool:
        return recurse or isinstance(module, tuple(self._module_classes))


@dataclass
class MixedPrecision:
    """In which types it would compute."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


MixedPrecisionPolicy = MixedPrecision


@dataclass
class CPUOffload:
    """Whether parameters would lie with the processor."""

    offload_params: bool = False


CPUOffloadPolicy = OffloadPolicy = CPUOffload


@dataclass
class FullStateDictConfig:
    """How a state with all parameters would be collected."""

    offload_to_cpu: bool = False
    rank0_only: bool = False


FullOptimStateDictConfig = ShardedOptimStateDictConfig = ShardedStateDictConfig = FullStateDictConfig
StateDictConfig = OptimStateDictConfig = LocalStateDictConfig = FullStateDictConfig

_POLICIES = (
    "_or_policy always_wrap_policy enable_wrap lambda_auto_wrap_policy size_based_auto_wrap_policy "
    "transformer_auto_wrap_policy wrap"
)
refusing(globals(), f"fully_shard register_fsdp_forward_method {_POLICIES}", NotImplementedError, _REFUSED)

_NAMES = " ".join(
    [
        *__all__,
        "fully_shard CPUOffloadPolicy MixedPrecisionPolicy OffloadPolicy StateDictConfig",
        "FullOptimStateDictConfig ShardedOptimStateDictConfig ShardedStateDictConfig",
    ]
)
add_module_aliases(
    globals(),
    {
        "api": {".": _NAMES},
        "fully_sharded_data_parallel": {".": _NAMES},
        "sharded_grad_scaler": {"...amp": "ShardedGradScaler=GradScaler"},
        "wrap": {".": f"ModuleWrapPolicy {_POLICIES}"},
        "_fully_shard": {".": "FSDPModule fully_shard"},
    },
)
