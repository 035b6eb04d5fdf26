"""What is shown of values: numbers, histograms, pictures, texts, sounds."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from typing import Any

import numpy

from ._events import Double, doubles, message

__all__ = ["audio", "histogram", "image", "scalar", "text"]


def as_array(values: Any) -> Any:
    """Return values as an array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return numpy.asarray(values)


def scalar(tag: str, value: Any) -> bytes:
    """Return the summary of a number."""
    found = as_array(value)
    if found.size != 1:
        raise AssertionError("scalar should be 0D")
    return _summary(tag, (2, float(found.reshape(()))))


def _summary(tag: str, *fields: tuple[int, Any]) -> bytes:
    return message((1, message((1, tag), *fields)))


def _edges() -> Any:
    """Return edges that grow by a tenth, on both sides of zero."""
    positive = 1e-12 * 1.1 ** numpy.arange(775)
    return numpy.concatenate([-positive[::-1], [0.0], positive])


def histogram(tag: str, values: Any, bins: Any = "tensorflow", max_bins: int | None = None) -> bytes:
    """Return the summary of how often which values are there."""
    found = as_array(values).reshape(-1).astype(numpy.float64)
    if found.size == 0:
        raise ValueError("The input has no element.")
    edges = _edges() if bins == "tensorflow" else bins
    counts, limits = numpy.histogram(found, edges)
    if max_bins is not None and len(counts) > max_bins:
        width = -(-len(counts) // max_bins)
        counts = numpy.add.reduceat(counts, numpy.arange(0, len(counts), width))
        limits = numpy.concatenate([limits[:-1:width], limits[-1:]])
    there = numpy.nonzero(counts)[0]
    if not len(there):
        raise ValueError("The histogram is empty, please file a bug report.")
    # One empty bucket before the first, so that it has a lower edge.
    first, last = there[0], there[-1] + 1
    buckets, ends = counts[first:last], limits[first + 1 : last + 1]
    if first > 0:
        buckets, ends = counts[first - 1 : last], limits[first : last + 1]
    else:
        buckets, ends = numpy.concatenate([[0], buckets]), limits[first : last + 1]
    numbers = (found.min(), found.max(), found.size, found.sum(), (found * found).sum())
    fields = [(place, Double(number)) for place, number in enumerate(numbers, 1)]
    return _summary(tag, (5, message(*fields, (6, doubles(ends)), (7, doubles(buckets)))))


def _png(pixels: Any) -> bytes:
    """Return a picture of bytes, height by width by colours, as a file."""
    height, width, colours = pixels.shape
    rows = numpy.zeros((height, 1 + width * colours), dtype=numpy.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    kind = {1: 0, 2: 4, 3: 2, 4: 6}[colours]
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(rows.tobytes())) + chunk(b"IEND", b"")


def _in_order(pixels: Any, order: str) -> Any:
    """Return pictures with dimensions in the order of height, width and colours; many become a grid."""
    order = order.upper()
    if len(order) != pixels.ndim or len(set(order)) != len(order):
        raise AssertionError(
            f"size of input tensor and input format are different. tensor shape: {pixels.shape}, "
            f"input_format: {order}"
        )
    if "N" in order:
        pixels = pixels.transpose([order.index(name) for name in "NHWC"])
        beside = int(numpy.ceil(len(pixels) ** 0.5))
        rows = -(-len(pixels) // beside)
        empty = numpy.zeros((rows * beside, *pixels.shape[1:]), dtype=pixels.dtype)
        empty[: len(pixels)] = pixels
        grid = empty.reshape(rows, beside, *pixels.shape[1:]).swapaxes(1, 2)
        return grid.reshape(rows * pixels.shape[1], beside * pixels.shape[2], pixels.shape[3])
    if "C" not in order:
        return pixels.transpose([order.index(name) for name in "HW"])[..., None].repeat(3, -1)
    return pixels.transpose([order.index(name) for name in "HWC"])


def image(tag: str, pixels: Any, dataformats: str = "CHW") -> bytes:
    """Return the summary of a picture; numbers that are no bytes are shares of full brightness."""
    found = as_array(pixels)
    if found.dtype != numpy.uint8:
        found = (found.astype(numpy.float32) * 255.0).clip(0, 255).astype(numpy.uint8)
    found = _in_order(found, dataformats)
    height, width, colours = found.shape
    fields = (1, height), (2, width), (3, colours), (4, _png(found))
    return _summary(tag, (4, message(*fields)))


def text(tag: str, words: str) -> bytes:
    """Return the summary of a text."""
    plugin = message((1, message((1, "text"))))
    shape = message((2, message((1, 1))))
    return _summary(f"{tag}/text_summary", (9, plugin), (8, message((1, 7), (2, shape), (8, words))))


def audio(tag: str, samples: Any, rate: int = 44100) -> bytes:
    """Return the summary of a sound: numbers from minus one to one."""
    found = (as_array(samples).squeeze().clip(-1, 1) * 32767).astype("<i2")
    if found.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(1)
        written.setsampwidth(2)
        written.setframerate(rate)
        written.writeframes(found.tobytes())
    fields = (1, float(rate)), (2, 1), (3, len(found)), (4, file.getvalue()), (5, "audio/wav")
    return _summary(tag, (6, message(*fields)))


def hyperparameters(values: dict[str, Any], metrics: dict[str, Any]) -> list[bytes]:
    """Return the three summaries of a run: what was looked for, what was chosen, and that it is done."""

    def plain(value: Any) -> bytes:
        if isinstance(value, bool):
            return message((4, value))
        if isinstance(value, str):
            return message((3, value))
        return message((2, Double(float(as_array(value).reshape(())))))

    def entry(name: str, content: bytes) -> bytes:
        plugin = message((1, "hparams"), (2, content))
        return _summary(name, (9, message((1, plugin))))

    kinds = {str: 1, bool: 2}
    chosen = [message((1, name), (4, kinds.get(type(value), 3))) for name, value in values.items()]
    shown = [message((1, message((2, name)))) for name in metrics]
    experiment = message((2, message((4, chosen), (5, shown))))
    start = message((3, message((1, [message((1, n), (2, plain(v))) for n, v in values.items()]))))
    end = message((4, message((1, 1))))
    return [
        entry("_hparams_/experiment", experiment),
        entry("_hparams_/session_start_info", start),
        entry("_hparams_/session_end_info", end),
    ]
