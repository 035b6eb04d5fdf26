"""What other libraries hand over: capsules, buffers and array interfaces that lie where a lie can be told.

Addresses in capsules are true: what is said to lie where nothing lies can be found out by nobody but the processor.
"""

CAPSULE = """import ctypes
class Tensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device', ctypes.c_int32), ('number', ctypes.c_int32),
                ('ndim', ctypes.c_int32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8),
                ('lanes', ctypes.c_uint16), ('shape', ctypes.c_void_p), ('strides', ctypes.c_void_p),
                ('offset', ctypes.c_uint64), ('context', ctypes.c_void_p), ('deleter', ctypes.c_void_p)]
memory = ctypes.create_string_buffer(4096)
shape = (ctypes.c_int64 * 80)(*{shape})
strides = (ctypes.c_int64 * 80)(*{strides})
inside = ctypes.addressof(memory) + 2048
lie = Tensor(inside if {data} else 0, {device}, 0, {ndim}, {code}, {bits}, {lanes},
             ctypes.addressof(shape) if {has_shape} else 0, ctypes.addressof(strides) if {has_strides} else 0, {offset}, 0, 0)
for kept in (memory, shape, strides, lie):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
make = ctypes.pythonapi.PyCapsule_New
make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
name = {name}
capsule = make(ctypes.addressof(lie), name, None)
class Producer:
    def __dlpack__(self, **options):
        return {answer}
    def __dlpack_device__(self):
        return {place}
result = torch.from_dlpack({given})
if 0 < result.numel() < 100:
    repr(result)
    result.sum()
"""
BUFFER = """import array, ctypes
memory = bytearray(range(64))
{setup}
result = {call}
repr(result)
result.sum() if hasattr(result, 'sum') else None
"""
SETUPS = [
    "given = memoryview(memory).cast({format!r})",
    "given = memoryview(memory).cast({format!r})[::{step}]",
    "given = array.array({letter!r}, [1, 2, 3])",
    "given = (ctypes.c_{ctype} * 3)(1, 2, 3)",
    "given = memory[:{few}]",
    "import numpy; given = numpy.arange(6).astype({numpy!r})",
    "import numpy; given = numpy.arange(6.).reshape(2, 3)[::-1, ::{step}]",
    "import numpy; given = numpy.zeros(4, dtype=[('a', 'i4'), ('b', 'f4')])",
    "import numpy; given = numpy.lib.stride_tricks.as_strided(numpy.ones(8), (3, 2), ({step} * 4, 8))",
    "class Given:\n    __array_interface__ = {{'shape': {shape}, 'typestr': {typestr!r}, 'version': 3, 'data': {data}}}\ngiven = Given()",
    "class Given:\n    def __array__(self, *a, **k):\n        return {junk}\ngiven = Given()",
    "class Given(list):\n    def __len__(self):\n        return {junk}\ngiven = Given([1, 2])",
    "class Given:\n    def __len__(self):\n        return {many}\n    def __getitem__(self, i):\n        return {junk}\ngiven = Given()",
    "class Given(list):\n    def __getitem__(self, i):\n        self.clear()\n        return {junk}\ngiven = Given([[1, 2], [3, 4]])",
    "class Given:\n    def __float__(self):\n        inner.clear()\n        return 1.0\ninner = [[Given(), 2.0], [3.0, 4.0]]\ngiven = inner",
]
CALLS = [
    "torch.tensor(given)",
    "torch.as_tensor(given)",
    "torch.from_numpy(given)",
    "torch.asarray(given)",
    "torch.asarray(given, copy=False)",
    "torch.frombuffer(given, dtype={dtype}, count={count}, offset={offset})",
    "torch.frombuffer(given, dtype={dtype})",
    "torch.Tensor(given)",
    "torch.LongTensor(given)",
    "torch.ones(3).new_tensor(given)",
    "torch.UntypedStorage(given)",
    "torch.ones(2)[given]",
    "torch.ones(given)",
    "torch.ones(6).view(given)",
]
SIZES = [0, 1, 2, 3, -1, 2**31, 2**62, -(2**63), 2**63 - 1]


def capsule(dice):
    def sometimes(usual, others, chance=0.15):
        return dice.choice(others) if dice.random() < chance else usual

    return CAPSULE.format(
        shape=[sometimes(2, [0, 1, 3, 4, -1, -(2**63)]) for _ in range(4)],
        strides=[sometimes(stride, [0, 1, 2, 3, -1, -4, 16]) for stride in (8, 4, 2, 1)],
        data=True,
        device=sometimes(1, [0, 2, -1, 13, 2**31 - 1]),
        ndim=sometimes(dice.randint(0, 4), [-1, 65, 80, -(2**31)]),
        code=sometimes(2, [0, 1, 2, 3, 4, 5, 6, 7, 200], 0.4),
        bits=sometimes(32, [0, 1, 4, 8, 16, 64, 128, 255], 0.4),
        lanes=sometimes(1, [0, 2, 65535]),
        has_shape=True,
        has_strides=dice.random() < 0.7,
        offset=sometimes(0, [1, 4, 16, 1024]),
        name=sometimes("b'dltensor'", ["b'used_dltensor'", "b'dltensor_versioned'", "b'x'", "None"], 0.1)
        if dice.random() < 0.9
        else "b'used_dltensor'",
        answer=sometimes("capsule", ["None", "1", "self", "object()", "1/0", "torch.ones(2)"]),
        place=sometimes("(1, 0)", ["None", "(2, 0)", "(1,)", "1", "('a', None)", "(2**70, 0)", "1/0"]),
        given=dice.choice(["capsule", "Producer()", "Producer()"]),
    ).replace("b'dltensor_versioned'", "b'x'")


def program(dice):
    if dice.random() < 0.5:
        return capsule(dice)
    junk = dice.choice(
        ["1", "-1", "2**62", "'a'", "None", "1/0", "self", "[1, 2]", "1.5", "torch.ones(2)", "[[1], [2, 3]]"]
    )
    setup = dice.choice(SETUPS).format(
        format=dice.choice("bBhHiIlLqQfdc?eNn"),
        step=dice.choice([1, 2, -1, 3]),
        letter=dice.choice("bBhHiIlLqQfd"),
        ctype=dice.choice("int float double char bool int64 uint16 longdouble".split()),
        few=dice.choice([0, 1, 3, 7, 64]),
        numpy=dice.choice("f2 f4 f8 i1 u2 u8 i8 c8 c16 ? S3 U2 O M8[s] f16 >f4 >i8".split()),
        shape=dice.choice(["(2,)", "()", "(-1,)", "(2**62, 4)", "'a'", "(0, 3)", "None"]),
        typestr=dice.choice(["<f4", "|V8", "<i8", ">f4", "zz", "|O"]),
        data=dice.choice(["(0, False)", "None", "b'12345678'", "(1, 2, 3)", "'a'"]),
        junk=junk,
        many=dice.choice(["3", "0", "2**62", "-1", "2**70", "1/0", "'a'"]),
    )
    call = dice.choice(CALLS).format(
        dtype=dice.choice(
            "torch.float32 torch.uint8 torch.int64 torch.complex128 torch.bool torch.float16 None".split()
        ),
        count=dice.choice([-1, 0, 1, 2, 2**62, -2, 2**63 - 1]),
        offset=dice.choice([0, 1, 4, 63, 64, 65, -1, 2**62]),
    )
    return BUFFER.format(setup=setup, call=call)
