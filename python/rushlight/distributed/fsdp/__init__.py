"""Modules whose parameters are spread over processes: libraries ask whether a module is one, and none is."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from ..._devices.absent import refusing
from ..._module_aliases import add_module_aliases
from ...nn.modules.module import Module
from .api import (
    BackwardPrefetch,
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    LocalOptimStateDictConfig,
    LocalStateDictConfig,
    MixedPrecision,
    OptimStateDictConfig,
    ShardedOptimStateDictConfig,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictConfig,
    StateDictSettings,
    StateDictType,
)

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FSDPModule",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "LocalOptimStateDictConfig",
    "LocalStateDictConfig",
    "MixedPrecision",
    "OptimStateDictConfig",
    "OptimStateKeyType",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictConfig",
    "StateDictSettings",
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


CPUOffloadPolicy = OffloadPolicy = CPUOffload
MixedPrecisionPolicy = MixedPrecision

_POLICIES = (
    "_or_policy always_wrap_policy enable_wrap lambda_auto_wrap_policy size_based_auto_wrap_policy "
    "transformer_auto_wrap_policy wrap"
)
refusing(globals(), f"fully_shard register_fsdp_forward_method {_POLICIES}", NotImplementedError, _REFUSED)

_NAMES = " ".join(
    [
        *__all__,
        "fully_shard CPUOffloadPolicy MixedPrecisionPolicy OffloadPolicy",
    ]
)
add_module_aliases(
    globals(),
    {
        "fully_sharded_data_parallel": {".": _NAMES},
        "sharded_grad_scaler": {"...amp": "ShardedGradScaler=GradScaler"},
        "wrap": {".": f"ModuleWrapPolicy {_POLICIES}"},
        "_fully_shard": {".": "FSDPModule fully_shard"},
    },
)
