"""Numbers that are the same for all samples may say what is done, also where a derivative is mapped."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp, vmap

SAMPLES = torch.arange(6.0).view(2, 3)

FUNCTIONS = {
    "nonzero": lambda c: c.nonzero().float(),
    "nonzero by dimension": lambda c: torch.nonzero(c, as_tuple=True)[0].float(),
    "argwhere": lambda c: torch.argwhere(c).float(),
    "where": lambda c: torch.where(c > 1)[0].float(),
    "unique": lambda c: c.unique(),
    "neighbours": torch.unique_consecutive,
    "a mask as index": lambda c: c[c > 1],
    "a number as mask": lambda c: c[c.sum() > 1],
    "a write by a mask": lambda c: c.index_put((c > 1,), torch.tensor(5.0)),
    "masked_select": lambda c: torch.masked_select(c, c > 1),
    "a decision": lambda c: c if c.sum() > 0 else -c,
    "any": lambda c: c if bool(c.any()) else -c,
    "all": lambda c: c if (c > 1).all() else -c,
    "the greatest": lambda c: c if c.max() > 1 else -c,
    "allclose": lambda c: c * (2.0 if torch.allclose(c, c) else 1.0),
    "equal": lambda c: c * (2.0 if torch.equal(c, c + 1) else 1.0),
    "histc": lambda c: torch.histc(c, 2),
    "triu_indices": lambda c: torch.triu_indices(3, 3, 1).float(),
    "pdist": lambda c: torch.pdist(c[:, None]),
    "one_hot": lambda c: torch.nn.functional.one_hot(c.long()).float(),
    "a number": lambda c: c * float(c.sum()),
    "a list": lambda c: torch.tensor(c.tolist()),
}


def constant():
    made = torch.zeros(3)
    made[1:] += torch.tensor([1.0, 3.0])
    return made


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_a_constant_within_a_mapped_derivative_is_a_plain_tensor(function):
    weight = function(constant()).sum()

    def loss(x):
        return (function(constant()) * x.sum()).sum()

    assert torch.allclose(vmap(grad(loss))(SAMPLES), weight.expand(2, 3))
    values, derivatives = vmap(lambda x: jvp(loss, (x,), (x,)))(SAMPLES)
    assert torch.allclose(values, weight * SAMPLES.sum(1))
    assert torch.allclose(derivatives, weight * SAMPLES.sum(1))
