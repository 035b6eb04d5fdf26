"""Functions that are mapped, and other threads: who meets a batched tensor computes with all of its samples."""

import threading

import pytest
import rushlight as torch

pytestmark = pytest.mark.own


def elsewhere(function):
    """What `function` answers on a thread of its own."""
    answers = []

    def run():
        try:
            answers.append(function())
        except RuntimeError as error:
            answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return answers[0]


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x * 2,
        lambda x: x.sum(),
        lambda x: x.sin().exp(),
        lambda x: x[0] + 1,
        lambda x: torch.stack([x, -x]),
        lambda x: x.clone().add_(x),
        lambda x: torch.matmul(x, x),
    ],
)
def test_another_thread_computes_with_every_sample(operation):
    x = torch.arange(6.0).reshape(3, 2)
    expected = torch.vmap(operation)(x)
    assert torch.equal(torch.vmap(lambda x: elsewhere(lambda: operation(x)))(x), expected)


def test_another_thread_maps_and_computes_for_itself_meanwhile():
    def inner():
        plain = torch.ones(3) + torch.arange(3.0)
        return torch.stack([plain, torch.vmap(lambda y: y * y)(torch.arange(3.0))])

    def mapped(x):
        found = elsewhere(inner)
        assert not torch._C._functorch.is_batchedtensor(found)
        return x + found.sum()

    assert torch.vmap(mapped)(torch.zeros(2)).tolist() == [11.0, 11.0]


def test_a_batched_tensor_that_escaped_is_refused_on_every_thread():
    kept = []
    torch.vmap(lambda x: kept.append(x) or x)(torch.ones(3))
    assert "may have escaped" in str(elsewhere(lambda: kept[0] + 1))
    with pytest.raises(RuntimeError, match="may have escaped"):
        kept[0] + 1
    kept.clear()
    assert (torch.ones(2) + 1).tolist() == [2.0, 2.0]
