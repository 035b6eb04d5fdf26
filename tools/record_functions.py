"""Record what functions of numbers are: `PY tools/record_functions.py`, with a Python that has mpmath.

Writes src/kernels/pointwise/math/recorded.txt, which the tests of the engine compare with: a line has the
precision, the name, the numbers, and the result rounded to double precision.
"""

from __future__ import annotations

import random
from pathlib import Path

import mpmath

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "kernels" / "pointwise" / "math" / "recorded.txt"
COUNT = 24


def quantile(p: mpmath.mpf) -> mpmath.mpf:
    """What a normal number is below with probability p."""
    rest = 2 * min(p, 1 - p)
    near = -mpmath.sqrt(-2 * mpmath.log(rest) + mpmath.mpf(1) / 100) * (-1 if p > 0.5 else 1)
    logarithm = mpmath.log(p) if p < 0.5 else mpmath.log(1 - p)
    side = 1 if p < 0.5 else -1

    def off(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.log(mpmath.erfc(-side * x / mpmath.sqrt(2)) / 2) - logarithm

    return mpmath.findroot(off, near)


# Where numbers are taken: from a range, or, with `None`, of any magnitude up to a power of two.
FUNCTIONS = {
    "sin": (mpmath.sin, [(-1e5, 1e5), (-10, 10), (None, 0)]),
    "cos": (mpmath.cos, [(-1e5, 1e5), (-10, 10), (None, 0)]),
    "tan": (mpmath.tan, [(-1e5, 1e5), (-10, 10), (None, 0)]),
    "asin": (mpmath.asin, [(-1, 1), (None, 0)]),
    "acos": (mpmath.acos, [(-1, 1), (None, 0)]),
    "atan": (mpmath.atan, [(-3, 3), (None, 40)]),
    "sinh": (mpmath.sinh, [(-88, 88), (-2, 2), (None, 0)]),
    "cosh": (mpmath.cosh, [(-88, 88), (-2, 2), (None, 0)]),
    "tanh": (mpmath.tanh, [(-12, 12), (-1, 1), (None, 0)]),
    "exp": (mpmath.exp, [(-87, 88), (-2, 2), (None, 0)]),
    "exp_2": (lambda x: mpmath.mpf(2) ** x, [(-125, 127), (-2, 2), (None, 0)]),
    "exp_m1": (mpmath.expm1, [(-20, 88), (-2, 2), (None, 0)]),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), [(-80, 80), (-3, 3)]),
    "ln": (mpmath.log, [(0.4, 2.5), (0, 1e6)]),
    "ln_1p": (mpmath.log1p, [(-0.99, 3), (None, 0)]),
    "log_2": (lambda x: mpmath.log(x) / mpmath.log(2), [(0.4, 2.5), (0, 1e6)]),
    "log_10": (lambda x: mpmath.log(x) / mpmath.log(10), [(0.4, 2.5), (0, 1e6)]),
    "erf": (mpmath.erf, [(-5, 5), (-1.2, 1.2), (None, 0)]),
    "erfc": (mpmath.erfc, [(-5, 9), (-1, 2), (7, 9)]),
    "erfinv": (mpmath.erfinv, [(-1, 1), (0.99, 1)]),
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), [(-5, 5), (0, 60), (None, 0)]),
    "normal_quantile": (quantile, [(0, 1), (0, 1e-3), (0, 1e-35)]),
    "i0": (lambda x: mpmath.besseli(0, x), [(-20, 20), (7, 80), (None, 0)]),
    "i0e": (lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), [(-20, 20), (7, 200), (None, 0)]),
    "i1": (lambda x: mpmath.besseli(1, x), [(-20, 20), (7, 80), (None, 0)]),
    "i1e": (lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), [(-20, 20), (7, 200), (None, 0)]),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), [(-20, 20), (0.5, 3)]),
    "digamma": (mpmath.digamma, [(-20, 20), (0.5, 3)]),
}
FUNCTIONS_OF_TWO = {
    "atan2": (mpmath.atan2, (-5, 5)),
    "hypot": (mpmath.hypot, (-5, 5)),
    "pow": (mpmath.power, (0.1, 10)),
    "fmod": (lambda x, y: x - y * (mpmath.floor(abs(x / y)) * mpmath.sign(x / y)), (-50, 50)),
    "remainder": (lambda x, y: x - y * mpmath.floor(x / y), (-50, 50)),
}
ONLY_SINGLE = {"lgamma", "digamma", "pow"}


def rounded(x: float, precision: str) -> float:
    """The nearest number of a precision."""
    with mpmath.workprec(24 if precision == "single" else 53):
        return float(+mpmath.mpf(x))


def numbers(ranges: list, precision: str, source: random.Random) -> list[float]:
    found = []
    for low, high in ranges:
        for _ in range(COUNT):
            x = source.uniform(low or 0.0, high)
            if low is None:
                x = source.choice([-1, 1]) * source.uniform(1, 2) * 2.0 ** (source.uniform(-40, high) - 1)
            found.append(rounded(x, precision))
    return found


def main() -> None:
    mpmath.mp.prec = 300
    source = random.Random(1)
    lines = ["# Written by tools/record_functions.py"]
    for precision in ("single", "double"):
        for name, (function, ranges) in FUNCTIONS.items():
            if precision == "double" and name in ONLY_SINGLE:
                continue
            for x in numbers(ranges, precision, source):
                lines.append(f"{precision} {name} {x!r} {float(function(mpmath.mpf(x)))!r}")
        for name, (function, around) in FUNCTIONS_OF_TWO.items():
            if precision == "double" and name in ONLY_SINGLE:
                continue
            for x, y in zip(*(numbers([around], precision, source) for _ in "ab"), strict=True):
                result = float(function(mpmath.mpf(x), mpmath.mpf(y)))
                lines.append(f"{precision} {name} {x!r} {y!r} {result!r}")
    OUTPUT.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
