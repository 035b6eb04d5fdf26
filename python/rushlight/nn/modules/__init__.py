"""Layers, losses, activations and what they are made of, a file a family; `nn` has all of them.

>>> import rushlight as torch
>>> from rushlight.nn.modules.linear import Linear
>>> Linear is torch.nn.Linear
True
"""

from __future__ import annotations

from ..._module_aliases import add_module_aliases

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any

# What layers of windows read their arguments by; layers of others import it from beside them.
_ARGUMENTS = {
    ".utils": "_ntuple _pair _quadruple _reverse_repeat_tuple _single _triple",
    "..common_types": "_size_1_t _size_2_t _size_3_t _size_any_t",
}

add_module_aliases(
    globals(),
    {
        "activation": {
            ".multihead": "MultiheadAttention",
            ".rectifiers": "Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU PReLU RReLU ReLU ReLU6 "
            "Softshrink Threshold",
            ".softmaxes": "LogSoftmax Softmax Softmax2d Softmin",
            ".units": "CELU ELU GELU GLU LogSigmoid Mish SELU SiLU Sigmoid Softplus Softsign Tanh Tanhshrink",
        },
        "batchnorm": {
            ".lazy": "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d _LazyNormBase",
            ".normalised": "BatchNorm1d BatchNorm2d BatchNorm3d _BatchNorm _NormBase",
            ".synchronised": "SyncBatchNorm",
        },
        "channelshuffle": {".resizing": "ChannelShuffle"},
        "container": {
            ".containers": "ModuleDict ModuleList Sequential",
            ".former": "Container",
            ".parameter_containers": "ParameterDict ParameterList",
        },
        "conv": {
            ".convolution": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
            "_ConvNd _ConvTransposeNd "
            "_ConvTransposeMixin=_ConvTransposeNd",
            ".lazy": "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d "
            "LazyConvTranspose3d _LazyConvXdMixin",
            **_ARGUMENTS,
        },
        "distance": {".similarities": "CosineSimilarity PairwiseDistance"},
        "dropout": {
            ".dropouts": "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout _DropoutNd",
        },
        "flatten": {".layers": "Flatten", ".resizing": "Unflatten"},
        "fold": {".resizing": "Fold Unfold"},
        "instancenorm": {
            ".lazy": "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
            ".normalised": "InstanceNorm1d InstanceNorm2d InstanceNorm3d _InstanceNorm",
        },
        "linear": {
            ".layers": "Bilinear Identity Linear",
            ".lazy": "LazyLinear",
            ".multihead": "NonDynamicallyQuantizableLinear",
        },
        "loss": {
            ".losses": "BCELoss BCEWithLogitsLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss "
            "HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss "
            "MultiLabelSoftMarginLoss NLLLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss "
            "_Loss _WeightedLoss",
            ".former": "NLLLoss2d",
            ".heads_with_losses": "LinearCrossEntropyLoss",
            ".margins": "CTCLoss MultiLabelMarginLoss MultiMarginLoss TripletMarginWithDistanceLoss",
        },
        "normalization": {
            ".normalised": "GroupNorm LayerNorm RMSNorm",
            ".responses": "CrossMapLRN2d LocalResponseNorm",
        },
        "padding": {
            ".paddings": "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
            "ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d "
            "ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d _CircularPadNd _ConstantPadNd _ReflectionPadNd "
            "_ReplicationPadNd",
            **_ARGUMENTS,
        },
        "pixelshuffle": {".resizing": "PixelShuffle PixelUnshuffle"},
        "pooling": {
            ".fractional": "FractionalMaxPool2d FractionalMaxPool3d",
            ".pools": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
            "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d "
            "_AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd _MaxPoolNd",
            ".unpooling": "LPPool1d LPPool2d LPPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d _LPPoolNd "
            "_MaxUnpoolNd",
            **_ARGUMENTS,
        },
        "rnn": {
            ".cells": "GRUCell LSTMCell RNNCell RNNCellBase",
            ".recurrent": "GRU LSTM RNN RNNBase",
        },
        "sparse": {".bags": "EmbeddingBag", ".embedding": "Embedding"},
        "upsampling": {".resizing": "Upsample UpsamplingBilinear2d UpsamplingNearest2d"},
    },
)


# Classes of `nn` that live beside its modules.
_BESIDE = {"Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter"}


# Files that torch has by the same names: attributes, although nothing may have imported them yet.
_OF_TORCH = {"adaptive", "lazy", "module", "transformer", "utils"}


def _classes() -> list[str]:
    from .. import __all__ as names

    return [name for name in names if name[0].isupper() and name not in _BESIDE]


def __getattr__(name: str) -> Any:
    """Return a module of `nn`, or their names."""
    if name == "__all__":
        return sorted(_classes())
    from importlib import import_module

    if name[0].isupper() and name in _classes():
        return getattr(import_module(__package__.rpartition(".")[0]), name)
    if name in _OF_TORCH:
        return import_module(f".{name}", __package__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_classes()})
