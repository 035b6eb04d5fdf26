"""Layers of attention, one above the other: encoder, decoder, and both."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from .. import functional, init
from ..functional.masks import _canonical_mask, _none_or_dtype
from ._shown import constructed_by_name
from .containers import ModuleList
from .dropouts import Dropout
from .layers import Linear
from .module import Module
from .multihead import MultiheadAttention
from .normalised import LayerNorm
from .rectifiers import ReLU
from .units import GELU

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def _get_activation_fn(activation: Any) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        called: Callable[[Tensor], Tensor] = activation
        return called
    if activation == "relu":
        return functional.relu
    if activation == "gelu":
        return functional.gelu
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")


def _number_of_activation(activation: Any) -> int:
    """Return 1 for relu, 2 for gelu, 0 for any other function."""
    if activation is functional.relu or isinstance(activation, ReLU):
        return 1
    return 2 if activation is functional.gelu or isinstance(activation, GELU) else 0


def _later(size: int, dtype: Any = None) -> Tensor:
    """Return a mask that keeps every place from seeing those after it."""
    return native.full((size, size), -math.inf, dtype=dtype).triu(1)


def _is_causal(mask: Tensor | None, hint: bool | None, size: int) -> bool:
    """Tell whether a mask hides what comes later and nothing else."""
    if hint is not None:
        return hint
    if mask is None or mask.shape != (size, size):
        return False
    return bool((mask == _later(size, mask.dtype)).all()) if mask.is_floating_point() else False


class _Layer(Module):
    """Attention, as often as a subclass names it, then two linear layers; each added to what went in."""

    _attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = {"bias": bias, "device": device, "dtype": dtype}
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, batch_first=batch_first, **options
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        numbers = range(1, len(self._attentions) + 2)
        for number in numbers:
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=layer_norm_eps, **options))
        for number in numbers:
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)
        if "multihead_attn" not in self._attentions:
            self.activation_relu_or_gelu = _number_of_activation(self.activation)

    def _through(self, x: Tensor, blocks: list[Callable[[Tensor], Tensor]]) -> Tensor:
        """Add what each block makes of the sum so far, normalised before or after."""
        for number, block in enumerate(blocks, 1):
            norm = getattr(self, f"norm{number}")
            x = x + block(norm(x)) if self.norm_first else norm(x + block(x))
        return x

    # Subclasses put blocks of their own in the place of these, which therefore are called as torch does.

    def _attend(self, number: int, x: Tensor, seen: Tensor, *how: Any) -> Tensor:
        mask, padding, is_causal = how
        attention = getattr(self, self._attentions[number - 1])
        options = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
        found = attention(x, seen, seen, need_weights=False, **options)[0]
        dropped: Tensor = getattr(self, f"dropout{number}")(found)
        return dropped

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        """Look at the sequence itself."""
        return self._attend(1, x, x, attn_mask, key_padding_mask, is_causal)

    def _ff_block(self, x: Tensor) -> Tensor:
        """Apply the two linear layers."""
        wide = self.linear2(self.dropout(self.activation(self.linear1(x))))
        dropped: Tensor = getattr(self, f"dropout{len(self._attentions) + 1}")(wide)
        return dropped


@constructed_by_name
class TransformerEncoderLayer(_Layer):
    """Attention to itself, then two linear layers; each added to what went in.

    >>> import rushlight as torch
    >>> layer = torch.nn.TransformerEncoderLayer(4, 2, dim_feedforward=8, batch_first=True)
    >>> layer(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence, each place of which has seen the others."""
        padding = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(src_mask), "src_mask", src.dtype
        )
        mask = _canonical_mask(src_mask, "src_mask", None, "", src.dtype, False)

        def attend(x: Tensor) -> Tensor:
            return self._sa_block(x, mask, padding, is_causal=is_causal)

        return self._through(src, [attend, self._ff_block])


@constructed_by_name
class TransformerDecoderLayer(_Layer):
    """Attention to itself, then to the memory of an encoder, then two linear layers."""

    _attentions = ("self_attn", "multihead_attn")

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        """Look at the memory."""
        return self._attend(2, x, mem, attn_mask, key_padding_mask, is_causal)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence, each place of which has seen the others and the memory."""

        def attend(x: Tensor) -> Tensor:
            return self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def remember(x: Tensor) -> Tensor:
            return self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal)

        return self._through(tgt, [attend, remember, self._ff_block])


class _Stack(Module):
    def __init__(self, layer: Module, num_layers: int, norm: Module | None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def _size(self, x: Tensor) -> int:
        """Return the length of the sequences."""
        first = self.layers[0].self_attn if self.num_layers else None
        return x.shape[1 if x.dim() == 3 and first is not None and first.batch_first else 0]


def _obstacle(layer: Module) -> str:
    """Say why torch does not compute a layer of an encoder by nested tensors, if it does not."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention: Any = layer.self_attn
    obstacles = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2,
    }
    return next((words for words, stands in obstacles.items() if stands), "")


class TransformerEncoder(_Stack):
    """Encoder layers one above the other."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor = self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        obstacle = _obstacle(encoder_layer)
        if enable_nested_tensor and obstacle:
            warnings.warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"encoder_layer{obstacle}",
                stacklevel=2,
            )
            self.use_nested_tensor = False

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Pass a sequence through all layers."""
        padding = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(mask), "mask", src.dtype
        )
        mask = _canonical_mask(mask, "mask", None, "", src.dtype, False)
        causal = _is_causal(mask, is_causal, self._size(src))
        left_out = None if padding is None or mask is not None else self._left_out(src, padding)
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if left_out is not None:
            src = src.masked_fill(left_out.unsqueeze(-1), 0.0)
        return src if self.norm is None else self.norm(src)

    def _left_out(self, src: Tensor, padding: Tensor) -> Tensor | None:
        """Return the places that torch leaves out of nested tensors, if it computes by such.

        What comes back for them is zero.
        """
        first = self.layers[0]
        if not getattr(self, "use_nested_tensor", False) or first.training or src.dim() != 3:
            return None
        if native.is_grad_enabled() and any(x.requires_grad for x in (src, *first.parameters())):
            return None
        left_out = padding != 0
        # The places that are seen have to come before all others.
        if getattr(self, "mask_check", True) and bool((left_out[:, :-1] & ~left_out[:, 1:]).any()):
            return None
        return left_out


class TransformerDecoder(_Stack):
    """Decoder layers one above the other."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Pass a sequence through all layers, each of which sees the memory."""
        causal = _is_causal(tgt_mask, tgt_is_causal, self._size(tgt))
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder, and a decoder that sees what it made.

    >>> import rushlight as torch
    >>> model = torch.nn.Transformer(4, 2, 1, 1, 8)
    >>> model(torch.ones(3, 1, 4), torch.ones(2, 1, 4)).shape
    torch.Size([2, 1, 4])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Any = functional.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        options = {"bias": bias, "device": device, "dtype": dtype}
        shared: dict[str, Any] = {
            "dim_feedforward": dim_feedforward,
            "dropout": dropout,
            "activation": activation,
            "layer_norm_eps": layer_norm_eps,
            "batch_first": batch_first,
            "norm_first": norm_first,
            **options,
        }

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, **options)

        if custom_encoder is None:
            encoding = TransformerEncoderLayer(d_model, nhead, **shared)
            custom_encoder = TransformerEncoder(encoding, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoding = TransformerDecoderLayer(d_model, nhead, **shared)
            custom_decoder = TransformerDecoder(decoding, num_decoder_layers, norm())
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Encode one sequence and decode another with it in mind."""
        place = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(place) != tgt.size(place):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        found: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return found

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Return a mask that keeps every place from seeing those after it.

        >>> import rushlight as torch
        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _later(sz, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
