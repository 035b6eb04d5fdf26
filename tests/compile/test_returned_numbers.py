"""Numbers that are taken out of tensors and only returned: they are recorded as what they come from."""

import contextlib
import sys

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own


def training(answer):
    """A step of training that returns what `answer` makes of its loss and its prediction."""

    def make():
        net = torch.nn.Linear(3, 2)
        optimizer = torch.optim.Adam(net.parameters())

        def step(x, y):
            optimizer.zero_grad()
            prediction = net(x)
            loss = torch.nn.functional.cross_entropy(prediction, y)
            loss.backward()
            optimizer.step()
            return answer(loss, prediction, y)

        return step, optimizer, net

    return make


def batches(number):
    return torch.randn(4, 3), torch.randint(0, 2, (4,))


def recorded(step):
    """Whether a function of batches is one program for all of them, and what it gives each time."""
    torch.manual_seed(0)
    compiled = torch.compile(step, backend="eager")
    found = [compiled(*batches(number)) for number in range(30)]
    return len(compiled.programs) == 1, found


def as_written(step):
    torch.manual_seed(0)
    return [step(*batches(number)) for number in range(30)]


def test_a_step_that_returns_its_loss_as_a_number_is_recorded():
    def make():
        net = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        def step(x, y):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss.item()

        return step, batches, (net, optimizer)

    compiled = run_both(make, 30)
    assert len(compiled.programs) == 1


def one(x, y):
    return (x.sum() * 2).item()


def beside_tensors(x, y):
    z = x * 2
    return z, z.sum().item(), (x > 0).sum().item()


def in_a_dictionary(x, y):
    return {"loss": x.mean().item(), "many": [x.max().item(), 3, "text"]}


def by_a_name(x, y):
    value = x.mean().item()
    right = (x[:, :2].argmax(1) == y).sum()
    return value, right.item()


def twice(x, y):
    value = x.mean().item()
    return value, value


def within_a_mode(x, y):
    with torch.no_grad():
        return x.mean().item()


@torch.no_grad()
@torch.inference_mode(False)
def decorated_by_modes(x, y):
    return x.mean().item()


def as_a_float(x, y):
    mean = x.mean()
    return float(mean)


def of_a_branch(x, y):
    return x.mean().item() if len(x) == 4 else None


def the_last_of_a_loop(x, y):
    value = 0.0
    for row in x:
        value = row.sum().item()
    return value


def before_a_write(x, y):
    total = x.sum()
    value = total.item()
    total.mul_(0)
    return value, total


def complex_and_half(x, y):
    return torch.complex(x, x).sum().item(), x.sum().half().item(), x.sum().double().item()


def with_one_dimension(x, y):
    return x[0, :1].item()


RETURNED = [
    one, beside_tensors, in_a_dictionary, by_a_name, twice, within_a_mode, decorated_by_modes, as_a_float, of_a_branch,
    the_last_of_a_loop, before_a_write, complex_and_half, with_one_dimension,
]  # fmt: skip


@pytest.mark.skipif(sys.version_info < (3, 11), reason="blocks are other instructions there")
@pytest.mark.parametrize("step", RETURNED, ids=lambda step: step.__name__)
def test_a_number_that_is_only_returned_is_recorded(step):
    is_recorded, found = recorded(step)
    assert is_recorded
    assert repr(found) == repr(as_written(step))


def in_arithmetic(x, y):
    return x.mean().item() + 1


def in_a_branch(x, y):
    value = x.mean().item()
    return value if value > 0 else 0.0


def in_a_text(x, y):
    return f"{x.mean().item():.3f}"


def in_a_call(x, y):
    return max(x.mean().item(), 0.0)


def added_up(x, y):
    total = 0.0
    for row in x:
        total += row.sum().item()
    return total


def as_a_key(x, y):
    return {x.mean().item(): 1}


def in_a_tensor(x, y):
    return x * x.mean().item()


def in_a_list_that_is_there(x, y):
    found = []
    found.append(x.mean().item())
    return found


def in_a_comprehension(x, y):
    return [row.sum().item() for row in x]


def in_a_closure(x, y):
    value = x.mean().item()
    return (lambda: value * 2)()


def where_something_failed(x, y):
    value = x.mean().item()
    with contextlib.suppress(IndexError):
        return x[9]
    return value * 2


def helped(x):
    return x.mean().item()


def in_another_function(x, y):
    return max(helped(x), helped(y.float()))


def mapped(x, y):
    return sum(map(torch.Tensor.item, x.sum(1)))


LOOKED_AT = [
    in_arithmetic, in_a_branch, in_a_text, in_a_call, added_up, as_a_key, in_a_tensor, in_a_list_that_is_there,
    in_a_comprehension, in_a_closure, where_something_failed, in_another_function, mapped,
]  # fmt: skip


@pytest.mark.parametrize("step", LOOKED_AT, ids=lambda step: step.__name__)
def test_a_number_that_is_more_than_returned_is_not_recorded(step):
    is_recorded, found = recorded(step)
    assert not is_recorded
    assert repr(found) == repr(as_written(step))


def test_whole_numbers_are_not_mistaken_for_equal_ones():
    def step(x):
        positive = x > 0
        return positive.sum().item(), len(x), positive.all().item(), True

    compiled = torch.compile(step, backend="eager")
    for _ in range(8):
        assert compiled(torch.ones(4)) == (4, 4, True, True)
    assert compiled(torch.tensor([1.0, 0.0, 2.0, 0.0])) == (2, 4, False, True)


def test_what_is_recorded_is_differentiated_by_its_caller_too():
    def step(x, w):
        y = (x * w).sin()
        return y, y.sum().item()

    compiled = torch.compile(step, backend="eager")
    for number in range(12):
        x, w = torch.full((3,), number + 1.0), torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
        y, total = compiled(x, w)
        y.sum().backward()
        expected = step(x, w)[0]
        assert total == y.sum().item() == expected.sum().item()
        assert torch.equal(w.grad, torch.autograd.grad(expected.sum(), w)[0])
    assert len(compiled.programs) == 1


def test_repeated_steps_end_at_a_number():
    count = torch.zeros(())

    @torch.compile(backend="eager")
    def step():
        count.add_(1)
        return count.item()

    assert torch.compiler.repeat(step, 500, until=lambda number: number >= 123) == 123
    assert len(step.programs) == 1
