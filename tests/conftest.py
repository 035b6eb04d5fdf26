"""One suite, two subjects: rushlight, or (RUSHLIGHT_PARITY=1) the library whose behaviour it promises."""

import gc
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from support import PARITY, alias_reference

if PARITY:
    alias_reference()
    # It reads the compiled module itself.
    collect_ignore = ["house/test_stubs.py"]


def pytest_configure(config):
    config.addinivalue_line("markers", "own: holds for rushlight only, not for the library it follows")


def known_differences():
    """Parts of test names, and why these tests are expected to fail."""
    with open(os.path.join(os.path.dirname(__file__), "known_differences.txt"), encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return [line.rsplit(" | ", 1) for line in lines]


def pytest_collection_modifyitems(items):
    # Compiling takes longest: one process does it while the others run everything else.
    items.sort(key=lambda item: item.path.name != "test_packaging.py")
    if not PARITY:
        differences = known_differences()
        for item in items:
            for part, reason in differences:
                if part in item.name:
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        return
    skip = pytest.mark.skip(reason="rushlight's own promise")
    for item in items:
        if item.get_closest_marker("own"):
            item.add_marker(skip)


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_left():
    """Operations look closer, and may round otherwise, while a tensor of somebody's own kind lives: none of
    another file's lies in a cycle when these tests begin."""
    gc.collect()


@pytest.fixture(autouse=True)
def _settings_are_put_back():
    """Every test starts with the default dtype, print options, grad mode and seed."""
    import rushlight as torch

    torch.manual_seed(0)
    yield
    torch.set_default_dtype(torch.float32)
    torch.set_printoptions(profile="default")
    torch.set_grad_enabled(True)


@pytest.fixture
def every_warning():
    """Warnings that are given once in the life of a process are given every time."""
    import rushlight as torch

    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)
