"""Optimisers: what a step makes of gradients."""

from .._lazy import on_first_use
from .._module_aliases import add_module_aliases
from . import lr_scheduler
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .asgd import ASGD
from .lbfgs import LBFGS
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD

TYPE_CHECKING = False  # `typing` would be loaded for it.
if TYPE_CHECKING:
    from . import swa_utils as swa_utils
    from .adafactor import Adafactor
    from .muon import Muon
    from .sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
]

_FUNCTIONS = "adadelta adagrad adam adamax asgd nadam radam rmsprop rprop sgd"
add_module_aliases(
    globals(),
    {
        "adamw": {".adam": "AdamW adamw"},
        "_adafactor": {".adafactor": "Adafactor"},
        "_functional": {**{f".{name}": name for name in _FUNCTIONS.split()}, ".adam": "adam adamw"},
    },
)

# Rarer ones; and what needs modules, which optimisers do not.
__getattr__, __dir__ = on_first_use(
    globals(),
    rooms={"swa_utils"},
    places={
        ".adafactor": "Adafactor",
        ".muon": "Muon",
        ".sparse_adam": "SparseAdam",
    },
)
