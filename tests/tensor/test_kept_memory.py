"""Large blocks that were freed are kept for their next use, within a limit."""

import gc
import os
import subprocess
import sys
import threading

import pytest
import rushlight as torch

pytestmark = pytest.mark.own

MEGABYTE = 1 << 20


def run(code, **environment):
    """Run code in a process of its own, with the environment that it needs."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_a_freed_block_is_used_again():
    torch.memory.trim()
    x = torch.empty(MEGABYTE)
    address = x.data_ptr()
    assert torch.memory.idle_bytes() == 0
    del x
    assert torch.memory.idle_bytes() >= 4 * MEGABYTE
    y = torch.empty(MEGABYTE - 1)
    assert y.data_ptr() == address
    assert torch.memory.idle_bytes() == 0


def test_memory_in_use_is_counted_by_what_was_asked_for():
    before = torch.memory.allocated_bytes()
    x = torch.empty(MEGABYTE + 1)
    assert 0 <= torch.memory.allocated_bytes() - before - x.nbytes < 256
    del x
    assert torch.memory.allocated_bytes() == before


def test_what_is_kept_can_be_given_back():
    torch.empty(MEGABYTE)
    assert torch.memory.idle_bytes() > 0
    torch.memory.trim()
    assert torch.memory.idle_bytes() == 0


@pytest.mark.parametrize("count", [1, 100, 40_000, MEGABYTE])
def test_zeros_are_zeros_in_used_memory(count):
    x = torch.full((count,), 7.0)
    del x
    assert not torch.zeros(count).any()


def test_what_is_kept_stays_below_the_limit():
    code = """
import rushlight as torch
tensors = [torch.empty((1 << 18) - 64) for _ in range(40)]
del tensors
print(torch.memory.idle_bytes() >> 20)
"""
    assert run(code, RUSHLIGHT_CACHE_MB="8") == ["8"]
    assert run(code, RUSHLIGHT_CACHE_MB="0") == ["0"]
    assert run(code, RUSHLIGHT_CACHE_MB="many") == ["40"]


def test_large_tensors_are_aligned_to_huge_pages():
    assert torch.empty(MEGABYTE).data_ptr() % (2 * MEGABYTE) == 64


def test_threads_take_and_give_blocks_at_once():
    wrong = []

    def work(value):
        for step in range(60):
            x = torch.full((40_000 + step * 997,), value)
            y = x + value
            if not bool((y == 2 * value).all()):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(number),)) for number in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_a_thread_kept_goes_with_it():
    def work():
        return [torch.ones(2, requires_grad=True) * 2 for _ in range(1000)]

    gc.collect()  # What others have left is not to go meanwhile.
    before = torch.memory.allocated_bytes()
    for _ in range(50):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert torch.memory.allocated_bytes() == before


def test_a_tensor_larger_than_all_memory_is_refused_and_nothing_else():
    x = torch.ones(MEGABYTE)
    del x
    with pytest.raises(RuntimeError, match="you tried to allocate 18014398509481984 bytes"):
        torch.empty(1 << 52)
    assert float(torch.ones(3).sum()) == 3.0
