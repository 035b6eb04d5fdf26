"""Equations of einsum, right and wrong, compared with numpy where both take them."""

SOURCE = """import numpy
operands = [torch.arange(1.0, 1 + {counts}[i], dtype=torch.float64).reshape(s) for i, s in enumerate({shapes})]
try:
    expected = numpy.einsum({equation!r}, *[o.numpy() for o in operands])
except (ValueError, TypeError, IndexError):
    expected = None
result = torch.einsum({equation!r}, *[o.requires_grad_() for o in operands])
if expected is not None and {plain}:
    if result.shape != expected.shape or not numpy.allclose(result.detach().numpy(), expected):
        raise Wrong("numpy has another answer")
result.sum().backward()
"""


def product(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def program(dice):
    letters = dice.sample("abcdeXY", dice.randint(1, 4))
    sizes = {letter: dice.choice([0, 1, 2, 3, 3]) for letter in letters}
    terms, shapes, dots = [], [], dice.random() < 0.2
    for _ in range(dice.randint(1, 4)):
        term = [dice.choice(letters) for _ in range(dice.randint(0, 3))]
        shape = [sizes[letter] if dice.random() < 0.98 else 1 for letter in term]
        if dots and dice.random() < 0.7:
            place = dice.randint(0, len(term))
            term.insert(place, "...")
            shape[place:place] = [dice.choice([1, 2]) for _ in range(dice.randint(0, 2))]
        terms.append("".join(term))
        shapes.append(shape)
    used = sorted({letter for term in terms for letter in term if letter.isalpha()})
    equation = ",".join(terms)
    if dice.random() < 0.8:
        equation += "->" + ("..." if dots else "") + "".join(dice.sample(used, dice.randint(0, len(used))))
    plain = True
    if dice.random() < 0.25:
        # Broken, one way or the other; numpy is more patient with some of these.
        plain = False
        place = dice.randint(0, len(equation))
        equation = (
            equation[:place]
            + dice.choice([".", "..", "...", "->", ",", " ", "-", "é", "0", "a", "", "\0"])
            + equation[place + 1 :]
        )
    return SOURCE.format(counts=[product(s) for s in shapes], shapes=shapes, equation=equation, plain=plain)
