"""Points that fill a cube evenly: Sobol's sequences, plain and scrambled.

The direction numbers are those of Stephen Joe and Frances Y. Kuo ("Constructing Sobol sequences with better
two-dimensional projections", 2008), by their criterion D(6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from . import _rushlight as native

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from ._rushlight import Tensor

__all__ = ["SobolEngine"]

_BITS = 30
# How many of the sequences have a polynomial of each degree, from one on; the first sequence has none.
_COUNTS = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)
# Numbers that are drawn at once.
_PIECE = 1 << 20
_DIMENSIONS = 1 + sum(_COUNTS)


def _packed() -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what the file has of the sequences: how far their polynomials are apart, and bits of numbers.

    A polynomial is an integer, of the coefficients between the first and the last, which are one; those of a
    degree rise. Bits are those of the first direction numbers, without the last of each, which is one too.
    """
    from importlib.resources import files

    held = (files(__package__) / "_sobol_directions.bin").read_bytes()
    packed = numpy.frombuffer(held, dtype=numpy.uint8)
    return packed[: _DIMENSIONS - 1], packed[_DIMENSIONS - 1 :]


def _directions(dimension: int) -> NDArray[Any]:
    """Return the direction numbers of the first sequences, as integers of 30 bits: a row for each."""
    rows = [numpy.ones((1, _BITS), dtype=numpy.int64)]
    (gaps, packed), left, first, start = _packed(), dimension - 1, 0, 0
    for degree, count in enumerate(_COUNTS, 1):
        if left <= 0:
            break
        width = degree * (degree - 1) // 2
        whole = numpy.unpackbits(packed[start // 8 : (start + count * width) // 8 + 1])[start % 8 :]
        bits = whole[: count * width].reshape(count, width)[:left].astype(numpy.int64)
        polynomials = numpy.cumsum(gaps[first : first + count], dtype=numpy.int64)[:left]
        rows.append(_of_degree(degree, polynomials, bits))
        left, first, start = left - count, first + count, start + count * width
    found: NDArray[Any] = numpy.concatenate(rows) << numpy.arange(_BITS - 1, -1, -1)
    return found


def _of_degree(degree: int, polynomials: NDArray[Any], bits: NDArray[Any]) -> NDArray[Any]:
    """Return the direction numbers by polynomials of one degree: each number follows from those before."""
    found = numpy.ones((len(bits), _BITS), dtype=numpy.int64)
    place = 0
    for number in range(1, degree):
        weights = 1 << numpy.arange(number, 0, -1)
        found[:, number] = bits[:, place : place + number] @ weights + 1
        place += number
    for number in range(degree, _BITS):
        last = found[:, number - degree]
        value: NDArray[Any] = last ^ (last << degree)
        for back in range(1, degree):
            coefficient = polynomials >> (degree - 1 - back) & 1
            value ^= coefficient * (found[:, number - back] << back)
        found[:, number] = value
    return found


def _lowest_zero(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the place of the lowest bit that is zero: in which direction a sequence goes on."""
    lowest = ~numbers & (numbers + 1)
    places: NDArray[Any] = numpy.log2(lowest.astype(numpy.float64)).astype(numpy.int64)
    return places


def _parity(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return whether an odd number of bits is one."""
    for shift in (16, 8, 4, 2, 1):
        numbers = numbers ^ (numbers >> shift)
    return numbers & 1


class SobolEngine:
    """Draws the points of a Sobol sequence, one after the other.

    >>> import rushlight as torch
    >>> torch.quasirandom.SobolEngine(dimension=3).draw(3)
    tensor([[0.0000, 0.0000, 0.0000],
            [0.5000, 0.5000, 0.5000],
            [0.7500, 0.2500, 0.2500]])
    """

    MAXBIT = _BITS
    MAXDIM = _DIMENSIONS

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        directions = _directions(dimension)
        self.shift = native.zeros(dimension, dtype=native.int64)
        if scramble:
            directions = self._scrambled(directions)
        self.sobolstate = native.from_numpy(directions)
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**_BITS).reshape(1, -1)
        self.num_generated = 0

    def _scrambled(self, directions: NDArray[Any]) -> NDArray[Any]:
        """Draw where the sequences start, and multiply their directions by triangular matrices of bits."""
        generator = None
        if self.seed is not None:
            generator = native.Generator()
            generator.manual_seed(self.seed)
        bits = native.randint(2, (self.dimension, _BITS), generator=generator)
        self.shift = (bits << native.arange(_BITS)).sum(-1)
        drawn = native.randint(2, (self.dimension, _BITS, _BITS), generator=generator)
        lower = native.tril(drawn, -1) + native.eye(_BITS, dtype=native.int64)
        masks = (lower << native.arange(_BITS - 1, -1, -1)).sum(-1).numpy()
        made = numpy.zeros_like(directions)
        for row in range(_BITS):
            made |= _parity(masks[:, row, None] & directions) << (_BITS - 1 - row)
        return made

    def _steps(self, n: int) -> NDArray[Any]:
        """Return in which directions the sequences go in their next steps."""
        start = max(self.num_generated - 1, 0)
        places = _lowest_zero(numpy.arange(start, start + n))
        moved: NDArray[Any] = self.sobolstate.numpy()[:, places].T
        return moved

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: native.dtype | None = None) -> Tensor:
        """Return the next points, a row for each."""
        dtype = native.get_default_dtype() if dtype is None else dtype
        if n > 0 and self.num_generated + n > 2**_BITS:
            raise ValueError(f"a sequence has 2**{_BITS} points, and they are drawn")
        # Between two pieces whoever waits may give up.
        each = max(1, _PIECE // self.dimension)
        pieces = [self._drawn(min(each, n - start), dtype) for start in range(0, max(n, 1), each)]
        result = pieces[0] if len(pieces) == 1 else native.cat(pieces)
        return result if out is None else out.resize_(result.shape).copy_(result)

    def _drawn(self, n: int, dtype: native.dtype) -> Tensor:
        first = self.num_generated == 0
        moves = self._steps(n - first)
        path = numpy.bitwise_xor.accumulate(numpy.concatenate([self.quasi.numpy()[None], moves]), axis=0)
        self.quasi = native.from_numpy(path[-1].copy())
        result = native.from_numpy(path[1:]).to(dtype) * 2.0**-_BITS
        if first:
            result = native.cat([self._first_point.to(dtype), result], -2)
        self.num_generated += n
        return result

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: native.dtype | None = None) -> Tensor:
        """Return the next `2**m` points, if all that are drawn then are a power of two."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> Self:
        """Begin again."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> Self:
        """Leave out the next points."""
        moves = self._steps(n - (self.num_generated == 0))
        moved = numpy.bitwise_xor.reduce(numpy.concatenate([self.quasi.numpy()[None], moves]), axis=0)
        self.quasi = native.from_numpy(moved)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        shown = [f"dimension={self.dimension}"]
        if self.scramble:
            shown.append("scramble=True")
        if self.seed is not None:
            shown.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(shown)})"
