"""Operands of fewer elements are spread over what is written in place, with the numbers of a new tensor."""

import pytest
import rushlight as torch

OPERATORS = ["add_", "sub_", "mul_", "div_", "pow_", "fmod_", "atan2_"]
SHAPES = [(), (1,), (1, 1), (5,), (1, 5), (4, 1), (3, 1, 5), (3, 1, 1), (3, 4, 5)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64], ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_every_shape_is_spread(name, dtype):
    if dtype.is_complex and name in ("fmod_", "atan2_"):
        pytest.skip("there is no such function of complex numbers")
    torch.manual_seed(0)
    x = (torch.rand(3, 4, 5) + 0.5).to(dtype)
    for shape in SHAPES:
        other = (torch.rand(shape) + 0.5).to(dtype)
        for target in (x.clone(), x.clone().mT, x.repeat(1, 1, 2)[..., ::2]):
            if target.shape != x.shape and len(shape) > 1:
                continue
            if target.shape[-1] != 5 and shape == (5,):
                continue
            expected = getattr(target, name[:-1])(other)
            address = target.data_ptr()
            written = getattr(target, name)(other)
            assert written is target
            assert target.data_ptr() == address
            assert torch.equal(target, expected.to(dtype)), (shape, target.stride())


def test_a_part_of_what_is_written_is_no_operand():
    for part in (lambda t: t[0], lambda t: t[1, 2]):
        target = torch.arange(12.0).reshape(3, 4)
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            target.add_(part(target))
        assert torch.equal(target, torch.arange(12.0).reshape(3, 4))


def test_a_written_number_is_kept_for_the_way_back():
    x, scale = torch.ones(3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    y = x.clone()
    y.mul_(scale)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert scale.grad.item() == 3.0
