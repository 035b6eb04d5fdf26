"""Modules whose parameters are spread over processes: libraries ask whether a module is one, and none is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from ..._absent import refusing
from ..._places import open_places
from ...nn.modules.module import Module

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FSDPModule",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "MixedPrecision",
    "ShardingStrategy",
    "StateDictType",
    "fully_shard",
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

refusing(globals(), "fully_shard register_fsdp_forward_method", NotImplementedError, _REFUSED)

_NAMES = " ".join([*__all__, "CPUOffloadPolicy MixedPrecisionPolicy OffloadPolicy StateDictConfig"])
open_places(
    globals(),
    {
        "api": {".": f"{_NAMES} FullOptimStateDictConfig ShardedOptimStateDictConfig ShardedStateDictConfig"},
        "fully_sharded_data_parallel": {".": f"{_NAMES} FullOptimStateDictConfig ShardedStateDictConfig"},
        "sharded_grad_scaler": {"...amp": "ShardedGradScaler=GradScaler"},
        "_fully_shard": {".": "FSDPModule fully_shard"},
    },
)
