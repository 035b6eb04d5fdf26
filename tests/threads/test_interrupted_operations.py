"""Ctrl-C in operations that take long, by what they do meanwhile: go through elements, make tables, factor matrices.

How soon is measured by `benchmarks/interrupt_latency.py`. Here it is looked for seconds, or for parts of the time that
the operation takes, which hold on a machine that is shared too.
"""

import os

import pytest
from support import run_script

needs_signals = pytest.mark.skipif(os.name == "nt", reason="sends a signal to its own process")

SOON = 3.0

# A timer sends the signal, not a thread, which might have to wait for the work.
ALARMED = """
import signal, time

signal.signal(signal.SIGALRM, signal.default_int_handler)

def alarmed(run, after=0.03):
    "How long after the alarm `run` raised KeyboardInterrupt, in seconds."
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        run()
    except KeyboardInterrupt:
        return time.perf_counter() - start - after
    signal.setitimer(signal.ITIMER_REAL, 0)
    raise SystemExit("the run ended before the alarm")
"""

SLOW = {
    "sort": ("x = torch.rand(30_000_000)", "x.sort()"),
    "sorted columns": ("x = torch.rand(20_000, 1_000)", "x.argsort(0)"),
    "greatest": ("x = torch.rand(40_000_000)", "x.topk(5)"),
    "median": ("x = torch.rand(40_000_000)", "x.median()"),
    "mode": ("x = torch.rand(20_000_000)", "x.mode()"),
    "unique": ("x = torch.rand(20_000_000)", "x.unique(return_inverse=True)"),
    "unique rows": ("x = torch.randint(0, 9, (2_000_000, 5))", "x.unique(dim=0)"),
    "sums so far": ("x = torch.rand(2, 60_000_000)", "x.cumsum(1)"),
    "permutation": ("", "torch.randperm(40_000_000)"),
    "random numbers": ("", "torch.rand(30_000_000)"),
    "normal numbers": ("", "torch.randn(30_000_000)"),
    "counts": ("x = torch.full((20_000_000,), 20.0)", "torch.poisson(x)"),
    "choices": ("x = torch.ones(1000)", "torch.multinomial(x, 40_000_000, True)"),
    "image": ("x = torch.rand(1, 3, 500, 500)", "F.interpolate(x, size=(5000, 5000), mode='bicubic')"),
    "volume": ("x = torch.rand(1, 4, 100, 100, 100)", "F.interpolate(x, scale_factor=4.0)"),
    "windows": ("x = torch.rand(1, 1, 6000, 6000)", "F.max_pool2d(x, 9, 1)"),
    "list": ("x = torch.rand(20_000_000)", "x.tolist()"),
    "elements": ("x = [0.5] * 20_000_000", "torch.tensor(x)"),
    "transposed": ("x = torch.rand(20, 1000, 6000)", "x.permute(2, 0, 1).contiguous()"),
    "gathered": ("x = torch.rand(50_000_000); i = torch.arange(50_000_000).flip(0)", "x.gather(0, i)"),
    "singular values": ("x = torch.rand(500, 500)", "torch.linalg.svd(x)"),
    "eigenvalues": ("x = torch.rand(900, 900)", "torch.linalg.eig(x)"),
    "distances": ("x = torch.rand(3000, 300)", "torch.cdist(x, x, p=1.5)"),
    "coordinates": ("x = torch.ones(100_000_000, dtype=torch.uint8)", "x.nonzero()"),
    "windows by chance": (
        "x = torch.rand(1, 4, 3000, 3000)",
        "F.fractional_max_pool2d(x, 3, output_size=(2000, 2000))",
    ),
}


@needs_signals
@pytest.mark.own
@pytest.mark.parametrize("name", SLOW)
def test_what_goes_through_many_elements_is_interrupted(name):
    setup, work = SLOW[name]
    body = f"F = torch.nn.functional\n{setup}\nprint(alarmed(lambda: {work}))\n"
    assert float(run_script(ALARMED + body, timeout=300)) < SOON


TABLES = {
    "numbers counted": ("x = torch.randint(0, 9, (100_000_000,))", "x.bincount()"),
    "chosen by a mask": ("x = torch.rand(40_000_000)", "x.masked_select(x > 0.5)"),
    "chosen by numbers": ("x = torch.rand(9); i = torch.zeros(40_000_000, dtype=torch.long)", "x.take(i)"),
    "slices by numbers": (
        "x = torch.rand(9); i = torch.zeros(40_000_000, dtype=torch.long)",
        "x.index_select(0, i)",
    ),
    "coordinates": ("x = torch.ones(40_000_000, dtype=torch.uint8)", "x.nonzero()"),
    "repeated": ("x = torch.full((1_000_000,), 40)", "torch.repeat_interleave(x)"),
    "greatest of columns": ("x = torch.rand(12_000, 8000)", "x.argmax(0)"),
    "zeros of columns": ("x = torch.rand(1, 8000).expand(80_000, 8000)", "x.count_nonzero(0)"),
    "zeros and ones": ("x = torch.rand(20_000_000)", "torch.bernoulli(x)"),
    "left out": ("x = torch.rand(60_000_000)", "torch.nn.functional.dropout(x)"),
    "rows and columns": (
        "x, y = torch.arange(3 * 6000).view(6000, 1, 3, 1), torch.arange(3 * 1000).view(1, 1000, 1, 3)",
        "x + y",
    ),
    "windows by count": (
        "x = torch.rand(8, 3000, 3000)",
        "torch.nn.functional.adaptive_max_pool2d(x, 20)",
    ),
    "views of elements": ("x = torch.rand(1_000_000)", "x.unbind()"),
    "a list": ("x = torch.rand(1_000_000)", "list(x)"),
    "a file": (
        "import os\nx, file = torch.rand(80_000_000), open(os.devnull, 'wb')",
        "torch.save(x, file, _use_new_zipfile_serialization=True)",
    ),
}


def share_of_time(setup, work):
    """How late the work is interrupted at its best, beyond the time between two questions, as a part of all its time.

    What others do on the machine makes single rounds late, and what cannot be interrupted is late in every one.
    """
    body = f"""
torch.set_num_threads(1)
BETWEEN_QUESTIONS = 0.03

def run():
    {work}

def whole():
    start = time.perf_counter()
    run()
    return time.perf_counter() - start

run()
shares = []
long = whole()
while len(shares) < 8 and min(shares, default=1.0) > 0.4:
    long = min(long, whole())
    shares.append(max(alarmed(run, long / 10) - BETWEEN_QUESTIONS, 0.0) / long)
print(min(shares))
"""
    return float(run_script(f"{ALARMED}{setup}\n{body}", timeout=300))


@needs_signals
@pytest.mark.own
@pytest.mark.parametrize("name", TABLES)
def test_what_makes_tables_before_it_works_does_not_go_on_to_its_end(name):
    # Whatever the machine is busy with: what cannot be interrupted is late by nine tenths of all its time.
    assert share_of_time(*TABLES[name]) < 0.5


# A quarter of a second or more each: what is asked every 20 milliseconds.
FACTORS = {
    "inverse": ("x = torch.rand(2200, 2200)", "torch.linalg.inv(x)"),
    "triangles": ("x = torch.rand(3000, 3000)", "torch.linalg.lu_factor(x)"),
    "cholesky": ("x = torch.rand(3500, 9)\nx = x @ x.t() + torch.eye(3500)", "torch.linalg.cholesky(x)"),
    "reflections": ("x = torch.rand(1800, 1800)", "torch.linalg.qr(x)"),
    "singular values": ("x = torch.rand(1000, 1000)", "torch.linalg.svd(x)"),
    "eigenvalues": ("x = torch.rand(900, 900)", "torch.linalg.eigvals(x)"),
    "symmetric": ("x = torch.rand(1400, 1400)", "torch.linalg.eigh(x)"),
    "a triangle": ("x = torch.rand(2800, 2800)", "torch.linalg.solve_triangular(x, x, upper=True)"),
    "integers": ("x = torch.ones(1200, 1200, dtype=torch.long)", "x @ x"),
    "distinct rows": ("x = torch.randint(0, 9, (1_000_000, 5))", "x.unique(dim=0)"),
    "points": ("", "torch.quasirandom.SobolEngine(20).draw(1_000_000)"),
}


@needs_signals
@pytest.mark.own
@pytest.mark.parametrize("name", FACTORS)
def test_what_is_computed_in_one_call_is_given_up_in_the_middle(name):
    assert share_of_time(*FACTORS[name]) < 0.5


@needs_signals
@pytest.mark.own
def test_factors_that_were_given_up_leave_nothing_wrong_behind():
    body = """
x = torch.rand(900, 900) + torch.eye(900)
expected = torch.linalg.inv(x)
for _ in range(3):
    alarmed(lambda: [torch.linalg.inv(x) for _ in range(100)])
    assert torch.equal(torch.linalg.inv(x), expected)
print("same")
"""
    assert run_script(ALARMED + body, timeout=300).split() == ["same"]


@needs_signals
@pytest.mark.own
def test_gradients_of_what_is_sorted_stay_as_they_were():
    body = """
x = torch.rand(10_000_000, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
total = x.sort()[0].cumsum(0).sort(descending=True)[0].sum()
print(alarmed(total.backward))
assert torch.equal(x.grad, torch.full_like(x, 7.0))
"""
    assert float(run_script(ALARMED + body, timeout=300)) < SOON
