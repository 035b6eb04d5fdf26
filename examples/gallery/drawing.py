"""What the programs of the gallery share: short runs, a progress bar, pictures as SVG."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from terminal import ProgressBar

OUTPUT = Path(__file__).resolve().parents[1] / "output"
SHORT = "--short" in sys.argv[1:]
BLUE, ORANGE, GREY = "#3b6fb6", "#e07b39", "#8a8f98"


def steps(full: int, short: int = 3) -> Iterator[int]:
    """Count steps, few of them in a short run, and show how far they are."""
    total = short if SHORT else full
    bar = ProgressBar(total)
    for step in range(total):
        yield step
        bar.show(step + 1, "")


class Plot:
    """A picture of numbers: each kind of mark is added in the colours and the order of the calls."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], title: str, size: int = 420) -> None:
        self.x, self.y, self.title, self.size = x, y, title, size
        self.marks: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is in the picture."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return round(20 + across * self.size, 2), round(40 + (1 - up) * self.size, 2)

    def line(self, xs: Sequence[float], ys: Sequence[float], colour: str = BLUE, width: float = 2) -> None:
        """Draw a line through points."""
        path = " ".join("{},{}".format(*self.at(x, y)) for x, y in zip(xs, ys, strict=True))
        self.marks.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def points(
        self, xs: Sequence[float], ys: Sequence[float], colour: str = ORANGE, radius: float = 3
    ) -> None:
        """Draw dots."""
        for x, y in zip(xs, ys, strict=True):
            across, down = self.at(x, y)
            self.marks.append(f'<circle cx="{across}" cy="{down}" r="{radius}" fill="{colour}"/>')

    def band(
        self, xs: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str = BLUE
    ) -> None:
        """Fill what lies between two lines."""
        there = [self.at(x, y) for x, y in zip(xs, low, strict=True)]
        back = [self.at(x, y) for x, y in zip(xs, high, strict=True)][::-1]
        path = " ".join(f"{across},{down}" for across, down in there + back)
        self.marks.append(f'<polygon points="{path}" fill="{colour}" fill-opacity="0.2"/>')

    def image(self, rows: Sequence[Sequence[float]]) -> None:
        """Fill the picture with cells, dark at 0 and bright at 1; the first row is on top."""
        high, wide = self.size / len(rows), self.size / len(rows[0])
        for row, values in enumerate(rows):
            for column, value in enumerate(values):
                red, green, blue = (
                    round(start + (end - start) * min(max(value, 0.0), 1.0))
                    for start, end in ((16, 255), (24, 214), (64, 140))
                )
                place = f'x="{20 + column * wide:.2f}" y="{40 + row * high:.2f}"'
                cell = f'width="{wide + 0.5:.2f}" height="{high + 0.5:.2f}"'
                self.marks.append(f'<rect {place} {cell} fill="rgb({red},{green},{blue})"/>')

    def save(self, name: str) -> None:
        """Write the picture to the folder of outputs."""
        OUTPUT.mkdir(exist_ok=True)
        side = self.size
        frame = f'<rect x="20" y="40" width="{side}" height="{side}" fill="none" stroke="{GREY}"/>'
        clip = f'<clipPath id="c"><rect x="20" y="40" width="{side}" height="{side}"/></clipPath>'
        text = f'<text x="20" y="26" font-family="sans-serif" font-size="15">{self.title}</text>'
        begin = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side + 40} {side + 60}">'
        body = "\n".join(self.marks)
        path = OUTPUT / f"{name}.svg"
        path.write_text(
            f'{begin}<rect width="100%" height="100%" fill="white"/>{clip}{text}\n'
            f'<g clip-path="url(#c)">\n{body}\n</g>\n{frame}</svg>\n',
            "utf-8",
        )
        print(f"{self.title}: {path}")
