"""States that several processes save in parts: there are names, for libraries that ask; calls are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._devices.absent import Unavailable, refusing
from ..._module_aliases import add_module_aliases

__all__ = ["FileSystemReader", "FileSystemWriter", "StateDictOptions"]


class FileSystemReader(Unavailable):
    """Reads such a state from files."""


class FileSystemWriter(Unavailable):
    """Writes such a state to files."""


class DefaultLoadPlanner(Unavailable):
    """Says which process reads what."""


class DefaultSavePlanner(Unavailable):
    """Says which process writes what."""


class HuggingFaceStorageReader(Unavailable):
    """Reads such a state from files of safetensors."""


class HuggingFaceStorageWriter(Unavailable):
    """Writes such a state to files of safetensors."""


class Stateful:
    """Something with a state of its own: whatever has `state_dict` and `load_state_dict`."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""
        raise NotImplementedError

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take a state."""
        raise NotImplementedError


@dataclass(frozen=True)
class StateDictOptions:
    """What a state has in it."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False


_PLANS = "DefaultLoadPlanner DefaultSavePlanner"
_STATES = "get_model_state_dict get_optimizer_state_dict get_state_dict set_model_state_dict "
_STATES += "set_optimizer_state_dict set_state_dict"
_FORMATS = "dcp_to_torch_save torch_save_to_dcp"
_INNER = "consolidate_safetensors_files _load_state_dict _EmptyStateDictLoadPlanner "
_INNER += "load_sharded_optimizer_state_dict"

refusing(
    globals(),
    f"save load async_save save_state_dict load_state_dict {_STATES} {_FORMATS} {_INNER}",
    NotImplementedError,
    "torch.distributed.checkpoint: states are not saved in parts here; torch.save takes whole ones",
)
add_module_aliases(
    globals(),
    {
        "default_planner": {".": f"{_PLANS} _EmptyStateDictLoadPlanner"},
        "filesystem": {".": "FileSystemReader FileSystemWriter"},
        "format_utils": {".": f"{_FORMATS} _EmptyStateDictLoadPlanner"},
        "hf_storage": {".": "HuggingFaceStorageReader HuggingFaceStorageWriter"},
        "_consolidate_hf_safetensors": {".": "consolidate_safetensors_files"},
        "optimizer": {".": "load_sharded_optimizer_state_dict"},
        "state_dict": {".": f"StateDictOptions {_STATES}"},
        "state_dict_loader": {".": "_load_state_dict load load_state_dict"},
        "state_dict_saver": {".": "async_save save save_state_dict"},
        "stateful": {".": "Stateful"},
    },
)
