"""`utils.benchmark`: what a measurement says of itself, tables of several, and how statements are read."""

import pickle

import pytest
import rushlight as torch
from rushlight.utils.benchmark import Compare, Measurement, Timer
from rushlight.utils.benchmark.utils.common import TaskSpec, select_unit, trim_sigfig
from support import raises


def measured(times, number=10, **task):
    return Measurement(
        number, times, TaskSpec(**{"stmt": "f(x)", "setup": "pass", "description": "d", **task})
    )


def said(one):
    return repr(one).split("\n")[1:]


def test_a_measurement_says_how_far_apart_its_runs_are():
    one = measured([1e-4, 1.1e-4, 1.2e-4, 1.3e-4, 1.2e-4])
    assert (one.median, one.significant_figures, one.has_warnings) == (1.2e-5, 1, False)
    assert said(one) == [
        "f(x)",
        "d",
        "  Median: 12.00 us",
        "  IQR:    1.00 us (11.00 to 12.00)",
        "  5 measurements, 10 runs per measurement, 1 thread",
    ]
    assert said(measured([1e-4], description=None)) == [
        "f(x)",
        "  10.00 us",
        "  1 measurement, 10 runs , 1 thread",
    ]
    wide = measured(
        [1e-4, 1.9e-4, 1.2e-4, 3.3e-4, 1.2e-4], label="L", sub_label="S", num_threads=2, setup="x=1"
    )
    assert said(wide) == [
        "L: S",
        "d",
        "setup: x=1",
        "  Median: 12.00 us",
        "  IQR:    7.00 us (12.00 to 19.00)",
        "  5 measurements, 10 runs per measurement, 2 threads",
        "  WARNING: Interquartile range is 58.3% of the median measurement.",
        "           This suggests significant environmental influence.",
    ]
    assert pickle.loads(pickle.dumps(one)).median == one.median
    assert said(measured([1e-4], stmt="a\nb", sub_label="s"))[:3] == ["stmt: (s)", "  a", "  b"]


def test_a_table_has_a_row_for_each_statement_and_a_column_for_each_description():
    found = [
        measured(
            [1e-4 * (row + 1) * (column + 1) * threads] * 4,
            sub_label=f"op{row}",
            num_threads=threads,
            **names,
        )
        for row in range(3)
        for column in range(2)
        for threads in (1, 4)
        for names in [{"label": "Mat", "description": f"n={column}"}]
    ]
    table = Compare(found)
    assert str(table) == (
        "[----------- Mat -----------]\n"
        "           |   n=0   |   n=1 \n"
        "1 threads: ------------------\n"
        "      op0  |   10.0  |   20.0\n"
        "      op1  |   20.0  |   40.0\n"
        "      op2  |   30.0  |   60.0\n"
        "4 threads: ------------------\n"
        "      op0  |   40.0  |   80.0\n"
        "      op1  |   80.0  |  160.0\n"
        "      op2  |  120.0  |  240.0\n"
        "\nTimes are in microseconds (us).\n"
    )
    table.trim_significant_figures()
    table.colorize(rowwise=True)
    assert str(table).split("\n")[3] == (
        "      op0  |  \x1b[92m\x1b[1m 10\x1b[0m\x1b[0m  |  \x1b[2m\x1b[91m 20\x1b[0m\x1b[0m"
    )


def test_a_table_says_which_measurements_vary_and_where_they_ran():
    wide = measured([1e-4, 1.9e-4, 1.2e-4, 3.3e-4, 1.2e-4], sub_label="op9", description="n=0")
    table = Compare([measured([1e-4] * 4, sub_label="op0", description="n=1"), wide])
    table.highlight_warnings()
    assert str(table) == (
        "[----------------  ---------------]\n"
        "           |  n=1   |      n=0     \n"
        "1 threads: ------------------------\n"
        "      op0  |  10.0  |              \n"
        "      op9  |        |  12.0 (! 58%)\n"
        "\nTimes are in microseconds (us).\n"
        "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"
    )
    places = Compare(
        [measured([1e-4] * 3, sub_label=f"r{row}", env=env) for row in (1, 2) for env in ("A", "Bcd")]
    )
    assert str(places).split("\n")[3:7] == [
        "  (A)    r1  |  10.0",
        "         r2  |  10.0",
        "  (Bcd)  r1  |  10.0",
        "         r2  |  10.0",
    ]


def test_statements_stand_at_any_margin_and_know_the_package():
    timer = Timer("y = torch.add(x, 1)", "\n        x = torch.ones(2)\n        z = 1\n")
    found = timer.timeit(3)
    assert found.setup == "x = torch.ones(2)\nz = 1" and (found.number_per_run, len(found.raw_times)) == (
        3,
        1,
    )
    assert timer.blocked_autorange(min_run_time=0.01).number_per_run > 10
    assert timer.adaptive_autorange(min_run_time=0.001, max_run_time=0.05).raw_times
    assert torch.utils.benchmark.timer is torch.utils.benchmark.utils.timer.timer


def test_units_and_digits():
    units = [select_unit(time)[0] for time in (3e-9, 5e-6, 2e-3, 1.0, 400.0)]
    assert units == ["ns", "us", "ms", "s", "s"] and trim_sigfig(123.456, 2) == 120.0


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (
            lambda: Timer("x", global_setup="a"),
            ValueError,
            "global_setup is C++ only, got `a`. Most likely this code can simply be moved to `setup`.",
        ),
        (lambda: Timer(lambda: 1), ValueError, "Currently only a `str` stmt is supported."),
        (lambda: Timer("x", language="rust"), ValueError, "Invalid language `rust`."),
        (lambda: Timer("x").repeat(), NotImplementedError, "See `Timer.blocked_autorange.`"),
        (
            lambda: Compare([1]),
            ValueError,
            "Expected an instance of `Measurement`, got <class 'int'> instead.",
        ),
    ],
)
def test_what_is_refused(call, kind, text):
    with raises(kind, text):
        call()
