"""Saving and loading the parameters and buffers of modules."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ... import __future__ as switches
from ..._rushlight import Tensor
from ...autograd.grad_mode import no_grad
from ..parameter import Parameter
from ._every import Hooks
from ._every import with_module as given_module

if TYPE_CHECKING:
    from ..._hooks import RemovableHandle
    from .module import Module

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_NO_EXTRA = (
    "Reached a code path in Module.{}_extra_state() that should never be called. "
    "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml "
    "to report this bug."
)


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


class _IncompatibleKeys(_Keys):
    """What `load_state_dict` did not find, and what it did not expect."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict(Hooks):
    """The half of `Module` that turns it into a dictionary and back."""

    T_destination = TypeVar("T_destination", bound=dict[str, Any])  # What is returned, where types are said.

    _version = 1
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]

    def state_dict(
        self,
        *args: Any,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Return the parameters and persistent buffers by name, detached unless `keep_vars`.

        >>> import rushlight as torch
        >>> list(torch.nn.Sequential(torch.nn.Linear(2, 1)).state_dict())
        ['0.weight', '0.bias']
        """
        if args:
            destination, prefix, keep_vars = _by_position(args, destination, prefix, keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # type: ignore[attr-defined]
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in tuple(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in tuple(self._state_dict_hooks.values()):
            changed = hook(self, destination, prefix, metadata)
            if changed is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = changed
        return destination

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the state of the module is put together."""
        return self._add_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` when it is, to change it in place."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return self._add_hook("_state_dict_hooks", hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook that may return another dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via register_state_dict_post_hook"
            )
        return self._add_hook("_state_dict_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)` before the module takes its part of a state."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """Call a hook that is not given the module."""
        return self._add_hook("_load_state_dict_pre_hooks", given_module(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` when the module has taken its state."""
        return self._add_hook("_load_state_dict_post_hooks", hook)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy `state_dict` into the parameters and buffers; with `assign`, put its tensors in their place.

        With `strict`, keys that are missing or unknown are an error.

        >>> import rushlight as torch
        >>> layer = torch.nn.Linear(2, 1)
        >>> layer.load_state_dict({"weight": torch.ones(1, 2), "bias": torch.zeros(1)})
        <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        versions = getattr(state_dict, "_metadata", {})

        def metadata(prefix: str) -> dict[str, Any]:
            known = dict(versions.get(prefix[:-1], {}))
            return {**known, "assign_to_params_buffers": True} if assign else known

        self._load_with_children(dict(state_dict), "", metadata, (missing, unexpected, errors))
        if strict and unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if strict and missing:
            errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_with_children(
        self,
        state: dict[str, Any],
        prefix: str,
        metadata: Callable[[str], dict[str, Any]],
        found: tuple[list[str], list[str], list[str]],
    ) -> None:
        """Have this module take its part of a state, then each of those below it."""
        self._load_from_state_dict(state, prefix, metadata(prefix), True, *found)
        # Each module takes its part from what hooks have left of its parent's.
        for name, child in self._modules.items():
            if child is not None:
                start = f"{prefix}{name}."
                own = {key: value for key, value in state.items() if key.startswith(start)}
                child._load_with_children(own, start, metadata, found)
        missing, unexpected, _ = found
        self._call_after_loading(_IncompatibleKeys(missing, unexpected))

    def _call_after_loading(self, keys: _IncompatibleKeys) -> None:
        for hook in tuple(self._load_state_dict_post_hooks.values()):
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                    "return new values, if incompatible_keys need to be modified, it should be done "
                    "inplace."
                )

    def get_extra_state(self) -> Any:
        """Return what else belongs to the state; a module that has such writes this and `set_extra_state`."""
        raise RuntimeError(_NO_EXTRA.format("get"))

    def set_extra_state(self, state: Any) -> None:
        """Take over what `get_extra_state` returned."""
        raise RuntimeError(_NO_EXTRA.format("set"))

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        """Name the parameters and persistent buffers of this module alone."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                yield name, parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                yield name, buffer

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._own_state():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for hook in tuple(self._load_state_dict_pre_hooks.values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = dict(self._own_state())
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                error = self._load_one(name, tensor, key, state_dict[key], local_metadata)
                if error:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if not key.startswith(prefix) or key == extra:
                    continue
                first, dot, _ = key[len(prefix) :].partition(".")
                if first not in self._modules if dot else first not in own:
                    unexpected_keys.append(key)

    def _load_one(self, name: str, tensor: Tensor, key: str, found: Any, metadata: dict[str, Any]) -> str:
        """Load one tensor; return the error, if there is one."""
        if not isinstance(found, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                f"from checkpoint but received {type(found)}"
            )
        if not tensor.shape and found.shape == (1,):
            found = found[0]
        if found.shape != tensor.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {found.shape} from checkpoint, "
                f"the shape in current model is {tensor.shape}."
            )
        assign = metadata.get("assign_to_params_buffers", False)
        if tensor.is_meta and not found.is_meta and not assign:
            warnings.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
                "current model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the "
                "state dictionary to their corresponding key in the module instead of copying them in "
                "place?)",
                stacklevel=2,
            )
        swap = switches._swap_module_params_on_conversion
        try:
            with no_grad():
                if swap:
                    _swap(tensor, found, assign)
                elif not assign:
                    tensor.copy_(found)
                elif isinstance(tensor, Parameter) and not isinstance(found, Parameter):
                    setattr(self, name, Parameter(found, requires_grad=tensor.requires_grad))
                else:
                    if isinstance(tensor, Parameter):
                        found.requires_grad_(tensor.requires_grad)
                    setattr(self, name, found)
        except Exception as error:
            return (
                f'While {"swapping" if swap else "copying"} the parameter named "{key}", whose dimensions in '
                f"the model are {tensor.size()} and whose dimensions in the checkpoint are {found.size()}, "
                f"an exception occurred : {error.args}."
            )
        return ""


def _swap(tensor: Tensor, found: Tensor, assign: bool) -> None:
    """Exchange what a parameter or buffer is with what it makes of the one that was found."""
    from ...utils import swap_tensors

    made = tensor.module_load(found, assign=assign)
    if made is found or made is tensor:
        raise RuntimeError(
            "module_load returned one of self or other, please .detach() "
            "the result if returning one of the inputs in module_load"
        )
    if isinstance(tensor, Parameter):
        if isinstance(made, Parameter):
            made.requires_grad_(tensor.requires_grad)
        else:
            made = Parameter(made, requires_grad=tensor.requires_grad)
    swap_tensors(tensor, made)


def _by_position(
    args: tuple[Any, ...], destination: dict[str, Any] | None, prefix: str, keep_vars: bool
) -> tuple[dict[str, Any] | None, str, bool]:
    """Return the arguments of `state_dict`, some of which were given by position, as they once could be."""
    warnings.warn(
        "Positional args are being deprecated, use kwargs instead. Refer to "
        "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict "
        "for details.",
        FutureWarning,
        stacklevel=3,
    )
    first, second, third = (*args, None, None)[:3]
    return (
        first if destination is None else destination,
        second if len(args) > 1 and prefix == "" else prefix,
        third if len(args) > 2 and keep_vars is False else keep_vars,
    )


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
