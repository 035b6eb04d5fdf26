"""Dual tensors: what they are made of, how they print, and which operations pass their tangents."""

import copy

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from support import raises, tangent

pytestmark = pytest.mark.usefixtures("dual_level")


def dual(values, tangent):
    return fwAD.make_dual(torch.tensor(values), torch.tensor(tangent))


def test_a_dual_tensor_is_a_view_of_its_primal():
    x = torch.ones(2)
    made = fwAD.make_dual(x, torch.ones(2))
    assert made._is_view() and made._base is x and made.data_ptr() == x.data_ptr()
    assert fwAD.unpack_dual(x).tangent is None


def test_a_tangent_is_carried_as_it_is():
    t = torch.ones(2)
    assert fwAD.unpack_dual(fwAD.make_dual(torch.ones(2), t)).tangent is t


def test_a_tangent_that_lies_otherwise_in_memory_is_copied():
    t = torch.arange(6.0).view(3, 2).t()
    carried = fwAD.unpack_dual(fwAD.make_dual(torch.ones(2, 3), t)).tangent
    assert carried is not t and carried.stride() == (3, 1) and carried.tolist() == t.tolist()


def test_a_tangent_lies_in_memory_as_a_part_of_a_tensor_does():
    part = torch.ones(3, 4)[:, :2]
    carried = fwAD.unpack_dual(fwAD.make_dual(part, torch.ones(3, 2))).tangent
    assert carried.stride() == (4, 1)


def test_a_dual_tensor_of_one_that_requires_grad_does_too():
    made = fwAD.make_dual(torch.ones(2, requires_grad=True), torch.ones(2))
    assert made.requires_grad and made.grad_fn.name() == "ViewBackward0"
    assert fwAD.unpack_dual(made).primal.requires_grad


def test_unpacking_gives_a_named_tuple():
    unpacked = fwAD.unpack_dual(dual([1.0], [2.0]))
    assert type(unpacked) is fwAD.UnpackedDualTensor and unpacked._fields == ("primal", "tangent")
    assert repr(unpacked) == "UnpackedDualTensor(primal=tensor([1.]), tangent=tensor([2.]))"


def test_unpacking_a_tensor_without_a_tangent_gives_a_view_and_none():
    x = torch.ones(2)
    primal, nothing = fwAD.unpack_dual(x)
    assert nothing is None and primal is not x and primal._is_view()


def test_a_dual_tensor_shows_its_tangent():
    assert repr(dual([1.0], [2.0])) == "tensor([1.], tangent=tensor([2.]))"
    leaf = fwAD.make_dual(torch.ones(1), torch.ones(1)).requires_grad_()
    assert repr(leaf) == "tensor([1.], requires_grad=True, tangent=tensor([1.]))"


def test_a_tensor_that_has_a_tangent_cannot_be_made_dual_again():
    x = dual([1.0], [1.0])
    with raises(
        RuntimeError,
        "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
        "is not supported.",
    ):
        fwAD.make_dual(x, torch.ones(1))


def test_a_tangent_must_not_have_a_tangent():
    with raises(
        RuntimeError,
        "Setting a forward grad that itself has a forward gradient at the same level0 is not supported.",
    ):
        fwAD.make_dual(torch.ones(1), dual([1.0], [1.0]))


@pytest.mark.parametrize("shape", [(2,), (1, 3)])
def test_a_tangent_must_have_the_shape_of_its_primal(shape):
    with raises(
        RuntimeError,
        "Trying to set a forward gradient that has a different size than that of the original Tensor, "
        f"this is not supported. Tensor is of size [3] while the given forward gradient is of size "
        f"{list(shape)}.",
    ):
        fwAD.make_dual(torch.ones(3), torch.ones(shape))


def test_primal_and_tangent_must_be_floating_point_numbers():
    with raises(ValueError, "Expected primal to be floating point or complex, but got: torch.int64"):
        fwAD.make_dual(torch.tensor([1]), torch.ones(1))
    with raises(ValueError, "Expected tangent to be floating point or complex, but got: torch.int64"):
        fwAD.make_dual(torch.ones(1), torch.tensor([1]))


def test_a_tangent_may_have_another_type():
    made = fwAD.make_dual(torch.ones(1), torch.ones(1, dtype=torch.float64))
    assert fwAD.unpack_dual(made).tangent.dtype == torch.float64


def test_only_tensors_can_be_unpacked():
    with raises(TypeError, "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not int"):
        fwAD.unpack_dual(1)


def test_a_tangent_passes_operations_of_every_kind():
    x = dual([1.0, 2.0], [1.0, 10.0])
    assert tangent(x * x) == [2.0, 40.0]
    assert tangent(3 * x + 1) == [3.0, 30.0]
    assert tangent(x.sum()) == 11.0
    assert tangent(x[1]) == 10.0
    assert tangent(torch.stack([x, x])) == [[1.0, 10.0]] * 2
    assert tangent(torch.eye(2) @ x) == [1.0, 10.0]
    assert tangent(torch.ones(2, 2) + x) == [[1.0, 10.0]] * 2
    assert tangent(x.double()) == [1.0, 10.0]
    assert tangent(x.max(0).values) == 10.0
    assert [tangent(part) for part in x.unbind()] == [1.0, 10.0]


def test_what_is_constant_piece_by_piece_has_a_tangent_of_zeros():
    x = dual([1.5, 2.0], [1.0, 10.0])
    assert tangent(x.sign()) == tangent(x.round()) == [0.0, 0.0]


def test_integers_and_truth_values_have_no_tangent():
    x = dual([1.0, 2.0], [1.0, 10.0])
    assert tangent(x.long()) is None and tangent(x > 1) is None and tangent(x.argmax()) is None
    assert tangent(torch.zeros_like(x)) is None


def test_a_detached_tensor_has_no_tangent():
    x = dual([1.0], [1.0])
    assert tangent(x.detach()) is None and tangent(x.data) is None
    assert tangent(copy.deepcopy(x)) is None
    assert tangent(x) == [1.0]


def test_a_tensor_on_the_tangent_of_another_does_not_share_its_memory():
    x = dual([1.0], [1.0])
    y = x + 1
    y.mul_(5)
    assert tangent(y) == [5.0] and tangent(x) == [1.0]


def test_a_parameter_of_a_dual_tensor_has_no_tangent():
    assert tangent(torch.nn.Parameter(dual([1.0], [1.0]))) is None


def test_modules_pass_tangents_on():
    layer = torch.nn.Linear(2, 1)
    weight = layer.weight.detach().clone()
    x = torch.tensor([1.0, 3.0])
    del layer.weight
    layer.weight = fwAD.make_dual(weight, torch.ones(1, 2))
    assert tangent(layer(x)) == [4.0]


def test_at_a_kink_tangents_go_where_they_go_in_torch():
    nan = float("nan")
    x = dual([1.0, 1.0, nan, 1.0, nan], [1.0, 2.0, 3.0, 4.0, 5.0])
    y = dual([1.0, 2.0, 1.0, nan, nan], [10.0, 20.0, 30.0, 40.0, 50.0])
    assert tangent(torch.maximum(x, y)) == [5.5, 20.0, 30.0, 40.0, 50.0]
    assert tangent(torch.minimum(x, y)) == [5.5, 2.0, 30.0, 40.0, 50.0]
    assert tangent(torch.fmax(x, y)) == [10.0, 20.0, 30.0, 4.0, 5.0]
    assert tangent(torch.fmin(x, y)) == [1.0, 2.0, 30.0, 4.0, 5.0]
    assert tangent(torch.clamp(x, max=y)) == [10.0, 2.0, 30.0, 40.0, 50.0]
    assert tangent(torch.clamp_max(x, y)) == [1.0, 2.0, 30.0, 40.0, 50.0]
    assert tangent(torch.clamp(x, min=y, max=y + 1)) == [1.0, 20.0, 3.0, 4.0, 5.0]
    assert tangent(x.clamp(1.0, 2.0)) == [1.0, 2.0, 0.0, 4.0, 0.0]


def test_detaching_in_place_drops_tangents():
    dual = fwAD.make_dual(torch.ones(2), torch.ones(2)) * 2
    dual.detach_()
    assert fwAD.unpack_dual(dual).tangent is None


def test_results_with_tangents_are_not_written_into_given_tensors():
    message = (
        "^Trying to use forward AD with add_out that does not support it because it is an out= function$"
    )
    dual = fwAD.make_dual(torch.ones(2), torch.ones(2))
    with pytest.raises(NotImplementedError, match=message):
        torch.add(dual, 1, out=torch.empty(2))
    with pytest.raises(NotImplementedError, match=message):
        torch.add(torch.ones(2), 1, out=dual)


@pytest.mark.own
def test_a_floored_quotient_does_not_move():
    assert fwAD.unpack_dual(fwAD.make_dual(torch.ones(2), torch.ones(2)) // 2).tangent.tolist() == [0, 0]


def test_a_tangent_without_dimensions_is_shown_as_its_number():
    dual = fwAD.make_dual(torch.ones(2), torch.ones(2))
    assert repr(dual.sum()) == "tensor(2., tangent=2.0)"


def test_there_is_no_level_above_the_first():
    dual = fwAD.make_dual(torch.ones(2), torch.ones(2))
    with raises(RuntimeError, "Invalid level given to _fw_primal"):
        fwAD.unpack_dual(dual, level=1)
