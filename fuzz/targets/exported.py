"""Recorded programs that were written to bytes, then changed: reading and running them answers or refuses."""

SOURCE = """import struct
from rushlight.compiler.exporting import Exported, export
torch.manual_seed(0)
{setting}
content = bytearray(export(f, ({inputs},)).to_bytes())
content = content if {whole} else content[20:-8]
{change}
if not {whole}:
    # What holds the bytes together is made right again.
    seal = 0xCBF29CE484222325
    for byte in content:
        seal = (seal ^ byte) * 0x100000001B3 % (1 << 64)
    content = b"rushprog" + struct.pack("<IQ", 1, len(content)) + content + struct.pack("<Q", seal)
try:
    loaded = Exported(bytes(content))
    for _ in range(2):
        answer = loaded({inputs})
    repr((answer, loaded.inputs, loaded.state)), loaded.to_bytes()
except (RuntimeError, ValueError, TypeError, MemoryError):
    # Also what a tensor of another shape than the program expects is told.
    pass
"""
STEP = """m = torch.nn.{model}
o = torch.optim.{optimizer}(m.parameters(), lr=0.1)
def f(x):
    o.zero_grad()
    loss = m(x).square().mean()
    loss.backward()
    o.step()
    return loss"""
PURE = """def f(x):
    return {expression}"""
MODELS = [
    "Linear(3, 2)",
    "Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))",
    "Sequential(torch.nn.LayerNorm(3), torch.nn.Linear(3, 2), torch.nn.GELU())",
]
OPTIMIZERS = ["SGD", "Adam", "RMSprop"]
EXPRESSIONS = [
    "(x * 2 + 1).relu().sum()",
    "torch.cat([x, x.flip(0)])[1:3].softmax(-1)",
    "x.t() @ x, x.max(0).values, x.std()",
    "torch.where(x > 0, x, x.roll(1, 0)).cumsum(0).reshape(-1)[::2]",
    "x.gather(0, (x > 0).long()).sort(-1)[0]",
    "torch.nn.functional.conv1d(x[None], torch.ones(1, 4, 2)).exp()",
    "torch.stack([x, x.sin()]).permute(2, 0, 1).contiguous().var(0)",
]
BYTES = """for place, byte in {changed}:
    content[place % len(content)] = byte
"""
CUT = "content = content[: int(len(content) * {share})]\n"
SWAP = """a, b, n = {first} % len(content), {second} % len(content), {length}
content[a : a + n], content[b : b + n] = content[b : b + n], content[a : a + n]
"""


def program(dice):
    if dice.random() < 0.4:
        setting = STEP.format(model=dice.choice(MODELS), optimizer=dice.choice(OPTIMIZERS))
    else:
        setting = PURE.format(expression=dice.choice(EXPRESSIONS))
    interesting = [0, 1, 2, 3, 4, 8, 0x7F, 0x80, 0xFF]
    roll = dice.random()
    if roll < 0.8:
        changed = [
            (
                dice.randrange(1 << 20),
                dice.choice(interesting) if dice.random() < 0.7 else dice.randrange(256),
            )
            for _ in range(dice.choice([1, 1, 1, 2, 4]))
        ]
        change = BYTES.format(changed=changed)
    elif roll < 0.9:
        change = CUT.format(share=dice.random())
    else:
        first, second = dice.randrange(1 << 20), dice.randrange(1 << 20)
        change = SWAP.format(first=first, second=second, length=dice.choice([1, 4, 8, 24]))
    inputs = "torch.linspace(-1, 1, 12).view(4, 3)"
    return SOURCE.format(setting=setting, inputs=inputs, change=change, whole=dice.random() < 0.1)
