"""Products of matrices by groups of rows, as mixtures of experts ask for them, and scaled ones."""

import rushlight as torch
import rushlight.nn.functional as F
from support import raises


def ends(*values):
    return torch.tensor(values, dtype=torch.int32)


def test_each_group_has_a_matrix_of_its_own():
    rows = torch.arange(8 * 4.0).view(8, 4).sin().requires_grad_()
    experts = torch.arange(3 * 4 * 8.0).view(3, 4, 8).cos().requires_grad_()
    found = F.grouped_mm(rows, experts, offs=ends(2, 5, 8))
    expected = torch.cat([rows[:2] @ experts[0], rows[2:5] @ experts[1], rows[5:] @ experts[2]])
    torch.testing.assert_close(found, expected)
    assert found.grad_fn.name() == "GroupedMmBackward0"
    scale = torch.arange(64.0).view(8, 8).tan()
    torch.testing.assert_close(
        torch.autograd.grad((found * scale).sum(), [rows, experts]),
        torch.autograd.grad((expected * scale).sum(), [rows, experts]),
    )


def test_groups_of_columns_and_of_what_is_summed_over():
    x, y = torch.ones(3, 8, 4), torch.arange(32.0).view(4, 8)
    found = F.grouped_mm(x, y, offs=ends(2, 5, 8))
    assert found.shape == (8, 8)
    assert found[0].tolist() == y.sum(0).tolist()
    a, b = torch.arange(64.0).view(8, 8), torch.ones(8, 8)
    found = F.grouped_mm(a, b, offs=ends(2, 5, 8))
    assert found.shape == (3, 8, 8)
    assert found[1, :, 0].tolist() == a[:, 2:5].sum(1).tolist()
    assert torch.equal(F.grouped_mm(x, x.mT.contiguous()), torch.bmm(x, x.mT))


def test_what_is_no_product_by_groups():
    rows, experts = torch.ones(8, 16), torch.ones(3, 16, 8)
    need = "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
    with raises(RuntimeError, need):
        F.grouped_mm(rows, experts)
    with raises(RuntimeError, need):
        F.grouped_mm(experts.mT, experts, offs=ends(1, 2, 3))
    with raises(RuntimeError, "Offsets have to be int32"):
        F.grouped_mm(rows, experts, offs=ends(2, 5, 8).long())
    with raises(RuntimeError, "matrix batch sizes have to match"):
        F.grouped_mm(rows, experts, offs=ends(2, 5))
    with raises(RuntimeError, "contraction dimension of mat_a and mat_b must match"):
        F.grouped_mm(rows[:, :8], experts, offs=ends(2, 5, 8))
    with raises(RuntimeError, "Expected mat_a to be Float32, BFloat16 or Float16 matrix, got Double"):
        F.grouped_mm(rows.double(), experts.double(), offs=ends(2, 5, 8))
    with raises(RuntimeError, "mat_a has to be 2 or 3d"):
        F.grouped_mm(rows[0], experts, offs=ends(2, 5, 8))
    with raises(RuntimeError, "Bias not supported yet"):
        F.grouped_mm(rows, experts, offs=ends(2, 5, 8), bias=torch.ones(8))


def test_scaled_matrices():
    x = torch.arange(512.0).view(16, 32).sin().to(torch.float8_e4m3fn)
    one, other = torch.tensor(2.0), torch.tensor(0.5)
    plain = x.float() @ x.float().t()
    found = torch._scaled_mm(x, x.t(), one, other, out_dtype=torch.float32)
    torch.testing.assert_close(found, plain)
    assert torch._scaled_mm(x, x.t(), one, other).dtype == torch.float8_e4m3fn
    rows = torch.arange(1.0, 17.0)
    found = torch._scaled_mm(x, x.t(), rows.view(-1, 1), rows.view(1, -1), out_dtype=torch.bfloat16)
    expected = (plain * rows.view(-1, 1) * rows).bfloat16()
    torch.testing.assert_close(found, expected, rtol=0.01, atol=0.01)
    tensorwise = F.ScalingType.TensorWise
    found = F.scaled_mm(x, x.t(), one, tensorwise, other, tensorwise, output_dtype=torch.float32)
    torch.testing.assert_close(found, plain)


def test_integers_of_eight_bits():
    x = torch.full((17, 8), 100, dtype=torch.int8)
    found = torch._int_mm(x, torch.full((8, 16), -100, dtype=torch.int8))
    assert found.dtype == torch.int32 and found.unique().tolist() == [-80000]
