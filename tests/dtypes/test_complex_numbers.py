"""complex64 and complex128: how they are made, promoted, shown, converted and stored."""

import io
import pickle
import warnings

import numpy as np
import pytest
import rushlight as torch
from support import raises, run_script

NUMBERS = [1 + 2j, 3 - 4j]
PAIR = [torch.complex64, torch.complex128]


def test_the_dtypes_say_what_they_are():
    assert torch.cfloat is torch.complex64 and torch.cdouble is torch.complex128
    for dtype, part, size in [(torch.complex64, torch.float32, 8), (torch.complex128, torch.float64, 16)]:
        assert dtype.is_complex and not dtype.is_floating_point and dtype.is_signed
        assert dtype.itemsize == size and dtype.abbr == f"c{8 * size}"
        assert dtype.to_real() is part and part.to_complex() is dtype
        assert torch.zeros(2, dtype=dtype).is_complex()
        assert torch.is_complex(torch.zeros(2, dtype=dtype))
        assert torch.finfo(dtype).eps == torch.finfo(part).eps
    assert torch.tensor(NUMBERS).type() == "torch.ComplexFloatTensor"
    assert not torch.ones(2).is_complex()


def test_a_python_number_makes_the_complex_type_of_the_default_precision():
    assert torch.tensor(1j).dtype is torch.complex64
    assert torch.tensor([True, 2, 1j]).dtype is torch.complex64
    torch.set_default_dtype(torch.float64)
    assert torch.tensor(1j).dtype is torch.complex128
    assert (torch.ones(2, dtype=torch.int64) * 1j).dtype is torch.complex128


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (torch.complex64, torch.float64, torch.complex128),
        (torch.complex64, torch.int64, torch.complex64),
        (torch.complex64, torch.bool, torch.complex64),
        (torch.complex64, torch.complex128, torch.complex128),
    ],
)
def test_types_are_promoted_by_precision(left, right, expected):
    assert torch.promote_types(left, right) is expected
    assert torch.promote_types(right, left) is expected
    assert (torch.ones(2, dtype=left) + torch.ones(2, dtype=right)).dtype is expected


def test_numbers_and_tensors_without_dimensions_give_the_category_and_not_the_precision():
    single, double = torch.ones(2), torch.ones(2, dtype=torch.float64)
    assert torch.result_type(single, 1j) is torch.complex64
    assert torch.result_type(double, 1j) is torch.complex128
    assert torch.result_type(double, torch.tensor(1j)) is torch.complex128
    assert torch.result_type(single, torch.tensor(1j, dtype=torch.complex128)) is torch.complex64
    ints = torch.ones(2, dtype=torch.int64)
    assert torch.result_type(ints, torch.tensor(1j, dtype=torch.complex128)) is torch.complex128
    assert not torch.can_cast(torch.complex64, torch.float64)
    assert torch.can_cast(torch.float64, torch.complex64)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.tensor(NUMBERS), "tensor([1.+2.j, 3.-4.j])"),
        (
            lambda: torch.tensor(NUMBERS, dtype=torch.complex128),
            "tensor([1.+2.j, 3.-4.j], dtype=torch.complex128)",
        ),
        (lambda: torch.tensor(1.5 - 2j), "tensor(1.5000-2.j)"),
        (
            lambda: torch.tensor([1j, float("nan") + 1e6j, 1e-6]),
            "tensor([0.0000e+00+1.0000e+00j,        nan+1.0000e+06j, 1.0000e-06+0.0000e+00j])",
        ),
        (
            lambda: torch.tensor([complex(float("nan"), -float("inf")), 1]),
            "tensor([nan-infj, 1.+0.j])",
        ),
        (lambda: torch.zeros(0, dtype=torch.complex64), "tensor([], dtype=torch.complex64)"),
        (
            lambda: torch.tensor([[1j, 2.5], [3, -0.0]], requires_grad=True),
            "tensor([[0.0000+1.j, 2.5000+0.j],\n        [3.0000+0.j, -0.0000+0.j]], requires_grad=True)",
        ),
        (
            lambda: torch.arange(2000).to(torch.complex64),
            "tensor([0.0000e+00+0.j, 1.0000e+00+0.j, 2.0000e+00+0.j,  ..., 1.9970e+03+0.j,\n"
            "        1.9980e+03+0.j, 1.9990e+03+0.j])",
        ),
        (lambda: torch.tensor(NUMBERS).conj(), "tensor([1.-2.j, 3.+4.j])"),
    ],
)
def test_the_parts_are_printed_each_in_a_format_of_its_own(make, text):
    assert repr(make()) == text


def test_a_number_is_formatted_as_python_formats_it():
    assert format(torch.tensor(1 + 2j), ".2f") == "1.00+2.00j"
    assert f"{torch.tensor(1 + 2j)}" == "(1+2j)"


def test_elements_come_out_as_python_numbers():
    x = torch.tensor(NUMBERS)
    assert x.tolist() == NUMBERS and x[0].item() == 1 + 2j
    assert complex(x[0]) == 1 + 2j and complex(torch.tensor(2.0)) == 2
    assert bool(x[0]) and bool(torch.tensor(1j)) and not bool(torch.tensor(0j))
    assert float(torch.tensor(2 + 0j)) == 2.0 and int(torch.tensor(2 + 0j)) == 2
    with raises(RuntimeError, "value cannot be converted to type double without overflow"):
        float(x[0])
    with raises(RuntimeError, "value cannot be converted to type int64_t without overflow"):
        int(x[0])


@pytest.mark.parametrize("dtype", PAIR)
def test_every_way_to_make_a_tensor_takes_the_types(dtype):
    assert torch.zeros(2, dtype=dtype).tolist() == [0, 0]
    assert torch.ones(2, dtype=dtype).tolist() == [1, 1]
    assert torch.full((2,), 1j, dtype=dtype).tolist() == [1j, 1j]
    assert torch.eye(2, dtype=dtype).tolist() == [[1, 0], [0, 1]]
    assert torch.empty(3, dtype=dtype).dtype is dtype
    assert torch.linspace(0, 1j, 3, dtype=dtype).tolist() == [0, 0.5j, 1j]
    like = torch.zeros(2, dtype=dtype)
    assert torch.ones_like(like).tolist() == [1, 1] and torch.full_like(like, 2j).tolist() == [2j, 2j]
    assert like.new_tensor([1.0]).dtype is dtype and like.new_zeros(2).dtype is dtype
    assert torch.zeros(2, dtype=dtype).fill_(1 + 1j).tolist() == [1 + 1j, 1 + 1j]
    assert torch.full((2,), 1j).dtype is torch.complex64


@pytest.mark.parametrize("shape", [(3,), (20,), (3, 7)])
@pytest.mark.parametrize("dtype", PAIR)
def test_random_numbers_are_those_of_the_parts(dtype, shape):
    part = dtype.to_real()
    for make, scale in [(torch.rand, 1.0), (torch.randn, 0.5**0.5)]:
        torch.manual_seed(3)
        drawn = torch.view_as_real(make(shape, dtype=dtype))
        torch.manual_seed(3)
        expected = make((*shape, 2), dtype=part) * scale
        torch.testing.assert_close(drawn, expected)


def test_numpy_has_the_same_types():
    array = np.array(NUMBERS)
    shared = torch.from_numpy(array)
    assert shared.dtype is torch.complex128
    shared[0] = 5
    assert array[0] == 5
    assert torch.tensor(NUMBERS).numpy().dtype == np.complex64
    assert torch.tensor(np.complex64(1j)).item() == 1j
    assert (torch.ones(1) * np.complex128(2j)).tolist() == [2j]


def test_storing_keeps_the_numbers_and_what_is_still_to_be_done():
    x = torch.tensor(NUMBERS)
    assert pickle.loads(pickle.dumps(x)).tolist() == NUMBERS
    kept = pickle.loads(pickle.dumps(x.conj()))
    assert kept.is_conj() and kept.tolist() == [1 - 2j, 3 + 4j]
    file = io.BytesIO()
    torch.save([x, x.conj(), x.conj().imag.clone()], file)
    file.seek(0)
    plain, conjugate, part = torch.load(file)
    assert plain.tolist() == NUMBERS and conjugate.tolist() == [1 - 2j, 3 + 4j]
    assert conjugate.is_conj() and part.tolist() == [-2, 4]


def test_to_another_type_keeps_the_real_part():
    x = torch.tensor(NUMBERS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert x.to(torch.float64).tolist() == [1, 3] and x.long().tolist() == [1, 3]
        assert torch.zeros(2).copy_(x).tolist() == [1, 3]
    assert x.bool().tolist() == [True, True] and torch.tensor([0j, 1j]).bool().tolist() == [False, True]
    assert x.cdouble().dtype is torch.complex128 and torch.ones(1).cfloat().tolist() == [1]
    assert x.to(torch.complex128).to(torch.complex64).tolist() == NUMBERS
    assert x.to(torch.complex64) is x


def test_losing_an_imaginary_part_is_warned_of():
    out = run_script(
        """
        import warnings
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            torch.tensor([1j]).real.sum()
            torch.tensor([1j]).bool()
            torch.tensor([1j]).float()
            torch.tensor([1j]).double()
        lost = "Casting complex values to real discards the imaginary part"
        print([(type(w.message).__name__, str(w.message).startswith(lost)) for w in seen])
        """
    )
    assert out.strip() == "[('UserWarning', True)]"


@pytest.mark.parametrize(
    ("kind", "text", "call"),
    [
        (
            RuntimeError,
            "value cannot be converted to type double without overflow",
            lambda x: torch.full((2,), 1j, dtype=torch.float64),
        ),
        (
            RuntimeError,
            "value cannot be converted to type float without overflow",
            lambda x: torch.zeros(2).fill_(1j),
        ),
        (
            RuntimeError,
            "value cannot be converted to type float without overflow",
            lambda x: torch.zeros(2).__setitem__(0, 1j),
        ),
        (
            RuntimeError,
            "value cannot be converted to type c10::complex<float> without overflow",
            lambda x: torch.full((2,), 1e300, dtype=torch.complex64),
        ),
        (TypeError, "must be real number, not complex", lambda x: torch.tensor([1j], dtype=torch.float32)),
        (
            NotImplementedError,
            "\"arange_cpu\" not implemented for 'ComplexFloat'",
            lambda x: torch.arange(3, dtype=torch.complex64),
        ),
        (
            NotImplementedError,
            "\"randperm\" not implemented for 'ComplexFloat'",
            lambda x: torch.randperm(3, dtype=torch.complex64),
        ),
        (
            RuntimeError,
            "check_random_bounds handles only integral, floating-point and boolean types",
            lambda x: x.random_(3),
        ),
        (
            RuntimeError,
            "result type ComplexFloat can't be cast to the desired output type Float",
            lambda x: torch.ones(2).add_(1j),
        ),
        (
            RuntimeError,
            "For non-complex input tensors, argument alpha must not be a complex number.",
            lambda x: torch.ones(2).add(torch.ones(2), alpha=1j),
        ),
        (
            TypeError,
            "only floating-point types are supported as the default type",
            lambda x: torch.set_default_dtype(torch.complex64),
        ),
        (
            RuntimeError,
            "Expected object of scalar type Float but got scalar type Double for second argument",
            lambda x: torch.complex(torch.ones(2), torch.ones(2, dtype=torch.float64)),
        ),
        (
            RuntimeError,
            "Expected both inputs to be Half, Float or Double tensors but got Int and Int",
            lambda x: torch.complex(torch.ones(2).int(), torch.ones(2).int()),
        ),
    ],
)
def test_what_complex_numbers_cannot_be_made_of_is_refused(kind, text, call):
    with raises(kind, text):
        call(torch.tensor(NUMBERS))


NO_ORDER = {
    "lt": (NotImplementedError, "\"lt_cpu\" not implemented for 'ComplexFloat'", lambda x: x < x),
    "ge": (NotImplementedError, "\"ge_cpu\" not implemented for 'ComplexFloat'", lambda x: x >= 1),
    "max": (NotImplementedError, "\"max_all\" not implemented for 'ComplexFloat'", lambda x: x.max()),
    "amin": (NotImplementedError, '"min_values_cpu" not implemented', lambda x: x.amin()),
    "max_dim": (RuntimeError, "max(): does not support complex input", lambda x: x.max(0)),
    "argmax": (RuntimeError, "argmax(): does not support complex input", lambda x: x.argmax()),
    "maximum": (RuntimeError, "maximum not implemented for complex tensors.", lambda x: torch.maximum(x, x)),
    "sort": (RuntimeError, " Sort does not support complex dtypes on CPU", lambda x: x.sort()),
    "topk": (RuntimeError, " topk does not support complex dtypes on CPU", lambda x: x.topk(1)),
    "median": (NotImplementedError, '"median_cpu" not implemented', lambda x: x.median()),
    "cummax": (NotImplementedError, '"cummax_cpu" not implemented', lambda x: x.cummax(0)),
    "clamp": (NotImplementedError, "clamp is not supported for complex types", lambda x: x.clamp(0)),
    "relu": (NotImplementedError, "clamp is not supported for complex types", lambda x: x.relu()),
    "floor": (NotImplementedError, "floor is not supported for complex inputs", lambda x: x.floor()),
    "round": (NotImplementedError, '"round_vml_cpu" not implemented', lambda x: x.round()),
    "erf": (NotImplementedError, "\"erf_vml_cpu\" not implemented for 'ComplexFloat'", lambda x: x.erf()),
    "sign": (
        NotImplementedError,
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
        lambda x: x.sign(),
    ),
    "remainder": (NotImplementedError, '"remainder_cpu" not implemented', lambda x: x % 2),
    "floor_divide": (NotImplementedError, '"div_floor_cpu" not implemented', lambda x: x // 2),
    "deg2rad": (RuntimeError, "deg2rad is not supported for complex tensors.", lambda x: x.deg2rad()),
    "isposinf": (RuntimeError, "isposinf does not support complex inputs.", lambda x: x.isposinf()),
    "nansum": (RuntimeError, "nansum on CPU does not support complex inputs", lambda x: x.nansum()),
    "softmax": (NotImplementedError, '"softmax_lastdim_kernel_impl" not implemented', lambda x: x.softmax(0)),
    "abs_": (RuntimeError, "In-place abs is not supported for complex tensors.", lambda x: x.abs_()),
    "invert": (TypeError, "~ (operator.invert) is only implemented on integer and Boolean", lambda x: ~x),
}


@pytest.mark.parametrize("name", NO_ORDER)
def test_what_has_no_meaning_for_complex_numbers_is_refused(name):
    kind, text, call = NO_ORDER[name]
    with raises(kind, text):
        call(torch.tensor(NUMBERS))


def test_equality_and_predicates_look_at_both_parts():
    x = torch.tensor([1 + 2j, complex(float("nan"), 1), complex(1, float("inf")), 3])
    assert (x == 1 + 2j).tolist() == [True, False, False, False]
    assert (x != x).tolist() == [False, True, False, False]
    assert x.isnan().tolist() == [False, True, False, False]
    assert x.isinf().tolist() == [False, False, True, False]
    assert x.isfinite().tolist() == [True, False, False, True]
    assert x.isreal().tolist() == [False, False, False, True]
    assert torch.ones(2).isreal().tolist() == [True, True]
    assert torch.isclose(x[:1], x[:1] * (1 + 1e-7)).tolist() == [True]
    assert torch.tensor([0j, 1j]).nonzero().tolist() == [[1]]
    assert torch.tensor([0j, 1j]).count_nonzero().item() == 1
    assert torch.tensor([0j, 1j]).any().item() is True and torch.tensor([0j, 1j]).all().item() is False


def test_a_module_may_have_complex_parameters_and_is_warned_of():
    with pytest.warns(UserWarning, match="Complex modules are a new feature under active development"):
        layer = torch.nn.Linear(2, 2).to(torch.complex64)
    assert layer.weight.dtype is torch.complex64
    assert layer(torch.tensor(NUMBERS)).dtype is torch.complex64


@pytest.mark.parametrize("dtype", PAIR)
def test_reciprocals_of_infinite_numbers_are_nothing_and_of_none_are_none(dtype):
    inf, nan = float("inf"), float("nan")
    numbers = [
        2 + 0j,
        3 - 4j,
        complex(inf, 1),
        complex(-2, inf),
        complex(inf, nan),
        complex(nan, -inf),
        complex(0, nan),
    ]
    found = torch.tensor(numbers * 9, dtype=dtype)[::3].reciprocal().tolist()
    expected = (([0.5, 0.12 + 0.16j, 0, 0] + [complex(nan, nan)] * 3) * 9)[::3]
    for one, other in zip(found, expected, strict=True):
        assert one != one if other != other else abs(one - other) < 1e-7
    (zero,) = torch.zeros(1, dtype=dtype).reciprocal().tolist()
    assert zero.real == inf and zero.imag != zero.imag
