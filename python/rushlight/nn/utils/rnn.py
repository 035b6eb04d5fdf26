"""Sequences of different lengths together: padded to one length, or packed step by step."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

from ... import _rushlight as native
from ..._rushlight import Tensor

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """The elements of all sequences at the first step, then those at the second, and so on.

    The sequences are in the order of their lengths; `batch_sizes` says how many reach each step.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the same with the elements converted as `Tensor.to` says."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else PackedSequence(data, *self[1:])

    def float(self) -> PackedSequence:
        """Return the same in single precision."""
        return self.to(dtype=native.float32)

    def double(self) -> PackedSequence:
        """Return the same in double precision."""
        return self.to(dtype=native.float64)

    def half(self) -> PackedSequence:
        """Return the same in half precision."""
        return self.to(dtype=native.float16)

    def long(self) -> PackedSequence:
        """Return the same as 64-bit integers."""
        return self.to(dtype=native.int64)

    def int(self) -> PackedSequence:
        """Return the same as 32-bit integers."""
        return self.to(dtype=native.int32)

    def short(self) -> PackedSequence:
        """Return the same as 16-bit integers."""
        return self.to(dtype=native.int16)

    def char(self) -> PackedSequence:
        """Return the same as 8-bit integers."""
        return self.to(dtype=native.int8)

    def byte(self) -> PackedSequence:
        """Return the same as unsigned 8-bit integers."""
        return self.to(dtype=native.uint8)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the same, converted as `Tensor.to` says: this is where it is."""
        return self.to(*args, **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Move the elements to a CUDA device: an error."""
        return self.to(*args, **{**kwargs, "device": "cuda"})

    def pin_memory(self) -> PackedSequence:
        """Return the same in pinned memory, as far as there is such."""
        order = [None if one is None else one.pin_memory() for one in self[2:]]
        return PackedSequence(self.data.pin_memory(), self.batch_sizes, *order)

    def is_pinned(self) -> bool:
        """Return whether the elements are in pinned memory."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """False."""
        return self.data.is_cuda


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the order that undoes an order."""
    if permutation is None:
        return None
    output = native.empty_like(permutation)
    output.scatter_(0, permutation, native.arange(0, permutation.numel()))
    return output


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack sequences that were padded to one length.

    >>> import rushlight as torch
    >>> packed = torch.nn.utils.rnn.pack_padded_sequence(torch.tensor([[1, 4], [2, 5], [3, 0]]), [3, 2])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 5, 3]), tensor([2, 2, 1]))
    """
    if not isinstance(input, Tensor):
        raise TypeError(
            "_pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not "
            f"{type(input).__name__}"
        )
    lengths = native.as_tensor(lengths, dtype=native.int64)
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if lengths.dim() != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D cpu Long tensor"
        )
    order = None
    if not enforce_sorted:
        lengths, order = native.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    counts, places = lengths.tolist(), input.shape[0 if batch_first else 1]
    if places != len(counts):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={places})"
        )
    if counts and min(counts) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(later > earlier for earlier, later in itertools.pairwise(counts)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not need ONNX exportability."
        )
    # Of a run of steps as many sequences are left: all of them at first, then fewer.
    ends = counts[::-1]
    runs = list(zip([0, *ends], ends, range(places, 0, -1), strict=False))

    def packed(input: Tensor) -> tuple[Tensor, Tensor]:
        lengths = native.tensor([end - start for start, end, _ in runs])
        sizes = native.repeat_interleave(native.tensor([left for _, _, left in runs]), lengths)
        steps = input.transpose(0, 1) if batch_first else input
        parts = [steps[start:end, :left].flatten(0, 1) for start, end, left in runs if start < end]
        return native.cat(parts), sizes

    names = ("_pack_padded_sequence", "PackPaddedSequenceBackward0", "- - result1")
    parameters = {"batch_first": batch_first, "input_sym_sizes": tuple(input.shape)}
    data, batch_sizes = native._as_one(packed, names, (1, 1, 2), parameters, input)
    return PackedSequence(data, batch_sizes, order)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return packed sequences padded to one length, and their lengths."""
    sizes = sequence.batch_sizes.tolist()
    data, back = sequence.data, sequence.unsorted_indices
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    count, rest = sizes[0], tuple(data.shape[1:])
    padded = data.new_full((total_length or longest, count, *rest), padding_value)
    start = offset = 0
    for size, run in itertools.groupby(sizes):
        length = len(list(run))
        steps = data.narrow(0, offset, length * size).view(length, size, *rest)
        padded[start : start + length, :size].copy_(steps)
        start, offset = start + length, offset + length * size
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = native.tensor([sum(size > place for size in sizes) for place in range(count)])
    if back is not None:
        return padded.index_select(0 if batch_first else 1, back), lengths[back]
    return padded, lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Return sequences together, padded to the length of the longest.

    >>> import rushlight as torch
    >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = tuple(sequences)
    for place, sequence in enumerate(sequences):
        if not isinstance(sequence, Tensor):
            found = type(sequence).__name__
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {found}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest, dim = max(len(sequence) for sequence in sequences), 0 if batch_first else 1
    shape = [longest, *sequences[0].shape[1:]]
    shape.insert(dim, len(sequences))
    padded = sequences[0].new_full(shape, padding_value)
    for place, sequence in enumerate(sequences):
        start = 0 if padding_side == "right" else longest - len(sequence)
        padded.select(dim, place).narrow(0, start, len(sequence)).copy_(sequence)
    return padded


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Return the sequences that were padded. Unless `batch_first`, what is given is transposed in place."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    places = native.arange(padded_sequences.shape[1])
    pairs = zip(padded_sequences.unbind(0), lengths, strict=True)
    return [sequence[places < length] for sequence, length in pairs]


def pack_sequence(sequences: Iterable[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths."""
    sequences = list(sequences)
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
