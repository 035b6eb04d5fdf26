"""Whether converting a module makes new parameters, or exchanges what its parameters are.

>>> import rushlight as torch
>>> torch.__future__.get_overwrite_module_params_on_conversion()
False
"""

_overwrite_module_params_on_conversion = False
_swap_module_params_on_conversion = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Say whether a module that is converted gets new parameters, and those that it had stay as they are."""
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Tell whether a module that is converted gets new parameters."""
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Say whether parameters are exchanged by `utils.swap_tensors` when modules are converted or loaded."""
    global _swap_module_params_on_conversion
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion() -> bool:
    """Tell whether parameters are exchanged by `utils.swap_tensors`."""
    return _swap_module_params_on_conversion
