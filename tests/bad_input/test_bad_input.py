"""Wrong and absurd input raises an ordinary exception and leaves everything usable."""

import sys

import pytest
import rushlight as torch

F = torch.nn.functional


class Plain:
    """Something that is nothing else. Tests are named by values, so that is what it says, not where it lies."""

    def __repr__(self):
        return "plain"


WRONG = {
    "none": None,
    "text": "a",
    "bytes": b"a",
    "list": [1.0],
    "dict": {},
    "object": Plain(),
    "complex": 1j,
    "class": torch.Tensor,
    "function": len,
    "huge integer": 2**100,
}
UNARY = [
    "exp",
    "log",
    "sqrt",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "relu",
    "abs",
    "neg",
    "sum",
    "mean",
    "cumsum",
    "softmax",
    "zeros_like",
    "ones_like",
]
BINARY = ["add", "sub", "mul", "div", "pow", "maximum", "matmul", "mm", "dot", "where", "gather"]
VIEWS = [
    "view",
    "reshape",
    "transpose",
    "permute",
    "expand",
    "squeeze",
    "unsqueeze",
    "narrow",
    "select",
    "diagonal",
    "unbind",
]


def ordinary(call):
    """The call may work or may raise an ordinary exception with a text; nothing else."""
    try:
        call()
    except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError, OverflowError) as failure:
        assert str(failure)
        assert "panic" not in str(failure).lower()
        assert "unwrap" not in str(failure)


def usable():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    return x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_tensor_refuse_what_is_none(name, wrong):
    with pytest.raises(TypeError):
        getattr(torch, name)(wrong)
    ordinary(lambda: getattr(torch.ones(2), name, len)(wrong))
    assert usable()


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tensors_refuse_wrong_operands(name, wrong):
    x = torch.ones(2)
    ordinary(lambda: getattr(torch, name)(x, wrong))
    ordinary(lambda: getattr(torch, name)(wrong, x))
    ordinary(lambda: getattr(torch, name)(wrong, wrong))
    ordinary(lambda: getattr(torch, name)())
    assert usable()


@pytest.mark.parametrize(
    "wrong", [*WRONG.values(), 2**62, -(2**63), -1, 10**6, 1.5, (), (2**40, 2**40), [None]], ids=repr
)
@pytest.mark.parametrize("name", VIEWS)
def test_views_refuse_wrong_and_absurd_arguments(name, wrong):
    x = torch.ones(2, 3)
    for arguments in [
        (wrong,),
        (wrong, wrong),
        (0, wrong),
        (wrong, 0),
        (0, wrong, 1),
        (0, 0, wrong),
        (wrong, wrong, wrong),
    ]:
        ordinary(lambda arguments=arguments: getattr(x, name)(*arguments))
    assert x.tolist() == [[1.0] * 3] * 2


@pytest.mark.filterwarnings("ignore:Using a non-tuple")  # said once in a process
@pytest.mark.parametrize(
    "wrong",
    [*WRONG.values(), 2**62, -(2**63), 1.5, slice(2**62, None), slice(None, None, 2**63 - 1), (0,) * 70],
    ids=repr,
)
def test_indices_refuse_wrong_and_absurd_values(wrong):
    x = torch.ones(2, 3)
    ordinary(lambda: x[wrong])
    ordinary(lambda: x[0, wrong])
    ordinary(lambda: x[..., wrong, None])
    ordinary(lambda: x.__setitem__(0, wrong) if not isinstance(wrong, (int, float)) else None)
    assert usable()


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
@pytest.mark.parametrize(
    "size",
    [(2**62,), (2**40, 2**40), (2**31, 2**31, 2**31), (-1,), (2**63,), (10**18,), (2**62, 0, 2**62)],
    ids=str,
)
def test_absurd_sizes_are_refused(name, size):
    ordinary(lambda: getattr(torch, name)(*size))
    assert usable()


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.arange(10**18),
        lambda: torch.arange(0, 1, 1e-18),
        lambda: torch.linspace(0, 1, 10**18),
        lambda: torch.eye(2**40),
        lambda: torch.full((2**61,), 1.0),
        lambda: torch.randperm(10**17),
        lambda: torch.ones(1).expand(2**62).clone(),
        lambda: torch.ones(1).expand(2**40, 2**40),
        lambda: torch.ones(2**20, 1) @ torch.ones(1, 2**40).expand(1, 2**40),
        lambda: torch.ones(1).expand(10**17) + 1,
        lambda: torch.randint(0, 5, (10**17,)),
        lambda: torch.nn.Linear(2**40, 2**40),
    ],
    ids=range(12),
)
def test_absurd_results_are_refused(call):
    with pytest.raises((RuntimeError, MemoryError, OverflowError)) as caught:
        call()
    assert str(caught.value)
    assert usable()


def test_deeply_nested_lists_are_refused_without_exhausting_the_stack():
    data = [1.0]
    for _ in range(sys.getrecursionlimit() * 20):
        data = [data]
    with pytest.raises((ValueError, RecursionError, RuntimeError, TypeError)):
        torch.tensor(data)
    while data and isinstance(data[0], list):
        data = data[0]


def test_a_list_that_contains_itself_is_refused():
    data = []
    data.append(data)
    with pytest.raises((ValueError, RecursionError, RuntimeError, TypeError)):
        torch.tensor(data)


def test_a_sequence_that_lies_about_its_length_is_refused():
    class Liar:
        def __len__(self):
            return 5

        def __getitem__(self, place):
            if place > 1:
                raise IndexError("no more")
            return 1.0

    with pytest.raises((IndexError, ValueError, RuntimeError, TypeError)):
        torch.tensor(Liar())


def test_the_exception_of_a_hostile_object_comes_through():
    class Hostile:
        def __index__(self):
            raise KeyError("mine")

        def __len__(self):
            raise KeyError("mine")

        def __float__(self):
            raise KeyError("mine")

    for call in (
        lambda: torch.zeros(Hostile()),
        lambda: torch.ones(2)[Hostile()],
        lambda: torch.tensor([Hostile()]),
    ):
        with pytest.raises((KeyError, TypeError, RuntimeError, IndexError)):
            call()


@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:99"])
def test_another_device_is_refused(device):
    for call in (
        lambda: torch.zeros(1, device=device),
        lambda: torch.ones(1).to(device),
        lambda: torch.ones(1).cuda(),
    ):
        with pytest.raises((RuntimeError, AssertionError)):
            call()


@pytest.mark.own
def test_the_refusal_of_cuda_says_what_is_missing():
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.zeros(1, device="cuda")


def test_cuda_is_said_not_to_be_available():
    assert torch.cuda.is_available() is False


@pytest.mark.parametrize(
    "kind", [KeyError, StopIteration, MemoryError, SystemExit, GeneratorExit, RecursionError]
)
def test_any_exception_of_a_hook_comes_through_unchanged(kind):
    mine = kind("mine")

    def hook(gradient):
        raise mine

    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(hook)
    with pytest.raises(kind) as caught:
        y.sum().backward()
    assert caught.value is mine
    assert x.grad is None and usable()


def test_a_hook_that_changes_the_graph_while_it_is_walked_is_harmless():
    x = torch.ones(2, requires_grad=True)
    y = x * 2

    def hook(gradient):
        y.register_hook(lambda g: g)
        x.requires_grad_(True)
        x.grad = None
        with torch.enable_grad():
            return (x * 3).detach() * gradient

    y.register_hook(hook)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_a_hook_that_changes_its_gradient_in_place_cannot_corrupt_another_branch():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 100)
    (x + w).sum().backward()
    assert x.grad.tolist() == [100.0, 100.0] and w.grad.tolist() == [1.0, 1.0]
