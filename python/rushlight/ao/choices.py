"""Which observers see what is passed on and what the weights are: for all layers, for kinds and for names."""

from __future__ import annotations

import enum
from collections import OrderedDict
from typing import Any, NamedTuple

from .._devices import absent_types as types
from ..nn.modules.layers import Identity
from ..nn.modules.module import Module
from . import observers as seen

__all__ = ["QConfig", "QConfigMapping", "QuantType"]


class QuantType(enum.IntEnum):
    """When numbers become integers."""

    DYNAMIC = 0
    STATIC = 1
    QAT = 2
    WEIGHT_ONLY = 3


class QConfig(NamedTuple("_QConfig", [("activation", Any), ("weight", Any)])):
    """How what is passed on and how weights would become integers."""

    __slots__ = ()

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError(
                "QConfig received observer instance, please pass observer class instead. "
                "Use MyObserver.with_args(x=1) to override arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


default_qconfig = QConfig(seen.default_observer, seen.default_weight_observer)
default_debug_qconfig = QConfig(seen.default_debug_observer, seen.default_weight_observer)
default_per_channel_qconfig = QConfig(seen.default_observer, seen.default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(seen.default_dynamic_quant_observer, seen.default_weight_observer)
per_channel_dynamic_qconfig = QConfig(
    seen.default_dynamic_quant_observer, seen.default_per_channel_weight_observer
)
float_qparams_weight_only_qconfig = QConfig(
    seen.default_placeholder_observer, seen.default_float_qparams_observer
)
default_qat_qconfig = QConfig(seen.default_fake_quant, seen.default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(seen.default_dynamic_fake_quant, seen.default_weight_fake_quant)
default_weight_only_qconfig = QConfig(Identity, seen.default_weight_fake_quant)
default_activation_only_qconfig = QConfig(seen.default_fake_quant, Identity)
default_embedding_qat_qconfig = QConfig(seen.NoopObserver, seen.default_embedding_fake_quant)
default_symmetric_qnnpack_qat_qconfig = QConfig(
    seen.FakeQuantize.with_args(
        observer=seen.MovingAverageMinMaxObserver,
        quant_min=-128,
        quant_max=127,
        dtype=types.qint8,
        reduce_range=False,
        eps=2**-12,
    ),
    seen.FakeQuantize.with_args(
        observer=seen.MovingAverageMinMaxObserver,
        quant_min=-127,
        quant_max=127,
        dtype=types.qint8,
        qscheme=seen.per_tensor_symmetric,
        eps=2**-12,
    ),
)

# What a mapping chooses by, from the weakest to the strongest.
_STYLES = ("object_type", "module_name_regex", "module_name", "module_name_object_type_order")


class QConfigMapping:
    """Choices for all layers, for classes and functions, for names and for patterns of names.

    >>> import rushlight as torch
    >>> from rushlight.ao.quantization import QConfigMapping, default_qconfig
    >>> mapping = QConfigMapping().set_global(default_qconfig).set_module_name("head", None)
    >>> mapping.to_dict()["module_name"]
    [('head', None)]
    """

    def __init__(self) -> None:
        self.global_qconfig: Any = None
        self.object_type_qconfigs: OrderedDict[Any, Any] = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict[str, Any] = OrderedDict()
        self.module_name_qconfigs: OrderedDict[str, Any] = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict[tuple[str, Any, int], Any] = OrderedDict()

    def set_global(self, global_qconfig: Any) -> QConfigMapping:
        """Choose for whatever nothing else is chosen for."""
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type: Any, qconfig: Any) -> QConfigMapping:
        """Choose for a class of modules, a function or the name of a method."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: Any) -> QConfigMapping:
        """Choose for modules whose names match; what was chosen first holds."""
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name: str, qconfig: Any) -> QConfigMapping:
        """Choose for a module."""
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(
        self, module_name: str, object_type: Any, index: int, qconfig: Any
    ) -> QConfigMapping:
        """Choose for one of the calls in a module."""
        self.module_name_object_type_order_qconfigs[module_name, object_type, index] = qconfig
        return self

    def __repr__(self) -> str:
        text = f"QConfigMapping (\n global_qconfig\n  {self.global_qconfig}"
        for style in _STYLES:
            chosen = getattr(self, f"{style}_qconfigs")
            lines = "".join(f"\n  {key}: {value}" for key, value in chosen.items()) or f"\n  {chosen}"
            text += f"\n {style}_qconfigs{lines}"
        return text + "\n)"

    def to_dict(self) -> dict[str, Any]:
        """Return the choices as lists of what each is for, and what it is."""
        made: dict[str, Any] = {"": self.global_qconfig}
        for style in _STYLES:
            pairs = getattr(self, f"{style}_qconfigs").items()
            made[style] = [(*(key if isinstance(key, tuple) else (key,)), chosen) for key, chosen in pairs]
        return made

    @classmethod
    def from_dict(cls, qconfig_dict: dict[str, Any]) -> QConfigMapping:
        """Return a mapping with the choices of such lists."""
        mapping = cls().set_global(qconfig_dict.get(""))
        for style in _STYLES:
            for each in qconfig_dict.get(style, []):
                getattr(mapping, f"set_{style}")(*each)
        return mapping


def propagate_qconfig_(
    module: Module, qconfig_dict: Any = None, prepare_custom_config_dict: Any = None
) -> None:
    """Write to every module what is chosen for it: by itself, its name, its class, or the module around it.

    >>> import rushlight as torch
    >>> from rushlight.ao.quantization import default_qconfig, propagate_qconfig_
    >>> net = torch.nn.Sequential(torch.nn.Linear(1, 1))
    >>> propagate_qconfig_(net, {"0": default_qconfig})
    >>> net[0].qconfig is default_qconfig
    True
    """
    left_out = prepare_custom_config_dict or {}
    _propagate(module, qconfig_dict or {}, left_out, None, "")


def _propagate(module: Module, chosen: Any, left_out: Any, outer: Any, path: str) -> None:
    found = chosen.get(path, chosen.get(type(module), outer))
    found = module.qconfig = getattr(module, "qconfig", found)
    for name, child in module.named_children():
        named = name in left_out.get("non_traceable_module_name", ())
        if not named and type(child) not in left_out.get("non_traceable_module_class", ()):
            _propagate(child, chosen, left_out, found, f"{path}.{name}" if path else name)
