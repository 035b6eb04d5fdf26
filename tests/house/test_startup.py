"""What `import rushlight` brings in at once, and what it finds when it is asked for."""

import subprocess
import sys

import pytest
import rushlight as torch
from support import run_script

SLOW = {"collections", "contextlib", "numpy", "re", "threading", "typing"}
LATE = {"Function", "forward_ad", "function", "functional", "graph"}


def modules_after(code):
    command = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.own
def test_import_loads_nothing_that_is_slow_to_load():
    loaded = modules_after("import rushlight") - modules_after("pass")
    assert "rushlight._rushlight" in loaded
    assert not loaded & SLOW
    assert not [name for name in loaded if name.startswith(("rushlight.nn", "rushlight.utils"))]


@pytest.mark.own
def test_no_class_of_the_package_wants_to_see_calls_before_somebody_asks_for_it():
    # With one of them there, every call with a parameter is looked at twice.
    script = (
        "import rushlight.nn, rushlight.optim, rushlight.func, rushlight.utils.data, rushlight.distributions\n"
        "from rushlight._rushlight import _disabled_torch_function_impl as unseen\n"
        "classes = torch.Tensor.__subclasses__()\n"
        "for found in classes: classes += found.__subclasses__()\n"
        "print([found.__name__ for found in classes if found.__torch_function__ is unseen])\n"
        "print([found.__name__ for found in classes if found.__torch_function__ is not unseen])\n"
    )
    assert run_script(script) == "['Parameter', 'Buffer']\n[]\n"
    asked = "torch.nn.UninitializedParameter\n" + script
    assert "UninitializedParameter" in run_script(asked).splitlines()[1]


@pytest.mark.parametrize(
    "path",
    [
        "torch.autograd.Function.apply",
        "torch.autograd.function.once_differentiable",
        "torch.autograd.forward_ad.dual_level",
        "torch.autograd.graph.Node",
        "torch.autograd.functional.jacobian",
        "torch.autograd._unsafe_preserve_version_counter",
        "torch.autograd.profiler.record_function",
        "torch.profiler.schedule",
        "torch.utils._pytree.tree_map",
        "torch.utils.checkpoint.checkpoint",
        "torch.utils.data.DataLoader",
        "torch.utils.hooks.RemovableHandle",
        "torch.vmap",
    ],
)
def test_what_loads_late_is_found_at_the_first_use(path):
    assert run_script(f"print(callable({path}))") == "True\n"


def test_what_loads_late_is_listed_before():
    script = f"print({LATE} <= set(dir(torch.autograd)))"
    assert run_script(script) == "True\n"


@pytest.mark.parametrize("name", sorted(LATE))
def test_what_loads_late_can_be_imported_by_name(name):
    script = f"from rushlight.autograd import {name}; print({name} is torch.autograd.{name})"
    assert run_script(script) == "True\n"


def test_a_function_is_pickled_by_where_it_lives():
    script = """
        import pickle
        wrapped = pickle.dumps(torch.autograd.Function)
        print(pickle.loads(wrapped) is torch.autograd.Function)
    """
    assert run_script(script) == "True\n"


def test_gradcheck_stays_the_function_when_its_module_is_imported():
    script = """
        import rushlight.autograd.gradcheck
        from rushlight.autograd.gradcheck import get_numerical_jacobian
        print(callable(torch.autograd.gradcheck), callable(get_numerical_jacobian))
    """
    assert run_script(script) == "True True\n"


def test_a_name_that_nothing_has_is_an_error():
    with pytest.raises(AttributeError) as caught:
        torch.autograd.no_such_room  # noqa: B018
    assert str(caught.value).endswith(".autograd' has no attribute 'no_such_room'")


@pytest.mark.own
def test_programs_of_one_process_load_nothing_of_what_connects_several():
    asked = (
        "import rushlight as torch, rushlight.nn, rushlight.utils.data, rushlight.optim;"
        "assert torch.distributed.is_available() and not torch.distributed.is_initialized()"
    )
    loaded = modules_after(asked)
    assert not [name for name in loaded if name.startswith("rushlight.distributed._")]
    assert not loaded & {"socket", "mpi4py", "rushlight.nn.parallel.distributed"}
