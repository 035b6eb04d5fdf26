"""Files that were saved, then changed: `load` answers or refuses, with the classes that programs expect."""

SOURCE = """import io, pickle, struct, zipfile
values = {values}
file = io.BytesIO()
torch.save(values, file, _use_new_zipfile_serialization={zipped})
content = bytearray(file.getvalue())
{change}
try:
    loaded = torch.load(io.BytesIO(bytes(content)), weights_only=True{more})
except (RuntimeError, ValueError, TypeError, OSError, EOFError, pickle.UnpicklingError):
    loaded = None
except (LookupError, AttributeError, AssertionError, struct.error):
    # What the reference library tells, too, of programs for its unpickler that make no sense.
    loaded = None
except Exception as error:
    raise Wrong(f"{{type(error).__name__}}: {{error}}")
if loaded is not None:
    repr(loaded)
"""
VALUES = [
    "torch.arange(6.)",
    "{'a': torch.ones(2, 3).t(), 'b': [1, 2.5, 'x', None, True]}",
    "torch.nn.Linear(2, 2).state_dict()",
    "[torch.ones(3)[1:], torch.zeros(0), torch.tensor(1j)]",
    "torch.nn.Parameter(torch.ones(2))",
    "{'n': 2**70, 't': torch.tensor([1, 2], dtype=torch.int8), 's': torch.Size([2])}",
]
# Bytes of the file as it is, and of one of its records, with the archive made right again.
RAW = """for place, byte in {bytes}:
    content[place % len(content)] = byte
"""
CUT = "content = content[: int(len(content) * {share})]\n"
INSIDE = """if {zipped}:
    inside = zipfile.ZipFile(io.BytesIO(bytes(content)))
    made = io.BytesIO()
    with zipfile.ZipFile(made, 'w') as archive:
        for entry in inside.infolist():
            record = bytearray(inside.read(entry))
            if entry.filename.endswith({name!r}) and record:
                for place, byte in {bytes}:
                    record[place % len(record)] = byte
                record = record[: {length}]
            if {keeps} or not entry.filename.endswith({name!r}):
                archive.writestr(entry.filename, bytes(record))
    content = bytearray(made.getvalue())
"""


def program(dice):
    zipped = dice.random() < 0.75
    interesting = [0, 1, 0x28, 0x2E, 0x52, 0x51, 0x4B, 0x80, 0x8A, 0xFF, 0x7F]
    changed = [
        (dice.randrange(1 << 20), dice.choice(interesting) if dice.random() < 0.5 else dice.randrange(256))
        for _ in range(dice.choice([1, 1, 2, 4]))
    ]
    roll = dice.random()
    if roll < 0.3:
        change = RAW.format(bytes=changed)
    elif roll < 0.4:
        change = CUT.format(share=dice.random())
    else:
        name = dice.choice(
            ["data.pkl", "data.pkl", "data.pkl", "byteorder", "version", "data/0", ".data/serialization_id"]
        )
        length = dice.choice([1 << 30, 1 << 30, 1 << 30, 3, 20])
        change = INSIDE.format(
            zipped=zipped, name=name, bytes=changed, length=length, keeps=dice.random() < 0.95
        )
    more = dice.choice(["", "", ", mmap=False", ", map_location='cpu'", ", map_location=lambda s, l: s"])
    return SOURCE.format(values=dice.choice(VALUES), zipped=zipped, change=change, more=more)
