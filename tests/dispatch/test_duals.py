"""Tangents of tensors that their class minds."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from dispatch.tensors import Logged

FUNCTIONS = {
    "product": lambda x: x * x,
    "sine": lambda x: x.sin(),
    "sum": lambda x: (x * 2).sum(),
    "matrices": lambda x: x.reshape(1, 2) @ x.reshape(2, 1),
    "chain": lambda x: x.exp().sin(),
}


def plain(x):
    return x.elem if isinstance(x, Logged) else x


def dual_of(f, x, tangent):
    with fwAD.dual_level():
        return fwAD.unpack_dual(f(fwAD.make_dual(x, tangent)))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("minded", ["both", "primal", "tangent"])
def test_tangents_pass_what_classes_answer(name, minded):
    f, x, tangent = FUNCTIONS[name], torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
    expected = dual_of(f, x, tangent)
    answer = dual_of(
        f, Logged(x) if minded != "tangent" else x, Logged(tangent) if minded != "primal" else tangent
    )
    assert isinstance(answer.primal, Logged) is (minded != "tangent")
    assert torch.equal(plain(answer.primal), expected.primal)
    torch.testing.assert_close(plain(answer.tangent), expected.tangent)


def test_a_function_is_pushed_forward_along_instances():
    y, tangent = torch.func.jvp(
        lambda x: x * x, (Logged(torch.tensor([1.0, 2.0])),), (Logged(torch.ones(2)),)
    )
    assert type(y) is type(tangent) is Logged
    assert y.elem.tolist() == [1.0, 4.0] and tangent.elem.tolist() == [2.0, 4.0]
