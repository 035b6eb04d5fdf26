"""The ways in which a program is told that torch is rushlight, and what it sees then."""

import os
import subprocess
import sys
import textwrap

import pytest
from support import run_script

pytestmark = pytest.mark.own

SEEN = """
    import sys, torch, rushlight
    import torch.nn.functional as F
    from torch import nn
    assert torch is rushlight and nn is rushlight.nn and F is rushlight.nn.functional
"""


def run(*command, code=0, folder=None, **variables):
    """Run Python in a process of its own; what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "RUSHLIGHT_AS_TORCH"}
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env=environment | variables,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def run_as_torch(source):
    return run("-m", "rushlight", "-c", textwrap.dedent(SEEN) + textwrap.dedent(source))


def program(folder, source, name="program.py"):
    (folder / name).write_text(textwrap.dedent(source), "utf-8")
    return str(folder / name)


def test_a_program_runs_as_python_runs_it(tmp_path):
    program(tmp_path, "value = 3", "beside.py")
    path = program(tmp_path, SEEN + "    import beside; print(__name__, __file__, sys.argv, beside.value)")
    assert run("-m", "rushlight", path, "-x", "1") == f"__main__ {path} {[path, '-x', '1']} 3\n"
    assert run("-m", "rushlight", program(tmp_path, "raise SystemExit(3)", "ends.py"), code=3) == ""


def test_annotations_of_a_program_are_what_it_says(tmp_path):
    source = "def f(x: int) -> float: ...\nprint(f.__annotations__)"
    shown = "{'x': <class 'int'>, 'return': <class 'float'>}\n"
    assert run("-m", "rushlight", program(tmp_path, source)) == shown
    assert run("-m", "rushlight", "-c", source) == shown


def test_modules_and_code_run_too(tmp_path):
    path = program(tmp_path, SEEN + "    print(__name__, __spec__.name, sys.argv)", "found.py")
    shown = f"__main__ found {[path, 'a']}\n"
    assert run("-m", "rushlight", "-m", "found", "a", folder=tmp_path) == shown
    assert run("-m", "rushlight", "-mfound", "a", folder=tmp_path) == shown
    code = "import sys, torch; print(__name__, sys.argv)"
    assert run("-m", "rushlight", "-c", code, "a") == "__main__ ['-c', 'a']\n"
    assert run("-m", "rushlight", "-m", "torch.version") == ""


@pytest.mark.parametrize("given", [("-x", "a"), ("-m",), ("-c",)])
def test_what_is_not_understood_is_answered_with_the_usage(given):
    assert run("-m", "rushlight", *given, code=1).startswith("usage: python -m rushlight")


def test_a_program_that_is_not_there_is_named():
    shown = run("-m", "rushlight", "nowhere.py", code=1)
    assert shown == "python -m rushlight: can't open file 'nowhere.py': No such file or directory\n"


def test_the_word_may_stand_at_the_top_of_a_program_and_be_said_again():
    code = "import rushlight; rushlight.as_torch(); rushlight.as_torch()\n"
    assert run("-c", code + textwrap.dedent(SEEN) + "print(torch.__name__)") == "torch\n"


def test_the_environment_may_say_it():
    code = "import rushlight, sys; print('torch' in sys.modules)"
    assert run("-c", code, RUSHLIGHT_AS_TORCH="1") == "True\n"
    assert run("-c", code, RUSHLIGHT_AS_TORCH="0") == "False\n"
    assert run("-c", code) == "False\n"


def test_pytest_may_say_it(tmp_path):
    program(tmp_path, "import torch, rushlight\nassert torch is rushlight", "conftest.py")
    path = program(tmp_path, "import torch\ndef test(): torch.ones(1)", "test_it.py")
    quiet = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, path)
    assert "1 passed" in run("-m", "pytest", "-p", "rushlight.as_torch", *quiet)


def test_importing_the_module_of_the_word_does_not_say_it():
    code = "import sys, rushlight.as_torch; print('torch' in sys.modules, callable(rushlight.as_torch))"
    assert run("-c", code) == "False True\n"


def test_torch_that_is_there_already_is_an_error_that_says_what_to_do():
    code = """
        import sys, types
        sys.modules["torch"] = types.ModuleType("torch")
        import rushlight
        try:
            rushlight.as_torch()
        except ImportError as failure:
            print(failure)
    """
    assert run("-c", textwrap.dedent(code)) == (
        "torch has been imported already, from memory: rushlight can take its place only before that. Call "
        "rushlight.as_torch() first, or start the program with `python -m rushlight`.\n"
    )


def test_every_module_has_both_names_and_is_loaded_once():
    shown = run_as_torch("""
        import torch.optim.lr_scheduler, torch.nn.modules.linear, torch.utils.data, torch.func.vmap, torch.ops
        from torch.utils.data._utils.collate import default_collate
        own = {name for name in sys.modules if name.split(".")[0] == "rushlight"}
        print([name for name in own if sys.modules["torch" + name[9:]] is not sys.modules[name]])
        theirs = {name for name in sys.modules if name.split(".")[0] == "torch"}
        print([name for name in theirs if sys.modules["rushlight" + name[5:]] is not sys.modules[name]])
        print(torch.nn.modules.linear.Linear is nn.Linear, callable(torch.func.vmap), len(own) > 50)
    """)
    assert shown == "[]\n[]\nTrue True True\n"


def test_what_is_asked_for_late_loads_late():
    code = "import torch, sys; print([name for name in ('torch.nn', 'torch.optim') if name in sys.modules])"
    assert run("-m", "rushlight", "-c", code) == "[]\n"


def test_classes_functions_and_modules_say_torch():
    shown = run_as_torch("""
        from torch.optim.lr_scheduler import StepLR
        x = torch.ones(1)
        for kind in (type(x), torch.Size, torch.dtype, torch.device, nn.Parameter, nn.Linear, nn.LSTM, StepLR):
            print(kind)
        print(torch.relu.__module__, F.relu.__module__, torch.einsum.__module__, torch.save.__module__)
        print(torch.__name__, nn.__name__, nn.modules.linear.__name__)
        try:
            torch.no_such_name
        except AttributeError as failure:
            print(failure)
        try:
            import torch.no_such_module
        except ImportError as failure:
            print(failure)
    """)
    classes = (
        "torch.Tensor torch.Size torch.dtype torch.device torch.nn.parameter.Parameter "
        "torch.nn.modules.linear.Linear torch.nn.modules.rnn.LSTM torch.optim.lr_scheduler.StepLR"
    )
    assert shown.splitlines() == [
        *(f"<class '{name}'>" for name in classes.split()),
        "torch torch.nn.functional torch.functional torch.serialization",
        "torch torch.nn torch.nn.modules.linear",
        "module 'torch' has no attribute 'no_such_name'",
        "No module named 'torch.no_such_module'",
    ]


def test_without_the_word_everything_says_rushlight():
    code = "import rushlight as t; print(t.nn.Linear, type(t.ones(1)), t.__version__ == t._rushlight.__version__)"
    assert run("-c", code) == (
        "<class 'rushlight.nn.modules.layers.Linear'> <class 'rushlight.Tensor'> True\n"
    )


def test_the_version_is_torchs_and_says_whose_it_is():
    shown = run_as_torch("""
        from importlib.metadata import packages_distributions, version
        from importlib.util import find_spec
        print(torch.__version__, version("torch"), torch.version.__version__, torch.__version__ >= "2.13")
        print(packages_distributions()["torch"], find_spec("torch") is not None, type(torch.__version__))
    """)
    assert shown.splitlines() == [
        " ".join(["2.13.0+rushlight"] * 3) + " True",
        "['torch'] True <class 'torch.torch_version.TorchVersion'>",
    ]


def test_functorch_is_found():
    shown = run_as_torch("""
        import functorch, warnings
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            print(functorch.vmap(torch.neg)(torch.ones(2)).tolist())
        print(said[0].category.__name__, "Please use `torch.vmap` instead" in str(said[0].message))
    """)
    assert shown.splitlines() == ["[-1.0, -1.0]", "FutureWarning True"]


def test_hints_of_classes_are_found_where_the_classes_say_that_they_are():
    shown = run_as_torch("""
        import typing
        print(typing.get_type_hints(nn.LazyLinear)["bias"], typing.get_type_hints(nn.LSTM)["training"])
    """)
    assert shown == "typing.Any <class 'bool'>\n"


PICKLED = """
    import pickle

    def twice(x):
        return 2 * x

    def main():
        import multiprocessing, torch
        from torch.utils.data import DataLoader, TensorDataset
        for way in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(way).Pool(1) as pool:
                print(way, pool.map(twice, [torch.ones(2)]))
        loader = DataLoader(TensorDataset(torch.arange(2.0)), num_workers=1)
        print([batch for [batch] in loader])

    if __name__ == "__main__":
        main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes are not forked there")
def test_processes_that_a_program_starts_inherit_it(tmp_path):
    path = program(tmp_path, "import torch\n" + textwrap.dedent(PICKLED))
    lines = [f"{way} [tensor([2., 2.])]" for way in ("fork", "spawn", "forkserver")]
    assert run("-m", "rushlight", path).splitlines() == [*lines, "[tensor([0.]), tensor([1.])]"]
    path = program(
        tmp_path, "import rushlight; rushlight.as_torch()\nimport torch\n" + textwrap.dedent(PICKLED)
    )
    assert run(path).splitlines() == [*lines, "[tensor([0.]), tensor([1.])]"]


def test_programs_that_a_program_starts_inherit_it(tmp_path):
    other = program(tmp_path, "import torch, functorch, rushlight; print(torch is rushlight)", "other.py")
    path = program(
        tmp_path, f"import subprocess, sys; subprocess.run([sys.executable, {other!r}], check=True)"
    )
    assert run("-m", "rushlight", path) == "True\n"


def test_the_package_keeps_its_name_when_it_is_found_within_itself():
    source = (
        "import rushlight; rushlight.as_torch(); import torch; torch.torch; from torch import torch as same; "
        "print(same is torch, torch.__name__, __import__('torch').__name__)"
    )
    assert run_script(source) == "True torch torch\n"


def test_a_program_that_puts_the_package_in_torchs_place_by_hand_loads_nothing_twice(tmp_path):
    source = """
        import sys, rushlight
        sys.modules["torch"] = rushlight
        import torch, torch.nn.functional as F, torch.utils.data
        from torch import nn
        assert nn is rushlight.nn and F is rushlight.nn.functional
        twice = [name for name, module in sys.modules.items()
                 if name.startswith("torch") and sys.modules.get("rushlight" + name[5:]) is not module]
        torch.save(nn.Linear(1, 1), "module.pt")
        again = torch.load("module.pt", weights_only=False)
        print(twice, nn.Linear.__module__, type(again).__module__)
    """
    path = program(tmp_path, source)
    assert run(path, folder=tmp_path) == "[] torch.nn.modules.linear torch.nn.modules.linear\n"
