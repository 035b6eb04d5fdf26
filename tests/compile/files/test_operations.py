"""Operations that programs in files have a form for give what they give here."""

import pytest
import rushlight as torch

pytestmark = pytest.mark.own

F = torch.nn.functional
SQUARE = "(x @ x.t() + 4 * torch.eye(4))"
EXPRESSIONS = [
    "x > 0.1",
    "x.eq(x.round()) | (x <= 0)",
    "(x > 0) & ~(x > 0.5)",
    "torch.logical_xor(x, x > 0.2).logical_not()",
    "x.isnan(), x.isinf(), x.isfinite()",
    "torch.where(x > 0, x, x * 2)",
    "x.masked_fill(x < 0, -1.0)",
    "x.masked_fill(x < 0, x.sum())",
    "x.clamp(-0.5, 0.5), x.clamp(min=0.1), torch.clamp(x, max=x.mean())",
    "x.tril(-1), x.triu(), x.diagonal().clone(), torch.diag(x.sum(0))",
    "x.flip(0), x.roll(1, 1), x.roll(5), x.repeat(2, 3)",
    "x.prod(), x.prod(1), x.cumsum(0), x.cumprod(1), x.logcumsumexp(1)",
    "x.max(1), x.min(0), x.max(), x.amax((0, 1)), x.amin(1, keepdim=True), x.aminmax(dim=0)",
    "x.argmax(), x.argmax(1), x.argmin(0, keepdim=True)",
    "x.var(), x.std(0), torch.var_mean(x, 1), x.norm(), x.norm(dim=1), torch.linalg.vector_norm(x, 1)",
    "x.median(), x.median(0), x.nansum(), x.trace()",
    "x.sort(1), x.topk(2), x.argsort(0), x.kthvalue(2), x.cummax(0), x.mode(1)",
    "(x > 0).any(), (x > 0).all(1), x.count_nonzero(0)",
    "x[[2, 0]], x[x[:, 0].argsort()], x[:, [1, 1, 0]]",
    "x.index_put((torch.tensor([1, 3]),), torch.tensor(5.0))",
    "F.pad(x, (1, 2)), F.pad(x, (1, 1), value=3.0), F.pad(x[None], (1, 1), mode='reflect')",
    "F.pad(x[None], (2, 1), mode='replicate'), F.glu(torch.cat([x, x], 1)), F.elu(x), F.celu(x), F.selu(x)",
    "F.prelu(x, torch.tensor([0.3]))",
    "x // 0.3, torch.div(x, 0.3, rounding_mode='trunc')",
    f"torch.linalg.inv_ex({SQUARE})[0], torch.linalg.cholesky_ex({SQUARE})[0], torch.linalg.det({SQUARE})",
    f"torch.linalg.solve_ex({SQUARE}, x)[0], torch.matrix_exp(0.1 * {SQUARE})",
    f"torch.linalg.solve_triangular({SQUARE}, x, upper=True)",
    "F.softmax(x.masked_fill(torch.ones(4, 3).tril() == 0, float('-inf')), -1)",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_exported_expression_answers_with_the_same_bits(expression):
    function = eval(f"lambda x: ({expression})", {"torch": torch, "F": F})

    def flat(answer):
        parts = answer if isinstance(answer, tuple) else (answer,)
        return [one for part in parts for one in (part if isinstance(part, tuple) else (part,))]

    def through(x):
        found = flat(function(x))
        return tuple(found) if len(found) > 1 else found[0]

    torch.manual_seed(0)
    with torch.no_grad():
        program = torch.compiler.export(through, (torch.randn(4, 3),))
        again = type(program)(program.to_bytes())
        for _ in range(3):
            x = torch.randn(4, 3)
            for own, expected in zip(flat(again(x)), flat(function(x)), strict=True):
                assert own.dtype == expected.dtype and torch.equal(own, expected)


@pytest.mark.parametrize(
    "loss",
    [
        "torch.where(p > 0, p, 0.1 * p).var() + p.clamp(-1, 1).norm()",
        "p.max(1)[0].mean() + p.cumsum(0).std() + p.sort(0)[0][0].sum()",
        "F.pad(p, (1, 1)).flip(1).tril().cumsum(1).square().sum() + p[[0, 2]].amax()",
        "p.masked_fill(p < 0, 0.0).roll(1, 0).repeat(1, 2).square().mean()",
    ],
)
def test_an_exported_step_through_such_operations_trains_with_the_same_bits(loss):
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 4)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    function = eval(f"lambda p: {loss}", {"torch": torch, "F": F})

    def step(x):
        optimizer.zero_grad()
        found = function(layer(x))
        found.backward()
        optimizer.step()
        return found

    batches = [torch.randn(5, 3) for _ in range(4)]
    program = torch.compiler.export(step, (batches[0],))
    for batch in batches:
        assert torch.equal(program(batch), step(batch).detach())
    again = type(program)(program.to_bytes())
    assert torch.equal(again(batches[0]), step(batches[0]).detach())
