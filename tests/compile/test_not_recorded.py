"""What cannot be run again without Python runs as it is written, and is told of."""

import random
import time

import pytest
import rushlight as torch

pytestmark = pytest.mark.own

SEEN = []
COUNT = 0


def not_recorded(function, *arguments):
    """Call a compiled function some times; return why it was not recorded."""
    compiled = torch.compile(function, backend="eager")
    for _ in range(8):
        compiled(*arguments)
    assert not compiled.programs
    return compiled.reason


def test_a_print_is_printed_each_time(capsys):
    assert "print()" in not_recorded(lambda x: print("here") or x * 2, torch.ones(2))
    assert capsys.readouterr().out.count("here") == 8


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("item", lambda x: x.sum().item()),
        ("item", lambda x: bool(x.sum())),
        ("tolist()", lambda x: x.tolist()),
        ("numpy()", lambda x: len(x.numpy())),
        ("text", lambda x: len(repr(x))),
        ("data_ptr()", lambda x: x.data_ptr()),
    ],
)
def test_numbers_that_leave(name, read):
    reason = not_recorded(lambda x: (read(x), x * 2)[1], torch.ones(2))
    assert name in reason and "test_not_recorded.py" in reason


def test_a_tensor_that_is_shown_operations_stands_in_the_way():
    class Shown(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    alive = torch.Tensor._make_wrapper_subclass(Shown, (2,))
    assert "shown operations" in not_recorded(lambda x: x * 2, torch.ones(2))
    assert alive.shape == (2,)


def test_elements_that_are_appended_to_a_list_are_appended_each_time():
    SEEN.clear()

    def append(x):
        SEEN.append(x)
        return x * len(SEEN)

    assert "a list" in not_recorded(append, torch.ones(2))
    assert len(SEEN) == 8


def test_calls_that_are_counted_are_counted():
    global COUNT
    COUNT = 0

    def count(x):
        global COUNT
        COUNT += 1
        return x * COUNT

    assert "changes what it depends on" in not_recorded(count, torch.ones(2))
    assert COUNT == 8


def test_an_attribute_that_is_set_is_set_each_time():
    class Counter:
        calls = 0

        def __call__(self, x):
            self.calls += 1
            return x * self.calls

    counter = Counter()
    not_recorded(counter, torch.ones(2))
    assert counter.calls == 8


@pytest.mark.parametrize("draw", [random.random, time.perf_counter], ids=["random", "time"])
def test_numbers_from_elsewhere_are_asked_for_each_time(draw):
    assert "is called at" in not_recorded(lambda x: x * draw(), torch.ones(2))


def test_all_or_nothing_is_an_error():
    compiled = torch.compile(lambda x: x * x.sum().item(), backend="eager", fullgraph=True)
    with pytest.raises(
        RuntimeError, match=r"cannot be recorded as a whole: numbers leave by item at .*test_not"
    ):
        for _ in range(4):
            compiled(torch.ones(2))


def test_an_exception_is_raised_where_it_is():
    def fail(x):
        if x.shape[0] > 2:
            raise ValueError("too long")
        return x * 2

    compiled = torch.compile(fail, backend="eager")
    for _ in range(8):
        compiled(torch.ones(2))
        with pytest.raises(ValueError, match="too long"):
            compiled(torch.ones(3))
    assert compiled.programs


def test_a_function_is_explained():
    w = torch.ones(2)
    told = torch.compiler.explain(lambda x: (x * w + 1).sum())(torch.ones(2))
    assert told.is_recorded and "3 operations" in str(told)
    told = torch.compiler.explain(lambda x: x * x.max().item())(torch.ones(2))
    assert not told.is_recorded and "numbers leave by item" in str(told)


def test_what_was_recorded_goes_with_the_function():
    import gc
    import weakref

    x = torch.ones(3)
    compiled = torch.compile(lambda y: x + y, backend="eager")
    for _ in range(8):
        compiled(torch.ones(3))
    assert compiled.programs
    gone = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert gone() is None


def test_threads_call_one_function():
    import threading

    compiled = torch.compile(lambda x: (x * 2).cumsum(0), backend="eager")
    wrong = []

    def call(number):
        for _ in range(50):
            x = torch.full((4,), float(number))
            if compiled(x).tolist() != [2.0 * number * n for n in (1, 2, 3, 4)]:
                wrong.append(number)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_program_is_drawn_for_notebooks():
    told = torch.compiler.explain(lambda x: (x.tanh() * 2 + 1).sum())(torch.ones(20_000))
    drawn = told._repr_html_()
    assert "<svg" in drawn and "Tanh" in drawn and 'class="tiles"' in drawn
    assert "<svg" not in torch.compiler.explain(lambda x: x.sum().item() + 1)(torch.ones(2))._repr_html_()


def test_new_recordings_are_written_to_standard_error_if_that_is_asked_for(capsys):
    torch._logging.set_logs(recompiles=True)
    try:
        not_recorded(lambda x: x * x.sum().item(), torch.ones(2))
    finally:
        torch._logging.set_logs()
    assert "is not recorded: numbers leave by item" in capsys.readouterr().err
    not_recorded(lambda x: x * x.sum().item(), torch.ones(2))
    assert not capsys.readouterr().err


def test_new_recordings_are_logged(caplog):
    scale = [2.0]
    compiled = torch.compile(lambda x: x * scale[0], backend="eager")
    with caplog.at_level("INFO", "rushlight.compiler"):
        for number in range(12):
            scale[0] = 2.0 if number < 6 else 3.0
            compiled(torch.ones(2))
    assert "is recorded anew: a list of 1 elements has other ones" in caplog.text
    caplog.clear()
    with caplog.at_level("INFO", "rushlight.compiler"):
        not_recorded(lambda x: x * x.sum().item(), torch.ones(2))
    assert "is not recorded: numbers leave by item" in caplog.text


def test_a_list_that_is_returned_is_the_one_that_it_is():
    kept, table = [torch.ones(2)], {"x": 1}

    def twice(x):
        both = [x * 2]
        return both, both

    assert "is somewhere else" in not_recorded(lambda x: (x * 2, kept)[1], torch.ones(2))
    assert "is somewhere else" in not_recorded(lambda x, given: (x * 2, given), torch.ones(2), table)
    assert "is somewhere else" in not_recorded(twice, torch.ones(2))
