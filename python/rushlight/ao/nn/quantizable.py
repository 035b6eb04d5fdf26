"""Layers that could be quantised: none can be made."""

from ..._module_aliases import add_module_aliases
from ._absent import absent

absent(globals(), "LSTM LSTMCell MultiheadAttention")
add_module_aliases(globals(), {"modules": {".quantizable": "LSTM LSTMCell MultiheadAttention"}})
