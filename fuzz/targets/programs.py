"""Programs of views, writes and hooks, beside the naive engine."""

SHAPES = [(2, 3), (3, 3), (3,), (2, 2), ()]
CHECK = """import naive
def run(leaf, total):
{body}
    return result, [leaf_0, leaf_1]
naive.TAPE.clear()
y, xs = run(naive.leaf, lambda a: a.sum())
expected = naive.gradients(y, xs)
result, leaves = run(lambda numbers: torch.tensor(numbers, dtype=torch.float64, requires_grad=True), lambda a: a.sum())
try:
    result.backward()
except RuntimeError as error:
    if 'modified by an inplace operation' not in str(error):
        raise Wrong(str(error))
else:
    if abs(result.item() - naive.value(y.places[()])) > 1e-9 * max(1, abs(result.item())):
        raise Wrong('the value is another')
    for x, gradient in zip(leaves, expected):
        got = torch.zeros(x.shape, dtype=torch.float64) if x.grad is None else x.grad
        if not torch.allclose(got, torch.tensor(gradient, dtype=torch.float64), rtol=1e-7, atol=1e-9):
            raise Wrong(f'{{got.tolist()}} is not {{gradient}}')
"""


class Writer:
    """The lines of a program, and what each name has: a shape, whether it may be written to, its memory."""

    def __init__(self, dice):
        self.dice, self.lines, self.names = dice, [], {}
        for place, shape in enumerate(dice.sample(SHAPES[:4], 2)):
            self.lines.append(f"leaf_{place} = leaf({self.numbers(shape)})")
            self.names[f"leaf_{place}"] = (shape, False, place)

    def numbers(self, shape):
        if not shape:
            return round(self.dice.uniform(-1, 1), 3)
        return [self.numbers(shape[1:]) for _ in range(shape[0])]

    def pick(self, writable=False):
        names = [name for name, (_, may, _) in self.names.items() if may or not writable]
        return self.dice.choice(names[-8:]) if names else None

    def fitting(self, shape, but=()):
        """Something that broadcasts to a shape, or a number."""
        names = [
            name
            for name, (other, _, memory) in self.names.items()
            if shape[len(shape) - len(other) :] == other and memory not in but
        ]
        return self.dice.choice([*names, str(round(self.dice.uniform(-1, 1), 3))])

    def fresh(self, source, shape, writable=True, memory=None):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {source}")
        self.names[name] = (shape, writable, len(self.lines) + 10 if memory is None else memory)

    def step(self):
        roll, x = self.dice.random(), self.pick()
        shape, writable, memory = self.names[x]
        if roll < 0.2:
            self.fresh(f"{x} {self.dice.choice('*+-')} {self.fitting(shape)}", shape)
        elif roll < 0.32:
            self.fresh(f"{x}.{self.dice.choice(['sin', 'tanh', 'clone'])}()", shape)
        elif roll < 0.36 and shape:
            self.fresh(f"{x}.sum({len(shape) - 1})", shape[:-1])
        elif roll < 0.6:
            self.view(x, shape, writable, memory)
        elif roll < 0.9:
            self.write()
        elif x.startswith("leaf"):
            # A hook on what was written to sees only what passes by the newest history, unlike the naive engine's.
            self.lines.append(f"{x}.register_hook(lambda g: g * {round(self.dice.uniform(-2, 2), 2)})")

    def view(self, x, shape, writable, memory):
        views = [(f"{x}.unsqueeze(0)", (1, *shape))]
        if shape:
            views += [
                (f"{x}[{self.dice.randrange(shape[0])}]", shape[1:]),
                (f"{x}[1:]", (shape[0] - 1, *shape[1:])),
            ]
            views.append((f"{x}[::2]", ((shape[0] + 1) // 2, *shape[1:])))
        if len(shape) == 2:
            views += [(f"{x}.transpose(0, 1)", shape[::-1]), (f"{x}.diagonal()", (min(shape),))]
        source, other = self.dice.choice(views)
        if 0 not in other and len(other) < 4:
            # Hooks of views see what passes by this view alone, which the naive engine does not tell apart.
            self.fresh(source, other, "view" if writable else False, memory)

    def write(self):
        x = self.pick(writable=True)
        if x is None:
            return
        shape, _, memory = self.names[x]
        roll = self.dice.random()
        other = self.fitting(shape, {memory})
        if roll < 0.3:
            self.lines.append(f"{x}.mul_({other})")
        elif roll < 0.6:
            self.lines.append(f"{x}.add_({other})")
        elif roll < 0.7:
            self.lines.append(f"{x}.sin_()")
        elif roll < 0.85 and other in self.names:
            self.lines.append(f"{x}.copy_({other})")
        elif shape:
            other = self.fitting(shape[1:], {memory})
            self.lines.append(f"{x}[{self.dice.randrange(shape[0])}] = {other}")


def program(dice):
    writer = Writer(dice)
    for _ in range(dice.randint(3, 25)):
        writer.step()
    last = list(writer.names)[-3:]
    writer.lines.append("result = " + " + ".join(f"total({name})" for name in last))
    return CHECK.format(body="\n".join(f"    {line}" for line in writer.lines))
