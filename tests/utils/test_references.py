"""torch's references by its inner names: operations, and what they ask of types and shapes."""

import pytest
import rushlight as torch
from rushlight._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND as Kind
from rushlight._prims_common import (
    check_significant_strides,
    elementwise_dtypes,
    infer_size,
    make_contiguous_strides_for,
    reduction_dims,
)
from rushlight._prims_common.wrappers import out_wrapper


def test_references_are_the_operations():
    x = torch.tensor([1.0, 2.0])
    assert torch._refs.add is torch.add
    assert torch._refs.special.entr is torch.special.entr
    assert torch._refs.nn.functional.celu is torch.nn.functional.celu
    assert torch._refs.to(x, torch.int32).dtype is torch.int32
    assert torch._refs._conversions.double(x).dtype is torch.float64
    assert torch._refs.zero(x).tolist() == [0.0, 0.0] and x.tolist() == [1.0, 2.0]
    with pytest.raises(AttributeError, match="has no attribute 'nowhere'"):
        _ = torch._refs.nowhere


@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        ((torch.ones(2, dtype=torch.int32), 2.5), Kind.DEFAULT, (torch.float32, torch.float32)),
        ((torch.ones(2, dtype=torch.float16), 2), Kind.DEFAULT, (torch.float32, torch.float16)),
        ((torch.ones((), dtype=torch.float64), torch.ones(2)), Kind.DEFAULT, (torch.float32, torch.float32)),
        ((torch.ones(2, dtype=torch.float64), 1j), Kind.DEFAULT, (torch.complex128, torch.complex128)),
        ((torch.ones(2, dtype=torch.float16),), Kind.NO_OPMATH, (torch.float16, torch.float16)),
        ((torch.ones(2, dtype=torch.int64),), Kind.INT_TO_FLOAT, (torch.float32, torch.float32)),
        ((torch.ones(2, dtype=torch.complex64),), Kind.COMPLEX_TO_FLOAT, (torch.complex64, torch.float32)),
        ((torch.ones(2, dtype=torch.bool), True), Kind.BOOL_TO_LONG, (torch.int64, torch.int64)),
        ((torch.ones(2, dtype=torch.bfloat16),), Kind.ALWAYS_BOOL, (torch.float32, torch.bool)),
    ],
)
def test_types_of_operations_of_elements(given, kind, expected):
    assert elementwise_dtypes(*given, type_promotion_kind=kind) == expected


def test_shapes_and_strides():
    assert infer_size((2, -1, 3), 12) == (2, 2, 3)
    with pytest.raises(RuntimeError, match=r"shape '\[5, -1\]' is invalid for input of size 12"):
        infer_size((5, -1), 12)
    assert make_contiguous_strides_for((2, 0, 4)) == (4, 4, 1)
    assert reduction_dims((2, 3), None) == (0, 1) and reduction_dims((2, 3), [-1]) == (1,)
    x = torch.ones(3, 1).expand(3, 1)
    assert check_significant_strides(x, torch.empty_strided((3, 1), (1, 7)), only_cuda=False) == (True, None)
    assert check_significant_strides(x, torch.empty_strided((3, 1), (2, 1)), only_cuda=False) == (False, 0)


def test_a_function_is_given_an_output():
    @out_wrapper("low", "high")
    def ends(x):
        return x.min(), x.max()

    found = ends(torch.tensor([3.0, 1.0]))
    assert found.low.item() == 1.0 and found._fields == ("low", "high")
    outs = (torch.empty(0), torch.empty(()))
    assert ends(torch.tensor([3.0, 1.0]), out=outs).high is outs[1]
    assert outs[0].shape == () and outs[1].item() == 3.0
    once = out_wrapper()(lambda x: x + 0.5)
    with pytest.raises(
        RuntimeError, match=r"Attempting to cast from torch\.float32 to out tensor with dtype"
    ):
        once(torch.ones(1), out=torch.empty(1, dtype=torch.int32))


def test_references_of_reductions_take_several_dimensions():
    x = torch.arange(1.0, 7.0).view(1, 2, 3)
    assert torch._refs.prod(x, [1, 2]).tolist() == [720.0]
    assert torch._refs.all(x > 1, [0, 2]).tolist() == [False, True]
    assert torch._refs.var(x, unbiased=False, keepdim=True).shape == (1, 1, 1)
    assert torch._refs.sum(torch.tensor([1, 2])).dtype is torch.int64


def test_calls_are_shown_to_the_mode_of_references():
    from rushlight._prims.context import TorchRefsMode

    with TorchRefsMode(strict=True):
        assert torch.add(torch.ones(1), 1).item() == 2.0


def test_memory_of_results_is_compared():
    from rushlight._subclasses.fake_utils import (
        output_alias_each_other,
        outputs_alias_inputs,
        outputs_are_inputs,
    )
    from rushlight._subclasses.meta_utils import assert_metadata_eq

    x = torch.ones(4)
    assert outputs_alias_inputs([x[1:]], {"x": x}) and not outputs_alias_inputs([x + 1], x)
    assert outputs_are_inputs(x, [x]) and not outputs_are_inputs(x[1:], [x])
    assert output_alias_each_other((x, x[1:])) and not output_alias_each_other((x, x + 1))

    def equal(one, other):
        assert one == other

    assert_metadata_eq(equal, x[1:], torch.zeros(4)[1:])
    with pytest.raises(AssertionError):
        assert_metadata_eq(equal, x[1:], torch.zeros(3))
