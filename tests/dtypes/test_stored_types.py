"""Types that are stored and calculated with in wider ones: unsigned integers of more than eight bits, numbers of eight
bits, complex numbers of two halves.
"""

import io
import zlib

import numpy as np
import pytest
import rushlight as torch
from support import raises

FLOAT8 = [
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
]
UNSIGNED = [torch.uint16, torch.uint32, torch.uint64]
ALL = [*UNSIGNED, *FLOAT8, torch.complex32]

# Sums of what torch makes of every half and every short one, and of every code.
RECORDED = [
    (torch.float8_e4m3fn, 1348970412, 3033165624, 2543843593),
    (torch.float8_e4m3fnuz, 1386145094, 319238559, 2131168219),
    (torch.float8_e5m2, 718550330, 2870081587, 2924023091),
    (torch.float8_e5m2fnuz, 893203300, 4116690748, 2216665101),
    (torch.float8_e8m0fnu, 905203682, 261188960, 1447858853),
]


def codes(dtype):
    return torch.arange(256, dtype=torch.uint8).view(dtype)


def every_half():
    return torch.from_numpy(np.arange(65536, dtype=np.uint16).view(np.float16))


def some(dtype):
    return torch.tensor([1.0, 2.0, 4.0, 0.5 if dtype.is_floating_point else 8.0]).to(dtype)


# -- numbers of eight bits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "of_halves", "of_brief", "widened"),
    RECORDED,
    ids=lambda value: str(value) if isinstance(value, torch.dtype) else "",
)
def test_every_half_and_every_code_is_converted_as_recorded(dtype, of_halves, of_brief, widened):
    brief = torch.arange(65536, dtype=torch.int32).to(torch.int16).view(torch.bfloat16)
    for numbers, expected in ((every_half(), of_halves), (brief, of_brief)):
        found = numbers.to(dtype).view(torch.uint8).numpy()
        assert zlib.crc32(found.tobytes()) == expected
        assert (numbers.double().to(dtype).view(torch.uint8).numpy() == found).all()
    wide = codes(dtype).float()
    wide = torch.where(wide.isnan(), torch.full_like(wide, -12345.0), wide)
    assert zlib.crc32(wide.numpy().tobytes()) == widened


@pytest.mark.parametrize("dtype", FLOAT8)
def test_a_number_of_eight_bits_is_itself_again_after_a_wider_type(dtype):
    for wide in (torch.float32, torch.float64, torch.bfloat16):
        again = codes(dtype).to(wide).to(dtype)
        known = ~codes(dtype).float().isnan()
        assert (again.view(torch.uint8) == codes(dtype).view(torch.uint8))[known].all()


def test_what_is_too_large_is_the_greatest_number_or_infinite_or_none():
    numbers = torch.tensor([463.0, 465.0, 1e9, float("inf"), -1e9, float("nan"), -0.0])
    found = [numbers.to(dtype).view(torch.uint8).tolist() for dtype in FLOAT8[:4]]
    assert found == [
        [0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F, 0x80],
        [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
        [0x5F, 0x5F, 0x7C, 0x7C, 0xFC, 0x7F, 0x80],
        [0x63, 0x63, 0x80, 0x80, 0x80, 0x80, 0x00],
    ]


def test_numbers_of_eight_bits_are_printed_and_counted():
    x = torch.tensor([1.0, 2.5, 0.1, 100.0])
    assert repr(x.to(torch.float8_e4m3fn)) == (
        "tensor([ 1.0000,  2.5000,  0.1016, 96.0000], dtype=torch.float8_e4m3fn)"
    )
    assert repr(x.to(torch.float8_e5m2)) == (
        "tensor([1.0000e+00, 2.5000e+00, 9.3750e-02, 9.6000e+01],\n       dtype=torch.float8_e5m2)"
    )
    assert x.to(torch.float8_e8m0fnu).tolist() == [1.0, 2.0, 0.125, 128.0]
    assert torch.float8_e4m3fn.abbr == "f8e4m3fn" and not torch.float8_e8m0fnu.is_signed
    with raises(TypeError, "Got unsupported ScalarType Float8_e5m2"):
        x.to(torch.float8_e5m2).numpy()


def test_products_of_numbers_of_eight_bits_are_rounded():
    x = torch.tensor([1.0, 2.5, 0.1, 100.0]).to(torch.float8_e4m3fn)
    assert (x * x).float().tolist() == [1.0, 6.0, 0.009765625, 448.0]
    assert (x == x).all() and x.abs().dtype == torch.float8_e4m3fn
    assert x.sum(dtype=torch.float32).item() == pytest.approx(99.6016, rel=1e-5)
    with raises(
        RuntimeError,
        "Promotion for Float8 Types is not supported, attempted to promote Float8_e4m3fn and Float",
    ):
        x + torch.ones(4)


# -- unsigned integers ---------------------------------------------------------------------------------------


def test_unsigned_integers_are_what_numpy_has():
    for dtype in UNSIGNED:
        name = str(dtype).removeprefix("torch.")
        array = np.array([0, 1, np.iinfo(name).max], dtype=name)
        x = torch.from_numpy(array)
        assert x.dtype == dtype and x.tolist() == array.tolist()
        assert (x.numpy() == array).all() and x.numpy().dtype == name
        assert torch.tensor(array.tolist(), dtype=dtype).equal(x)
        assert x[2].item() == np.iinfo(name).max == torch.iinfo(dtype).max
        assert x.double().tolist() == array.astype("float64").tolist()
        assert x.float().tolist() == array.astype("float32").tolist()
        assert x.long().tolist() == array.astype("int64").tolist()
        assert repr(x).endswith(f"dtype=torch.{name})")


def test_numbers_become_unsigned_as_processors_do_it():
    assert torch.tensor([-1.5, 3e9, 1e19]).to(torch.uint64).tolist() == [
        2**64 - 1,
        3000000000,
        9999999980506447872,
    ]
    assert torch.tensor([-1, 70000]).to(torch.uint16).tolist() == [65535, 4464]
    assert torch.tensor([-1.5, 3e9]).to(torch.uint32).tolist() == [2**32 - 1, 3000000000]


@pytest.mark.own  # torch has no sums of them, nor orders
@pytest.mark.parametrize("dtype", UNSIGNED)
def test_operations_of_unsigned_integers_wrap_and_keep_their_type(dtype):
    name = str(dtype).removeprefix("torch.")
    a, b = np.array([1, 2, 250], dtype=name), np.array([3, 1, 7], dtype=name)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    for found, expected in (
        (x * y, a * b),
        (x & y, a & b),
        (x | y, a | b),
        (x ^ y, a ^ b),
        (x + y, a + b),
        (x - y, a - b),
        (x + 1, a + np.array(1, dtype=name)),
        (x[torch.tensor([2, 0])], a[[2, 0]]),
        (x[x == 2], a[a == 2]),
        (torch.where(x > y, x, y), np.where(a > b, a, b)),
        (torch.cat([x, y]), np.concatenate([a, b])),
        (x.sort()[0], np.sort(a)),
        (x.unique(), np.unique(a)),
        (x.max(), a.max()),
        (x.flip(0), a[::-1]),
    ):
        assert found.dtype == dtype
        assert found.tolist() == expected.tolist()
    assert (x / y).tolist() == (torch.tensor([1.0, 2.0, 250.0]) / torch.tensor([3.0, 1.0, 7.0])).tolist()
    assert x.sum().dtype == torch.int64 and x.sum().item() == 253 and x.prod().item() == 500
    assert (x + 1.5).dtype == torch.float32 and x.exp().dtype == torch.float32
    assert x.cumsum(0).tolist() == [1, 3, 253] and x.any().item() and x.ne(y).all().item()


@pytest.mark.own  # torch neither compares nor adds them
def test_integers_that_only_uint64_holds_are_told_apart():
    x = torch.tensor([2**64 - 1, 5, 2**63], dtype=torch.uint64)
    array = np.array([2**64 - 1, 5, 2**63], dtype=np.uint64)
    for found, expected in (
        (x + 3, array + np.uint64(3)),
        (torch.maximum(x, x.flip(0)), np.maximum(array, array[::-1])),
        (torch.minimum(x, x.roll(1)), np.minimum(array, np.roll(array, 1))),
        (x.argmax(), array.argmax()),
        (x.sort()[1], array.argsort()),
        (x.nonzero().squeeze(1), array.nonzero()[0]),
        (torch.nn.functional.pad(x, (1, 0)), np.pad(array, (1, 0))),
        (x.repeat(2), np.tile(array, 2)),
    ):
        assert found.tolist() == expected.tolist()
    with raises(NotImplementedError, "\"remainder_cpu\" not implemented for 'UInt64'"):
        x % 3


@pytest.mark.own  # torch has no orders of them
def test_integers_that_only_uint64_holds_are_compared_and_ordered():
    x = torch.tensor([2**64 - 1, 5, 2**63], dtype=torch.uint64)
    assert (x > 7).tolist() == [True, False, True]
    assert (x == 2**63).tolist() == [False, False, True]
    assert x.unique().tolist() == [5, 2**63, 2**64 - 1] and x.max().item() == 2**64 - 1
    assert torch.full((1,), 2**64 - 1, dtype=torch.uint64).item() == 2**64 - 1
    assert (
        repr(x)
        == "tensor([18446744073709551615,                    5,  9223372036854775808],\n       dtype=torch.uint64)"
    )


def test_integers_that_do_not_fit_are_refused():
    with raises(RuntimeError, "value cannot be converted to type uint16 without overflow"):
        torch.tensor(70000, dtype=torch.uint16)
    with raises(RuntimeError, "value cannot be converted to type uint16_t without overflow"):
        torch.full((2,), 70000, dtype=torch.uint16)
    with raises(OverflowError, "int too big to convert"):
        torch.tensor(2**64, dtype=torch.uint64)
    assert torch.tensor(-1, dtype=torch.uint16).item() == 65535


@pytest.mark.own  # torch refuses, though there is a type that holds both
def test_unsigned_integers_are_promoted_to_what_holds_both():
    assert torch.promote_types(torch.uint16, torch.int16) == torch.int32
    assert torch.promote_types(torch.uint32, torch.uint8) == torch.uint32
    assert (torch.tensor([3], dtype=torch.uint32) + torch.tensor([-5])).tolist() == [-2]
    with raises(
        RuntimeError,
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt64 and Long",
    ):
        torch.ones(2, dtype=torch.uint64) + torch.ones(2, dtype=torch.int64)


# -- complex numbers of two halves ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_complex_numbers_of_two_halves():
    z = torch.tensor([1.5 + 2j, -3.0]).to(torch.complex32)
    assert z.dtype == torch.complex32 and z.tolist() == [1.5 + 2j, -3.0]
    assert repr(z) == "tensor([ 1.5000+2.j, -3.0000+0.j], dtype=torch.complex32)"
    assert z.real.dtype == torch.float16 and z.imag.tolist() == [2.0, 0.0]
    assert z.conj().tolist() == [1.5 - 2j, -3.0] and z.abs().dtype == torch.float16
    assert (z * z).dtype == torch.complex32 and (z * z).tolist() == [-1.75 + 6j, 9.0]
    assert (z + torch.ones(2)).dtype == torch.complex64
    assert torch.half.to_complex() == torch.complex32 and torch.complex32.to_real() == torch.half
    assert torch.complex(torch.ones(1).half(), torch.ones(1).half()).dtype == torch.complex32
    assert torch.view_as_complex(torch.ones(1, 2).half()).tolist() == [1 + 1j]
    assert torch.ones(2).chalf().dtype == torch.chalf


# -- all of them ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL)
def test_stored_elements_are_moved_saved_and_made(dtype):
    x = some(dtype)
    expected = x.tolist()
    for moved in (
        x.clone(),
        x.view(2, 2).t().contiguous().t().reshape(4),
        torch.stack([x, x])[1],
        x.expand(2, 4)[0],
        torch.where(torch.ones(4, dtype=torch.bool), x, x),
    ):
        assert moved.dtype == dtype and moved.tolist() == expected
    assert torch.zeros(2, dtype=dtype).dtype == torch.ones_like(x).dtype == dtype
    assert torch.full((2,), 2, dtype=dtype).tolist() == [2, 2]
    x[0] = 4.0
    assert x.tolist()[0] == 4 and x.fill_(2).tolist() == [2] * 4
    file = io.BytesIO()
    torch.save({"x": x, "dtype": dtype}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["dtype"] is dtype and loaded["x"].dtype == dtype
    assert loaded["x"].tolist() == x.tolist()
    assert torch.from_dlpack(x.__dlpack__()).dtype == dtype
    assert x.view(torch.uint8).numel() == 4 * dtype.itemsize


@pytest.mark.parametrize("dtype", [*FLOAT8, torch.complex32])
def test_a_conversion_to_a_stored_type_has_a_gradient(dtype):
    x = torch.ones(2, requires_grad=True)
    x.to(dtype).to(torch.complex64 if dtype.is_complex else torch.float32).abs().sum().backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [1, 1]


def test_limits_of_stored_types():
    rows = [(torch.finfo(dtype).max, torch.finfo(dtype).eps, torch.finfo(dtype).tiny) for dtype in FLOAT8]
    assert rows == [
        (448.0, 0.125, 2.0**-6),
        (240.0, 0.125, 2.0**-7),
        (57344.0, 0.25, 2.0**-14),
        (57344.0, 0.125, 2.0**-15),
        (2.0**127, 1.0, 2.0**-127),
    ]
    assert [torch.iinfo(dtype).max for dtype in UNSIGNED] == [2**16 - 1, 2**32 - 1, 2**64 - 1]
    assert repr(torch.iinfo(torch.uint64)) == "iinfo(min=0, max=1.84467e+19, dtype=uint64)"
    assert repr(torch.finfo(torch.float8_e8m0fnu)) == (
        "finfo(resolution=1, min=5.87747e-39, max=1.70141e+38, eps=1, smallest_normal=5.87747e-39, "
        "tiny=5.87747e-39, dtype=float8_e8m0fnu)"
    )
