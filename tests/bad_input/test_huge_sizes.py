"""Sizes that no memory has are refused with an error, whatever they are the sizes of."""

import pytest
import rushlight as torch

F = torch.nn.functional
HUGE = 1 << 45
X, IMAGE, ZERO = torch.ones(3, 4), torch.ones(1, 2, 4, 4), torch.zeros(1, dtype=torch.int64)
ONE, YES, TALL = torch.ones(1), torch.ones(1, dtype=torch.bool), torch.ones(1 << 21, 2)
WIDE = [1 << 20, 1 << 20]


def enlarged(mode, **options):
    return lambda: F.interpolate(IMAGE, size=WIDE, mode=mode, **options)


def packed(length, places=1):
    steps = torch.ones(1, 1, 1).expand(places, 1, 1)
    return torch.nn.utils.rnn.pack_padded_sequence(steps, torch.tensor([length]))


def printed(**options):
    torch.set_printoptions(**options)
    return repr(ONE.expand(HUGE))


CALLS = {
    "linspace": lambda: torch.linspace(0, 1, HUGE),
    "linspace of tensors": lambda: torch.linspace(torch.tensor(0.0), torch.tensor(1.0), HUGE),
    "complex linspace": lambda: torch.linspace(0, 1j, HUGE),
    "logspace": lambda: torch.logspace(0, 1, HUGE),
    "histogram": lambda: torch.histogram(X, HUGE),
    "repeat_interleave": lambda: torch.repeat_interleave(X, torch.tensor([HUGE, 1, 1]), 0),
    "repeated numbers": lambda: torch.repeat_interleave(torch.tensor([HUGE, 1])),
    "interpolate": lambda: F.interpolate(IMAGE, size=(HUGE, 3)),
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(IMAGE, (HUGE, 2)),
    "affine_grid": lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, HUGE, 2), align_corners=False),
    "index": lambda: X[ZERO.expand(HUGE)],
    "index_select": lambda: X.index_select(0, ZERO.expand(HUGE)),
    "take": lambda: torch.take(X, ZERO.expand(HUGE)),
    "sort": lambda: torch.zeros(1).expand(HUGE).sort(),
    "cumsum": lambda: torch.zeros(1).expand(HUGE).cumsum(0),
    "nearest": enlarged("nearest"),
    "nearest-exact": enlarged("nearest-exact"),
    "bilinear": enlarged("bilinear"),
    "bicubic": enlarged("bicubic"),
    "area": enlarged("area"),
    "smooth lines": enlarged("bilinear", antialias=True),
    "smooth curves": enlarged("bicubic", antialias=True),
    "linear": lambda: F.interpolate(ONE.view(1, 1, 1), size=HUGE, mode="linear"),
    "trilinear": lambda: F.interpolate(IMAGE[None], size=[1 << 15] * 3, mode="trilinear"),
    "adaptive_avg_pool1d": lambda: F.adaptive_avg_pool1d(X, HUGE),
    "adaptive_avg_pool2d both ways": lambda: F.adaptive_avg_pool2d(IMAGE, 10**7),
    "adaptive_avg_pool3d": lambda: F.adaptive_avg_pool3d(IMAGE, 10**5),
    "svd": lambda: torch.linalg.svd(TALL, full_matrices=True),
    "qr": lambda: torch.linalg.qr(TALL, mode="complete"),
    "gather": lambda: X.gather(0, ZERO.expand(HUGE, 4)),
    "gather of what is repeated": lambda: ONE.expand(HUGE).gather(0, ZERO.expand(HUGE)),
    "masked_select": lambda: ONE.expand(HUGE).masked_select(YES),
    "masked_select by what is repeated": lambda: ONE.masked_select(YES.expand(HUGE)),
    "pack_padded_sequence": lambda: packed(HUGE, HUGE),
    "pack_padded_sequence of more than there is": lambda: packed(HUGE),
    "combinations": lambda: torch.combinations(torch.arange(1 << 21), 2),
    "conjugates": lambda: torch.tensor([1j]).conj().repeat_interleave(HUGE),
    "windows of conjugates": lambda: TALL.view(-1).to(torch.complex64).conj().unfold(0, 1 << 21, 1) + 1,
    "all elements as text": lambda: printed(threshold=1 << 60),
    "edges as text": lambda: printed(edgeitems=1 << 60),
}


@pytest.mark.parametrize("name", CALLS)
def test_they_are_refused_as_memory_that_is_not_there(name):
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        CALLS[name]()


# torch goes through the elements without making room for them, or begins to.
@pytest.mark.own
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x[torch.tensor([0])],
        lambda x: x.topk(3),
        lambda x: x.tolist(),
        lambda x: torch.empty(HUGE, 0).unbind(),
        lambda x: torch.empty(HUGE, 0).split(1),
        lambda x: ONE.expand(HUGE).nonzero(),
        lambda x: x[YES.expand(HUGE)],
        lambda x: torch.zeros(3).scatter_add_(0, ZERO.expand(HUGE), x),
        lambda x: torch.zeros(3).index_add_(0, ZERO.expand(HUGE), x),
        lambda x: torch.combinations(torch.arange(10), 100, with_replacement=True),
    ],
)
def test_so_is_what_has_to_be_copied_or_listed(call):
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        call(torch.zeros(1).expand(HUGE))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.linalg.lu(x),
        lambda x: torch.linalg.svd(x),
        lambda x: torch.linalg.qr(x, mode="complete"),
        lambda x: torch.lu_unpack(*torch.linalg.lu_factor(x)),
    ],
)
def test_squares_that_nobody_can_count_are_refused(call):
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed with sizes="):
        call(torch.empty(HUGE, 0))


def test_more_choices_than_there_are_numbers_are_refused():
    with pytest.raises(RuntimeError, match=r"^numel: integer multiplication overflow$"):
        torch.combinations(torch.arange(1000), 500)
    with pytest.raises(RuntimeError, match=r"^numel: integer multiplication overflow$"):
        torch.combinations(torch.ones(3, requires_grad=True), 100, with_replacement=True)


@pytest.mark.own  # torch makes a grid of all choices first, and fails
def test_there_may_be_no_choice_of_so_many():
    assert torch.combinations(torch.arange(10), HUGE).shape == (0, HUGE)


@pytest.mark.own  # torch goes through all of the elements
def test_nothing_is_found_among_however_many():
    assert torch.zeros(1).expand(HUGE).nonzero().shape == (0, 1)


def test_matrices_without_elements_are_factored_however_high_they_are():
    lu, pivots = torch.linalg.lu_factor(torch.empty(HUGE, 0))
    assert (lu.shape, pivots.shape, pivots.dtype) == ((HUGE, 0), (0,), torch.int32)
    lu, pivots, info = torch.linalg.lu_factor_ex(torch.empty(2, 0, HUGE))
    assert (lu.shape, pivots.shape, info.tolist()) == ((2, 0, HUGE), (2, 0), [0, 0])


def test_more_digits_than_any_number_has_are_refused():
    torch.set_printoptions(precision=1 << 40)
    with pytest.raises(ValueError, match=r"^precision too big$"):
        repr(torch.tensor([0.5]))


@pytest.mark.parametrize(
    ("shape", "dim", "words"),
    [
        ((0, 3), 1, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"),
        ((2, 0, 3), 0, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"),
        ((0, 0), 0, "Number of zero sized dimensions is more than one, so unique cannot be applied "),
    ],
)
def test_slices_of_nothing_are_not_told_apart(shape, dim, words):
    with pytest.raises(RuntimeError, match=f"^{words}$"):
        torch.empty(shape).unique(dim=dim)


def test_there_may_be_no_slices_at_all():
    assert torch.empty(0, 3).unique(dim=0).shape == (0, 3)


# The largest number that there is, and those nearby.
MOST = 2**63 - 1
LINE = torch.ones(1, 1, 3)
OVERFLOWS = r"Storage size calculation overflowed with sizes="
NO_INT = r"value cannot be converted to type int without overflow$"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: F.pad(LINE, (0, MOST)),
            r"The input size 3, plus negative padding 0 and 9223372036854775807 res",
        ),
        (lambda: F.pad(IMAGE, (2, 2**62)), OVERFLOWS + r"\[1, 2, 4, 4611686018427387910\]$"),
        (
            lambda: F.conv1d(LINE, LINE, padding=2**62),
            r"Given padding=4611686018427387904 at dimension 0 , expe",
        ),
        (lambda: F.avg_pool1d(LINE, 2, 1, 2**31), NO_INT),
        (lambda: F.avg_pool2d(IMAGE, MOST), NO_INT),
        (lambda: F.max_pool2d(IMAGE, -MOST - 1, MOST, MOST), NO_INT),
        (lambda: F.max_pool3d(torch.ones(1, 1, 3, 3, 3), 2, 1, 0, 2**40), NO_INT),
        (
            lambda: torch.fft.fftn(torch.ones(2, 3), (2**40, 2**40)),
            OVERFLOWS + r"\[1099511627776, 1099511627776\]$",
        ),
        (lambda: F.local_response_norm(LINE, MOST, 3.0), OVERFLOWS),
    ],
)
def test_numbers_near_the_end_of_numbers_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


# torch makes images of other sizes, loops over nothing, or comes upon its own assertions.
@pytest.mark.own
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: F.pad(LINE, (0, MOST), "replicate"),
            r"is too small. Calculated output size: -9223372036854775808$",
        ),
        (lambda: F.pad(LINE, (0, HUGE), "replicate"), r"can't allocate memory"),
        (lambda: F.conv1d(LINE, LINE, padding=2**62 - 1), OVERFLOWS),
        (
            lambda: F.conv1d(LINE, LINE, dilation=MOST),
            r"Kernel size can't be greater than actual input size$",
        ),
        (lambda: F.conv_transpose1d(LINE, LINE, stride=MOST), OVERFLOWS),
        (lambda: F.max_pool1d(LINE, 2, 1, 0, MOST), NO_INT),
        (lambda: F.unfold(IMAGE, MOST), NO_INT),
        (lambda: F.unfold(IMAGE, 1, 1, 2**31 - 1), OVERFLOWS),
        (lambda: F.unfold(IMAGE, 1, 1, 2**20), r"can't allocate memory"),
        (lambda: torch.mvlgamma(torch.ones(2), MOST), r"can't allocate memory"),
    ],
)
def test_they_are_refused_where_torch_calculates_with_other_numbers(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


def test_numbers_beyond_the_end_are_refused_by_functions_written_in_python():
    with pytest.raises(ValueError, match=r"^Overflow when unpacking long long$"):
        torch.fft.ifft(torch.ones(3), 2**63)
    with pytest.raises(
        ValueError, match=r"^upscale factor is too large, \(upscale_factor\)\^2 overflowed: upsca"
    ):
        F.pixel_shuffle(IMAGE, 2**32)


@pytest.mark.own  # torch cannot add numbers as large as these
def test_numbers_near_the_end_may_be_what_is_meant():
    assert F.pad(torch.ones(3), (MOST, -MOST)).tolist() == [0.0, 0.0, 0.0]
    assert torch.unsafe_chunk(torch.ones(3), MOST)[0].shape == (1,)


# Their product is 2**64 + 1, that of the others a power of two that no number of elements can be. Of each pair one is
# small, and no memory has the other: nothing large is made on the way.
GIANTS = [(274177, 67280421310721), (1 << 24, 1 << 40), (1 << 23, 1 << 40)]
OVERFLOW = "overflow|can't allocate memory"


def line(count):
    return torch.ones(1).expand(count)


PAIRS = [
    *("add", "sub", "mul", "div", "pow", "atan2", "hypot", "fmod", "remainder", "floor_divide", "copysign"),
    *("maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "nextafter"),
    *("ldexp", "xlogy", "logaddexp", "heaviside"),
]
TABLES = {
    **{name: getattr(torch, name) for name in PAIRS},
    "where": lambda x, y: torch.where(ZERO.bool().expand(x.shape), y, 1.0),
    "lerp": lambda x, y: torch.lerp(x, y, 0.5),
    "addcmul": lambda x, y: torch.addcmul(x, y, y),
    "addcdiv": lambda x, y: torch.addcdiv(x, y, y),
    "clamp": lambda x, y: torch.clamp(x, y, y),
    "of truth": lambda x, y: ZERO.bool().expand(x.shape) & ZERO.bool().expand(y.shape),
    "of complex numbers": lambda x, y: x * ZERO.to(torch.complex64).expand(y.shape),
    "complex": torch.complex,
    "of half numbers": lambda x, y: ZERO.half().expand(x.shape) + y,
    "broadcast_tensors": torch.broadcast_tensors,
    "expand": lambda x, y: x.expand(x.shape[0], y.shape[1]),
    "matmul": lambda x, y: x @ y,
    "mse_loss": lambda x, y: F.mse_loss(x, y, reduction="none"),
    "normal": torch.normal,
}
PRODUCTS = {
    "outer": torch.outer,
    "ger": torch.ger,
    "addr": lambda x, y: torch.addr(torch.ones(1), x, y),
    "kron": torch.kron,
    "meshgrid": lambda x, y: torch.meshgrid(x, y, indexing="ij"),
    "tensordot": lambda x, y: torch.tensordot(x, y, 0),
    "einsum": lambda x, y: torch.einsum("i,j->ij", x, y),
    "cartesian_prod": torch.cartesian_prod,
    "cdist": lambda x, y: torch.cdist(x[:, None], y[:, None]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sizes", GIANTS, ids=str)
@pytest.mark.parametrize("name", TABLES)
def test_two_operands_do_not_make_more_elements_than_can_be_counted(name, sizes):
    x, y = line(sizes[0])[:, None], line(sizes[1])[None]
    with pytest.raises(RuntimeError, match=OVERFLOW):
        TABLES[name](x, y)


@pytest.mark.parametrize("sizes", GIANTS, ids=str)
@pytest.mark.parametrize("name", PRODUCTS)
def test_two_lines_do_not_make_a_table_of_more_elements_than_can_be_counted(name, sizes):
    with pytest.raises(RuntimeError, match=OVERFLOW):
        PRODUCTS[name](*map(line, sizes))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: line(1)[:, None].expand(*GIANTS[0]), "numel: integer multiplication overflow"),
        (lambda: line(1 << 40).unfold(0, 1 << 39, 1), "numel: integer multiplication overflow"),
        (lambda: line(1 << 62).repeat_interleave(2), "numel: integer multiplication overflow"),
        (
            lambda: torch.view_as_real(torch.ones(1, dtype=torch.complex64).expand(1 << 31, 1 << 31)),
            "numel: integer multiplication overflow",
        ),
        (
            lambda: line(1 << 32)[:, None] * line(1 << 32),
            "Storage size calculation overflowed with sizes=[4294967296, 4294967296]",
        ),
        (
            lambda: torch.empty(1 << 62),
            "Storage size calculation overflowed with sizes=[4611686018427387904]",
        ),
        (
            lambda: torch.zeros(1 << 31, 0) @ torch.zeros(0, 1 << 33),
            "Storage size calculation overflowed with sizes=[2147483648, 8589934592]",
        ),
        (
            lambda: torch.zeros(1 << 31, 1 << 31, 0).sum(2),
            "Storage size calculation overflowed with sizes=[2147483648, 2147483648]",
        ),
    ],
)
def test_what_overflows_is_said_in_so_many_words(call, words):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value) == words


def test_a_giant_that_can_be_counted_is_a_tensor_like_others():
    x = line(1 << 31)[:, None].expand(1 << 31, 1 << 31)
    assert x.numel() == 1 << 62 and x[5, 7].item() == 1.0 and x.t()[:2, :2].sum().item() == 4.0
    assert line(1 << 62)[:0].shape == (0,)


# torch says that the indices do not fit, or takes sizes beside one of zero as they are.
@pytest.mark.own
@pytest.mark.parametrize("sizes", GIANTS, ids=str)
@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: X[x, y],
        lambda x, y: X.index_put((x, y), X[0, 0]),
        lambda x, y: x[..., None].expand(x.shape[0], y.shape[1], 0),
    ],
)
def test_indices_do_not_name_more_elements_than_can_be_counted(call, sizes):
    with pytest.raises(RuntimeError, match=OVERFLOW):
        call(ZERO.expand(sizes[0])[:, None], ZERO.expand(sizes[1])[None])


FILLS = {
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(3),
    "zeros_": lambda x: torch.nn.init.zeros_(x),
    "constant_": lambda x: torch.nn.init.constant_(x, 3.0),
    "of a list": lambda x: torch._foreach_zero_([x]),
}


@pytest.mark.own  # torch writes the number once for every element
@pytest.mark.parametrize("name", FILLS)
def test_one_number_is_written_once_to_an_element_that_is_shown_for_ever(name):
    number = 0.0 if "zero" in name or name == "of a list" else 3.0
    x = torch.ones(1)
    FILLS[name](x.expand(1 << 40))
    assert x.item() == number
    table = torch.ones(2, 3)
    FILLS[name](table[:, 1:2].expand(2, 1 << 40))
    assert table.tolist() == [[1, number, 1]] * 2
    line = torch.ones(7)
    FILLS[name](line.as_strided((1 << 40, 3), (0, 2)))
    assert line.tolist() == [number, 1, number, 1, number, 1, 1]


@pytest.mark.own
def test_a_part_of_a_complex_number_that_is_shown_for_ever_is_written_once():
    z = torch.ones(1, dtype=torch.complex64) * (1 + 2j)
    z.expand(1 << 40).imag.zero_()
    assert z.item() == 1
    z = torch.ones(1, dtype=torch.complex64) * (1 + 2j)
    z.conj().expand(1 << 40).fill_(3j)
    assert z.item() == -3j
