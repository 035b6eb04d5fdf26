"""Data sets, the order in which they are read, and batches of them, in the process that asks."""

from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases
from .collate import default_collate, default_convert
from .dataloader import DataLoader
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .workers import get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

__getattr__, __dir__ = on_first_use(
    globals(),
    rooms={"datapipes", "graph", "graph_settings"},
    places={".datapipes": "IterDataPipe MapDataPipe functional_datapipe"},
)
add_module_aliases(globals(), {"_utils": {}})
add_module_aliases(
    vars(_utils),  # type: ignore[name-defined]  # noqa: F821
    {
        "collate": {
            ".collate": "collate collate_float_fn collate_int_fn collate_numpy_array_fn "
            "collate_numpy_scalar_fn collate_str_fn collate_tensor_fn default_collate "
            "default_collate_err_msg_format default_collate_fn_map default_convert np_str_obj_array_pattern"
        },
        "fetch": {".fetch": "_BaseDatasetFetcher _IterableDatasetFetcher _MapDatasetFetcher"},
        "pin_memory": {".collate": "pin_memory"},
        "worker": {".workers": "WorkerInfo get_worker_info", "._seeds": "_generate_state"},
    },
)
# How often the ends of workers would be looked for, in seconds, and whether the interpreter ends.
vars(_utils).update(MP_STATUS_CHECK_INTERVAL=5.0, python_exit_status=False)  # type: ignore[name-defined]  # noqa: F821
