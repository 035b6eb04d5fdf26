"""A process that runs one program after the other and judges what comes of each.

    python worker.py TARGET SEED FIRST COUNT STEP NOTES [--answers]

The number of the program that runs, and its source, stand in the file NOTES, for whoever finds the process dead.
What is found is a line of JSON on standard output; what programs print goes nowhere. With `--answers`, which may be
run by a Python that has the reference library instead, a line is what came of a program.
"""

import faulthandler
import gc
import importlib
import json
import mmap
import os
import random
import resource
import signal
import struct
import sys
import traceback
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from values import used

# Seconds of work after which a program is interrupted: the alarm of the system is Ctrl-C by another name. What others
# do on the machine meanwhile is not counted.
PATIENCE = 0.5
# Seconds of work after which a program that is not interrupted counts as hanging.
HANGS = 20
MEMORY = 3 << 29
NOTES_SIZE = 1 << 16
# Words of an engine that has met what it did not expect, and classes that say as much.
SHAMEFUL = ("INTERNAL ASSERT", "panicked", "unreachable code", "BorrowMut", "`None` value")
UNEXPECTED = (SystemError, NameError, RecursionError, GeneratorExit)


class TooLong(BaseException):
    """The program was interrupted."""


class Wrong(Exception):
    """The answer is not what the target knows it to be."""


ARMED = [False]


def interrupt(*_):
    if ARMED[0]:
        raise TooLong


def script(source):
    """The program with the lines that define its names."""
    return used(source) + source


def verdict(source, names):
    """What is wrong with what came of a program: a kind and words, or nothing; and what it raised."""
    try:
        code = compile(source, "<program>", "exec")
    except (SyntaxError, ValueError):
        return None, None
    try:
        failure = outcome_of(code, names)
    except TooLong as late:
        # The alarm rang while the outcome was put away.
        failure = late
    ARMED[0] = False
    signal.setitimer(signal.ITIMER_PROF, 0)
    return (None if isinstance(failure, TooLong) else judged(failure)), failure


def outcome_of(code, names):
    """What a program raised."""
    ARMED[0] = True
    signal.setitimer(signal.ITIMER_PROF, PATIENCE, 0.5)
    try:
        exec(code, names)
    except BaseException as raised:
        ARMED[0] = False
        return raised
    ARMED[0] = False
    return None


def judged(failure):
    if failure is None:
        return None
    name, words = type(failure).__name__, str(failure)
    last = traceback.extract_tb(failure.__traceback__)[-1].filename
    if isinstance(failure, Wrong):
        return "wrong", words
    if not isinstance(failure, Exception) or (isinstance(failure, UNEXPECTED) and last != "<program>"):
        return name, words
    if any(word in words for word in SHAMEFUL):
        return "words", f"{name}: {words}"
    return None


def restored(torch):
    """What a program may have changed for the next."""
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)
    gc.enable()
    warnings.simplefilter("ignore")


def settled(answers):
    """Where reports go: what programs say goes to nowhere, or, from panics, to a file that is looked at."""
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    if not answers:
        said = os.memfd_create("said")
        os.dup2(said, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, interrupt)
    return reports


def limit():
    """No more memory than this beyond what the process has by now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def said():
    """What was written to standard error since the last time."""
    size = os.lseek(2, 0, os.SEEK_END)
    if size == 0:
        return ""
    os.lseek(2, 0, os.SEEK_SET)
    text = os.read(2, min(size, 4000)).decode(errors="replace")
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)
    return text


def note(notes, number, source):
    encoded = source.encode()[: NOTES_SIZE - 12]
    notes[:12] = struct.pack("<qi", number, len(encoded))
    notes[12 : 12 + len(encoded)] = encoded


def noted(path):
    """The number and the source that stand in a file of notes."""
    return noted_in(Path(path).read_bytes())


def noted_in(content):
    number, size = struct.unpack("<qi", content[:12])
    return number, content[12 : 12 + size].decode(errors="replace")


def in_children(numbers, notes):
    """The numbers in a child of this process, and after one that ends it those that are left in another.

    The library is loaded once: to do so takes longer than a thousand programs.
    """
    while numbers:
        child = os.fork()
        if child == 0:
            yield from numbers
            return
        if os.waitpid(child, 0)[1] == 0:
            os._exit(0)
        last = noted_in(notes[:])[0]
        numbers = numbers[numbers.index(last) + 1 if last in numbers else 1 :]
    os._exit(0)


def run_once(source):
    """Runs the one program that is given, for `smaller`: prints what is wrong with it."""
    reports = settled(False)
    # Time that others leave this process does not count: the system ends it when it has used so much.
    resource.setrlimit(resource.RLIMIT_CPU, (HANGS, HANGS + 1))
    import rushlight as torch

    limit()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, _ = verdict(script(source), {"torch": torch, "Wrong": Wrong})
    text = said()
    if found is None and "panicked" in text:
        found = "panic", text
    print(json.dumps(found), file=reports)


def main():
    if sys.argv[1] == "--once":
        return run_once(sys.stdin.read())
    target, seed, first, count, step, path = sys.argv[1:7]
    answers = "--answers" in sys.argv
    reports = settled(answers)
    torch = importlib.import_module("torch" if os.environ.get("RUSHLIGHT_PARITY") == "1" else "rushlight")
    limit()
    if answers:
        from beside import answer
    if target.endswith(".json"):
        # Programs as somebody else has made them, who knows other functions.
        source_of = json.loads(Path(target).read_text()).__getitem__
    else:
        program = importlib.import_module(f"targets.{target}").program

        def source_of(number):
            return program(random.Random(f"{target}/{seed}/{number}"))

    with open(path, "r+b") as file:
        notes = mmap.mmap(file.fileno(), NOTES_SIZE)

    def tell(_, raised, trace):
        where = traceback.extract_tb(trace)[-1]
        print(
            json.dumps([noted_in(notes[:])[0], "worker", f"{raised!r}, {where.name}:{where.lineno}"]),
            file=reports,
        )

    # An exception that is not the program's: what a program has left behind.
    sys.excepthook = tell
    slow, numbers = 0, range(int(first), int(first) + int(count) * int(step), int(step))
    for number in in_children(numbers, notes) if answers else numbers:
        source = source_of(number)
        note(notes, number, source)
        restored(torch)
        if answers:
            # The reference library hears no alarm while it computes.
            faulthandler.dump_traceback_later(10, exit=True)
        names = {"torch": torch, "Wrong": Wrong}
        source = script(source)
        found, failure = verdict(source, names)
        slow += isinstance(failure, TooLong)
        if answers:
            faulthandler.cancel_dump_traceback_later()
            print(json.dumps([number, answer(names.get("result"), failure)]), file=reports)
            continue
        text = said()
        if found is None and "panicked" in text:
            found = "panic", text
        if found:
            print(json.dumps([number, *found]), file=reports)
    print(json.dumps(["end", slow]), file=reports)
    # What runs at the end of a process is not looked at here.
    reports.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
