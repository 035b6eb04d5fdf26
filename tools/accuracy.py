"""How exact functions of elements are: the largest error in units in the last place, beside mpmath.

    python tools/accuracy.py [--reference PY] > docs/accuracy.md

Needs mpmath. Numbers are drawn from the whole domain of a function, most of them near its interesting places;
with `--reference`, a Python that has torch, its errors stand beside.
"""

import argparse
import importlib
import json
import math
import random
import struct
import subprocess
import sys
import warnings

POINTS = 120
PREFACE = f"""Errors of functions of elements in units in the last place, beside mpmath with sixty digits: the
largest of {POINTS} numbers of the domain, and in brackets what nine of ten stay below. Where a function has a
zero that is no number of the type, a small error is many units. `python tools/accuracy.py` writes this page.
"""
# What a function is called, what mpmath calls it, and pieces of its domain: powers of ten, between which
# numbers are drawn evenly by their exponents and, if it says so, with both signs; or plain numbers.
WHOLE, POSITIVE, UNIT = (-12, 2.3, "both"), (-300, 300), (-1.0, 1.0, "plain")
FUNCTIONS = {
    "exp": ("m.exp(x)", [WHOLE]),
    "exp2": ("m.mpf(2)**x", [WHOLE]),
    "expm1": ("m.expm1(x)", [WHOLE]),
    "log": ("m.log(x)", [POSITIVE, (0.9, 1.1, "plain")]),
    "log2": ("m.log(x)/m.log(2)", [POSITIVE, (0.9, 1.1, "plain")]),
    "log10": ("m.log10(x)", [POSITIVE, (0.9, 1.1, "plain")]),
    "log1p": ("m.log1p(x)", [(-300, 300), (-0.99, 1.0, "plain")]),
    "sqrt": ("m.sqrt(x)", [POSITIVE]),
    "rsqrt": ("1/m.sqrt(x)", [POSITIVE]),
    "reciprocal": ("1/x", [POSITIVE]),
    "sin": ("m.sin(x)", [(-12, 15, "both"), (-10.0, 10.0, "plain")]),
    "cos": ("m.cos(x)", [(-12, 15, "both"), (-10.0, 10.0, "plain")]),
    "tan": ("m.tan(x)", [(-12, 15, "both"), (-10.0, 10.0, "plain")]),
    "asin": ("m.asin(x)", [UNIT, (-12, 0, "both")]),
    "acos": ("m.acos(x)", [UNIT, (-12, 0, "both")]),
    "atan": ("m.atan(x)", [(-12, 12, "both")]),
    "sinh": ("m.sinh(x)", [(-12, 2.3, "both")]),
    "cosh": ("m.cosh(x)", [(-12, 2.3, "both")]),
    "tanh": ("m.tanh(x)", [(-12, 1.5, "both")]),
    "asinh": ("m.asinh(x)", [(-12, 100, "both")]),
    "acosh": ("m.acosh(x)", [(0.01, 100)]),
    "atanh": ("m.atanh(x)", [UNIT, (-12, -0.01, "both")]),
    "sigmoid": ("1/(1+m.exp(-x))", [(-12, 2.3, "both")]),
    "erf": ("m.erf(x)", [(-12, 1, "both")]),
    "erfc": ("m.erfc(x)", [(-12, 1, "both")]),
    "erfinv": ("m.erfinv(x)", [(-0.999, 0.999, "plain")]),
    "special.erfcx": ("m.exp(x*x)*m.erfc(x)", [(-12, 1, "both")]),
    "lgamma": ("m.log(abs(m.gamma(x)))", [(-12, 5), (2.5, 20.0, "plain")]),
    "digamma": ("m.digamma(x)", [(-5, 5), (2.0, 20.0, "plain")]),
    "special.polygamma2": ("m.polygamma(2,x)", [(-2, 3)]),
    "i0": ("m.besseli(0,x)", [(-5, 2.3, "both")]),
    "special.i0e": ("m.besseli(0,x)*m.exp(-abs(x))", [(-5, 2.3, "both")]),
    "special.i1": ("m.besseli(1,x)", [(-5, 2.3, "both")]),
    "special.i1e": ("m.besseli(1,x)*m.exp(-abs(x))", [(-5, 2.3, "both")]),
    "special.bessel_j0": ("m.besselj(0,x)", [(-3, 2)]),
    "special.bessel_j1": ("m.besselj(1,x)", [(-3, 2)]),
    "special.bessel_y0": ("m.bessely(0,x)", [(-3, 2)]),
    "special.bessel_y1": ("m.bessely(1,x)", [(-3, 2)]),
    "special.modified_bessel_k0": ("m.besselk(0,x)", [(-3, 2)]),
    "special.modified_bessel_k1": ("m.besselk(1,x)", [(-3, 2)]),
    "special.airy_ai": ("m.airyai(x)", [(-3, 0.8, "both")]),
    "special.ndtr": ("m.ncdf(x)", [(-12, 0.7, "both")]),
    "special.ndtri": ("m.sqrt(2)*m.erfinv(2*x-1)", [(0.001, 0.999, "plain")]),
    "special.log_ndtr": ("m.log(m.ncdf(x))", [(-6, 1.2, "both")]),
    "special.entr": ("-x*m.log(x)", [(-300, 100)]),
    "special.spherical_bessel_j0": ("m.sin(x)/x", [(-3, 2)]),
    "sinc": ("m.sin(m.pi*x)/(m.pi*x)", [(-3, 1.5, "both")]),
    "special.zeta2": ("m.zeta(2,x)", [(-2, 3)]),
}
TYPES = {"float64": ("d", 53, -1074), "float32": ("f", 24, -149)}


def points(name, code):
    """Numbers of the domain of a function, as a type has them."""
    dice, pieces = random.Random(name), FUNCTIONS[name][1]
    found = []
    for number in range(POINTS):
        low, high, *kind = pieces[number % len(pieces)]
        if code == "f":
            low, high = max(low, -35), min(high, 35)
        x = dice.uniform(low, high)
        if kind != ["plain"]:
            x = 10.0**x
            x = -x if kind == ["both"] and dice.random() < 0.5 else x
        found.append(struct.unpack(code, struct.pack(code, x))[0])
    return found


def values(library):
    """What a library answers, for all functions and types."""
    warnings.simplefilter("ignore")
    torch = importlib.import_module(library)
    answers = {}
    for name in FUNCTIONS:
        for kind, (code, _, _) in TYPES.items():
            x = torch.tensor(points(name, code), dtype=getattr(torch, kind))
            if name == "special.polygamma2":
                y = torch.special.polygamma(2, x)
            elif name == "special.zeta2":
                y = torch.special.zeta(torch.tensor(2.0, dtype=x.dtype), x)
            else:
                function = torch
                for part in name.split("."):
                    function = getattr(function, part)
                y = function(x)
            answers[f"{name} {kind}"] = [str(it) if not math.isfinite(it) else it for it in y.tolist()]
    print(json.dumps(answers))


def exact():
    """What mpmath answers."""
    import mpmath as m

    m.mp.dps = 60
    found = {}
    for name, (formula, _) in FUNCTIONS.items():
        compiled = eval(f"lambda x, m: {formula}")
        for kind, (code, _, _) in TYPES.items():
            found[f"{name} {kind}"] = [compiled(m.mpf(x), m) for x in points(name, code)]
    return found


def errors(answers, truths):
    """The largest error of each function, and that of nine numbers of ten, in units in the last place."""
    import mpmath as m

    table = {}
    for key, given in answers.items():
        _, digits, least = TYPES[key.split()[1]]
        found = []
        for answer, truth in zip(given, truths[key], strict=True):
            size = m.mpf(2) ** max(least, (m.frexp(truth)[1] if truth else least) - digits)
            largest = m.mpf(2) ** (1024 if digits == 53 else 128)
            if isinstance(answer, str):
                found.append(0.0 if abs(truth) >= largest and "inf" in answer else math.inf)
            else:
                found.append(float(abs(m.mpf(answer) - truth) / size))
        found.sort()
        table[key] = found[-1], found[len(found) * 9 // 10]
    return table


def told(error):
    return "no number" if error == math.inf else f"{error:.2g}" if error < 100 else f"{error:.0e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", help="a Python that has torch")
    parser.add_argument("--values", metavar="LIBRARY", help="print what this library answers")
    options = parser.parse_args()
    if options.values:
        return values(options.values)
    asked = [(sys.executable, "rushlight"), *([(options.reference, "torch")] if options.reference else [])]
    truths, tables = exact(), []
    for python, library in asked:
        command = [python, __file__, "--values", library]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        tables.append(errors(json.loads(run.stdout), truths))
    print("# Accuracy\n")
    print(PREFACE)
    names = ["float64", "float32", "torch's float64", "torch's float32"][: 2 * len(asked)]
    print("| function | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names))
    for name in FUNCTIONS:
        cells = [table[f"{name} {kind}"] for table in tables for kind in TYPES]
        row = (f"{told(worst)} ({told(most)})" for worst, most in cells)
        print(f"| `{name}` | " + " | ".join(row) + " |")
    return None


if __name__ == "__main__":
    main()
