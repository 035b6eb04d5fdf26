"""Masks of attention as functions of places, and which blocks of scores they leave something of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from ...func.vmap import vmap
from ..functional.paddings import pad

if TYPE_CHECKING:
    from collections.abc import Callable

    MaskFunction = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

__all__ = ["BlockMask", "and_masks", "create_block_mask", "create_mask", "noop_mask", "or_masks"]

_KINDS = "kv_num_blocks kv_indices full_kv_num_blocks full_kv_indices"
_PARTS = [*_KINDS.split(), *_KINDS.replace("kv_", "q_").split()]


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """Allow everything."""
    return batch.new_ones(size=(), dtype=native.bool)


def and_masks(*mask_mods: MaskFunction) -> MaskFunction:
    """Return a mask that allows what all of several allow."""
    return _joined(mask_mods, True, Tensor.logical_and)


def or_masks(*mask_mods: MaskFunction) -> MaskFunction:
    """Return a mask that allows what any of several allows."""
    return _joined(mask_mods, False, Tensor.logical_or)


def _joined(masks: tuple[Any, ...], begin: bool, join: Callable[[Tensor, Tensor], Tensor]) -> MaskFunction:
    if not all(callable(one) for one in masks):
        raise RuntimeError(f"All inputs should be callable mask_mods: {masks}")

    def mask(b: Tensor, h: Tensor, q: Tensor, k: Tensor) -> Tensor:
        result = b.new_full((), begin, dtype=native.bool)
        for one in masks:
            result = join(result, one(b, h, q, k))
        return result

    return mask


def create_mask(
    mod_fn: Callable[..., Tensor], B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """Return what a function says of every place.

    >>> from rushlight.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda batch, head, query, key: query >= key, 1, 1, 2, 3)[0, 0]
    tensor([[ True, False, False],
            [ True,  True, False]])
    """
    function: Any = mod_fn
    for place in (3, 2, 1, 0):
        function = vmap(function, in_dims=tuple(0 if place == at else None for at in range(4)))
    found: Tensor = function(
        *(native.arange(size, device=device) for size in (B or 1, H or 1, Q_LEN, KV_LEN))
    )
    return found


def create_block_mask(
    mask_mod: MaskFunction,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    **_orders: Any,
) -> BlockMask:
    """Return a mask with the blocks of scores that it leaves something of.

    >>> from rushlight.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda batch, head, query, key: query >= key, 1, 1, 256, 256)
    >>> mask.to_dense()[0, 0]
    tensor([[1, 0],
            [1, 1]], dtype=torch.int32)
    """
    size = _pair(BLOCK_SIZE)
    allowed = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    padded = pad(allowed, [0, -KV_LEN % size[1], 0, -Q_LEN % size[0]])
    batch, heads, rows, columns = padded.shape
    blocks = padded.view(batch, heads, rows // size[0], size[0], columns // size[1], size[1]).sum((-3, -1))
    full = (
        (blocks == size[0] * size[1])
        if separate_full_blocks
        else native.zeros_like(blocks, dtype=native.bool)
    )
    partial = (blocks > 0) & ~full
    counts, indices = _listed(partial)
    whole: tuple[Tensor | None, Tensor | None] = _listed(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(
        counts, indices, whole[0], whole[1], BLOCK_SIZE=size, mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN)
    )


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def _listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Return how many blocks of each row are there, and which these are, before those that are not."""
    counts = blocks.sum(-1).to(native.int32)
    return counts, blocks.to(native.int32).argsort(dim=-1, descending=True, stable=True).to(native.int32)


def _dense(counts: Tensor, indices: Tensor, columns: int) -> Tensor:
    """Return which blocks are listed."""
    there = native.arange(indices.shape[-1]) < counts.unsqueeze(-1)
    blocks = native.zeros([*indices.shape[:-1], columns], dtype=native.int32)
    return blocks.scatter_add(-1, indices.long(), there.to(native.int32)).clamp(max=1)


class BlockMask:
    """A mask of attention, and the blocks of scores that it leaves all, or something, of."""

    kv_num_blocks: Tensor
    kv_indices: Tensor
    full_kv_num_blocks: Tensor | None
    full_kv_indices: Tensor | None

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int],
        mask_mod: Any,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        self.seq_lengths = seq_lengths
        given = locals()
        for name in _PARTS:
            setattr(self, name, given[name])
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = 128,
        mask_mod: Any = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """Make a mask of the blocks of each row of queries."""
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = _pair(BLOCK_SIZE)
        rows, columns = kv_num_blocks.shape[-1], kv_indices.shape[-1]
        lengths = (rows * size[0], columns * size[1]) if seq_lengths is None else seq_lengths

        def turned(counts: Tensor | None, indices: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
            if counts is None or indices is None or not compute_q_blocks:
                return None, None
            return _listed(_dense(counts, indices, columns).transpose(-2, -1))

        return cls(
            lengths,
            kv_num_blocks,
            kv_indices,
            full_kv_num_blocks,
            full_kv_indices,
            *turned(kv_num_blocks, kv_indices),
            *turned(full_kv_num_blocks, full_kv_indices),
            BLOCK_SIZE=size,
            mask_mod=noop_mask if mask_mod is None else mask_mod,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the mask, place by place."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """Return how many places there are."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    def to_dense(self) -> Tensor:
        """Return which blocks it leaves something of."""
        columns = self.kv_indices.shape[-1]
        blocks = _dense(self.kv_num_blocks, self.kv_indices, columns)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return blocks
        return blocks | _dense(self.full_kv_num_blocks, self.full_kv_indices, columns)

    def sparsity(self) -> float:
        """Return how much of a hundred is left out, in blocks."""
        area = self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1]
        return 100.0 - 100.0 * (int(self.to_dense().sum()) * area / self.numel())

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Return everything that it consists of."""
        parts = tuple(getattr(self, name) for name in _PARTS)
        size = self.BLOCK_SIZE if flatten else (self.BLOCK_SIZE,)
        lengths = self.seq_lengths if flatten else (self.seq_lengths,)
        return (*lengths, *parts, *size, self.mask_mod)

    def to(self, device: Any) -> BlockMask:
        """Return the mask on a device."""
        parts = {name: getattr(self, name) for name in _PARTS}
        moved: dict[str, Any] = {name: None if one is None else one.to(device) for name, one in parts.items()}
        return BlockMask(self.seq_lengths, **moved, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod)

    def __getitem__(self, index: Any) -> BlockMask:
        index = index if isinstance(index, tuple) else (index,)
        kept = tuple(slice(one, one + 1 or None) if isinstance(one, int) else one for one in index)
        return BlockMask.from_kv_blocks(
            self.kv_num_blocks[kept],
            self.kv_indices[kept],
            None if self.full_kv_num_blocks is None else self.full_kv_num_blocks[kept],
            None if self.full_kv_indices is None else self.full_kv_indices[kept],
            BLOCK_SIZE=self.BLOCK_SIZE,
            seq_lengths=self.seq_lengths,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """Return the upper left corner of the mask."""
        batch, heads = self.kv_num_blocks.shape[:2]
        return create_block_mask(
            self.mask_mod, batch, heads, new_q_len, new_kv_len, BLOCK_SIZE=self.BLOCK_SIZE
        )

    def to_string(self, grid_size: int | tuple[int, int] = 20, limit: int = 4) -> str:
        """Draw the blocks of the first batches and heads."""
        rows, columns = _pair(grid_size)
        dense = self.to_dense()
        drawn = []
        for count, place in enumerate(_places(dense.shape[:-2])):
            if count == limit:
                drawn.append("...")
                break
            drawn.append(f"{place}\n{_drawing(dense[place], rows, columns)}")
        return "\n".join(drawn)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string()}\n)"

    def __repr__(self) -> str:
        def size(value: Tensor | None) -> Any:
            return None if value is None else value.shape

        name = getattr(self.mask_mod, "__name__", self.mask_mod)
        parts = "".join(f"    {part}={size(getattr(self, part))},\n" for part in _PARTS)
        return (
            f"BlockMask(\n{parts}    BLOCK_SIZE={self.BLOCK_SIZE},\n    shape={self.shape},\n"
            f"    sparsity={self.sparsity():.2f}%,\n    mask_mod={name}\n)"
        )


def _places(shape: Any) -> Any:
    from itertools import product

    return product(*map(range, shape))


def _drawing(blocks: Tensor, rows: int, columns: int) -> str:
    """Draw blocks: what is there, what is there in part where several are drawn as one, and what is not."""
    height, width = -(-blocks.shape[0] // rows), -(-blocks.shape[1] // columns)
    lines = []
    for top in range(0, blocks.shape[0], height):
        line = ""
        for left in range(0, blocks.shape[1], width):
            share = float(blocks[top : top + height, left : left + width].float().mean())
            line += "██" if share == 1 else "  " if share == 0 else "░░"
        lines.append(line)
    return "\n".join(lines)
