"""Processes that run one function each."""

import os
import signal

import pytest
import rushlight as torch

mp = torch.multiprocessing


def write(place, folder):
    with open(f"{folder}/{place}", "w") as file:
        file.write(str(torch.ones(2).sum().item() + place))


def fail(place):
    if place == 1:
        raise ValueError("one fails")
    signal.pause()


def end(place):
    os._exit(3) if place == 0 else signal.pause()


def be_killed(place):
    os.kill(os.getpid(), signal.SIGKILL)


def test_every_process_calls_the_function(tmp_path):
    assert mp.start_processes(write, (str(tmp_path),), nprocs=2, start_method="fork") is None
    assert [(tmp_path / name).read_text() for name in "01"] == ["2.0", "3.0"]


def test_processes_are_waited_for_later(tmp_path):
    started = mp.start_processes(write, (str(tmp_path),), nprocs=2, join=False, start_method="fork")
    assert len(started.pids()) == 2
    while not started.join():
        pass
    assert sorted(one.name for one in tmp_path.iterdir()) == ["0", "1"]


def test_one_that_fails_ends_the_others():
    with pytest.raises(
        mp.ProcessRaisedException, match="Process 1 terminated with the following error"
    ) as caught:
        mp.start_processes(fail, nprocs=2, start_method="fork")
    assert "ValueError: one fails" in str(caught.value) and caught.value.error_index == 1


@pytest.mark.parametrize(
    ("function", "text", "code"),
    [
        (end, "process 0 terminated with exit code 3", 3),
        (be_killed, "process 0 terminated with signal SIGKILL", -9),
    ],
)
def test_one_that_ends_otherwise_says_how(function, text, code):
    with pytest.raises(mp.ProcessExitedException, match=text) as caught:
        mp.start_processes(function, nprocs=1, start_method="fork")
    assert caught.value.exit_code == code
