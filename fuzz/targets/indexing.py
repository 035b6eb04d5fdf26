"""Index expressions: read, written to and differentiated, and compared with numpy where both take them."""

PRELUDE = """import numpy
a = torch.arange({count}.0, dtype=torch.float64).reshape({shape}){reading}.requires_grad_()
n = a.detach().numpy().copy()
torch_sees = lambda t: torch.tensor(t)
numpy_sees = lambda t: numpy.array(t)
"""
COMPARED = """def got(x, as_array):
    try:
        return x[{index}]
    except (IndexError, ValueError, TypeError, RuntimeError, OverflowError) as error:
        return error
i, j = got(a, torch_sees), got(n, numpy_sees)
if not isinstance(i, Exception) and not isinstance(j, Exception):
    if i.shape != j.shape or i.tolist() != j.tolist():
        raise Wrong(f"{{i.tolist()}} is not {{j.tolist()}}")
    i.sum().backward()
    seen = numpy.zeros(n.shape)
    as_array = numpy_sees
    numpy.add.at(seen, numpy.s_[{index}], 1.0)
    if a.grad.tolist() != seen.tolist():
        raise Wrong("the gradient is another")
"""
WRITTEN = "a.detach()[{index}] = {value}"


def whole(dice, size):
    return dice.choice([0, 1, -1, size - 1, -size, size, -size - 1, 5, 2**31, 2**63 - 1, -(2**63), 2**64])


def part(dice, size):
    """One place of an index."""
    roll = dice.random()
    if roll < 0.2:
        return str(whole(dice, size))
    if roll < 0.5:
        ends = [dice.choice(["", str(whole(dice, size))]) for _ in range(2)]
        return ":".join(ends) + dice.choice(["", "", ":1", ":2", ":3", ":-1", ":0", f":{2**63 - 1}"])
    if roll < 0.58:
        return "..."
    if roll < 0.66:
        return "None"
    if roll < 0.85:
        values = [
            dice.randint(-size, size - 1) if dice.random() < 0.97 else 2**40
            for _ in range(dice.randint(0, 4))
        ]
        if not values:
            return f"as_array([True] * {size})"
        return f"as_array({[values] if dice.random() < 0.2 else values})"
    if roll < 0.92:
        return f"as_array({[dice.random() < 0.5 for _ in range(size)]})"
    return dice.choice(
        ["True", "False", "as_array(1)", "as_array(True)", "[0, 1]", "()", "1.5", "'a'", "as_array(0.5)"]
    )


def program(dice):
    shape = [dice.choice([1, 2, 3, 4]) for _ in range(dice.randint(0, 4))]
    count = 1
    for size in shape:
        count *= size
    reading = dice.choice(["", "", ".mT" if len(shape) > 1 else "", ".flip(0)" if shape else ""])
    parts = [part(dice, dice.choice(shape or [1])) for _ in range(dice.randint(1, len(shape) + 1))]
    index = ", ".join(parts)
    source = PRELUDE.format(count=count, shape=shape, reading=reading)
    # A whole number beside arrays is one of them to numpy, and a truth has a dimension of its own place.
    whole_numbers = any(it.lstrip("-").isdigit() or it == "as_array(1)" for it in parts)
    places = [
        place
        for place, it in enumerate(parts)
        if it.startswith(("as_array", "[", "(")) and it != "as_array(1)"
    ]
    arrays = bool(places)
    # Dots between arrays set them apart for numpy, whether or not they stand for a dimension.
    apart = arrays and "..." in parts[places[0] : places[-1]]
    truths = any(it in ("True", "False", "as_array(True)") for it in parts)
    if not truths and not apart and not (whole_numbers and arrays) and dice.random() < 0.7:
        return source + COMPARED.format(index=index)
    value = dice.choice(
        [
            "1",
            "-1.5",
            "torch.ones(2)",
            "a.detach()",
            "a.detach()[..., :1]",
            "torch.ones(1, 1, 1)",
            "None",
            "1j",
        ]
    )
    return source + WRITTEN.format(index=index.replace("as_array", "torch.tensor"), value=value)
