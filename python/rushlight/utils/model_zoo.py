"""Where files of models were fetched from once: `rushlight.hub` has the functions."""

from ..hub import _get_torch_home as _get_torch_home
from ..hub import load_state_dict_from_url as load_url
from ..hub import tqdm as tqdm

__all__ = ["load_url"]
