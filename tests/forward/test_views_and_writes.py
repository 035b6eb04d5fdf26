"""Tangents of views and of tensors that are written to in place."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from support import raises, tangent

pytestmark = pytest.mark.usefixtures("dual_level")


def dual(*shape):
    return fwAD.make_dual(torch.ones(shape), torch.arange(1.0, torch.ones(shape).numel() + 1).view(shape))


def test_the_tangent_of_a_view_is_a_view_of_the_tangent():
    x = dual(2, 3)
    views = [x[1], x.t(), x.view(6), x[:, ::2], x.unsqueeze(0), x.expand(4, 2, 3), x.diagonal(), *x.split(1)]
    for view in views:
        whole, part = fwAD.unpack_dual(x).tangent, fwAD.unpack_dual(view).tangent
        assert part.storage_offset() == view.storage_offset() and part.stride() == view.stride()
        assert part.data_ptr() - whole.data_ptr() == view.data_ptr() - x.data_ptr()


def test_a_write_to_a_tensor_writes_to_its_tangent():
    x, t = torch.ones(3), torch.tensor([1.0, 2.0, 3.0])
    made = fwAD.make_dual(x, t)
    made.mul_(2)
    assert made.tolist() == [2.0] * 3 and tangent(made) == [2.0, 4.0, 6.0]
    assert t.tolist() == [2.0, 4.0, 6.0] and tangent(x) is None


def test_a_write_to_a_view_is_seen_in_the_tangent_of_its_base():
    x = dual(2, 3)
    row = x[0]
    row.mul_(5)
    assert tangent(x) == [[5.0, 10.0, 15.0], [4.0, 5.0, 6.0]] and tangent(row) == [5.0, 10.0, 15.0]


def test_a_write_to_the_base_is_seen_in_the_tangent_of_a_view():
    x = dual(2, 3)
    row = x[1]
    x.mul_(2)
    assert tangent(row) == [8.0, 10.0, 12.0]


def test_a_dual_tensor_written_to_a_plain_one_gives_it_a_tangent():
    y = torch.zeros(3)
    y.copy_(dual(3))
    assert tangent(y) == [1.0, 2.0, 3.0]
    z = torch.zeros(3).add_(dual(3), alpha=2)
    assert tangent(z) == [2.0, 4.0, 6.0]


def test_a_dual_tensor_written_to_a_view_gives_its_base_a_tangent():
    y = torch.zeros(2, 3)
    before = y.view(6)
    row = y[1]
    row.copy_(dual(3))
    assert tangent(row) == [1.0, 2.0, 3.0]
    assert tangent(y) == [[0.0] * 3, [1.0, 2.0, 3.0]]
    assert tangent(before) == [0.0] * 3 + [1.0, 2.0, 3.0]
    before.mul_(2)
    assert tangent(row) == [2.0, 4.0, 6.0]


def test_an_assignment_to_an_index_passes_the_tangent():
    y = torch.zeros(2, 3)
    y[0] = dual(3)
    y[1, 1:] = dual(2)
    assert tangent(y) == [[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]]


def test_a_view_made_before_its_base_got_a_tangent_has_it_too():
    y = torch.zeros(2, 3)
    row = y[0]
    y.copy_(dual(2, 3))
    assert tangent(row) == [1.0, 2.0, 3.0]


def test_overwriting_with_what_has_no_tangent_leaves_zeros():
    for write in (
        lambda x: x.zero_(),
        lambda x: x.fill_(3),
        lambda x: x.copy_(torch.ones(2)),
        lambda x: x.normal_(),
        lambda x: x.eq_(1),
    ):
        x = dual(2)
        write(x)
        assert tangent(x) == [0.0, 0.0]


def test_a_tensor_that_is_laid_out_anew_takes_its_tangent_along():
    x = dual(2, 3)
    x.t_()
    assert tangent(x) == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    x.unsqueeze_(0)
    assert fwAD.unpack_dual(x).tangent.shape == (1, 3, 2)


def test_an_operation_of_a_tensor_with_itself_in_place_sees_old_tangents():
    x = dual(2)
    x.mul_(x)
    assert tangent(x) == [2.0, 4.0]
    x = dual(2)
    x.exp_().mul_(2)
    torch.testing.assert_close(
        fwAD.unpack_dual(x).tangent, 2 * torch.ones(2).exp() * torch.tensor([1.0, 2.0])
    )


@pytest.mark.own
def test_an_operation_of_a_tensor_with_itself_in_place_sees_old_values():
    x = dual(2) * 3
    x.mul_(x)
    assert x.tolist() == [9.0, 9.0] and tangent(x) == [18.0, 36.0]


def test_parts_that_were_made_together_can_be_written_to():
    first, _ = dual(4).split(2)
    first.mul_(2)
    assert tangent(first) == [2.0, 4.0]


def test_a_write_without_recording_passes_tangents_too():
    x = dual(2)
    with torch.no_grad():
        x[:1].mul_(3)
    assert tangent(x) == [3.0, 2.0]


def test_a_dual_tensor_of_a_leaf_is_a_view_of_it_and_cannot_be_written_to():
    x = fwAD.make_dual(torch.ones(2, requires_grad=True), torch.ones(2))
    with raises(
        RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation."
    ):
        x.mul_(2)


def test_a_dual_tensor_written_to_integers_leaves_no_tangent():
    y = torch.zeros(2, dtype=torch.int32)
    y.copy_(dual(2))
    assert tangent(y) is None
