"""`jit`: functions and modules run as the Python that they are, as with torch where `PYTORCH_JIT=0` is set."""

import pytest
import rushlight as torch
from rushlight.jit import Final
from support import raises


@pytest.mark.own
def test_functions_and_modules_stay_what_they_are():
    def double(x):
        return 2 * x

    linear = torch.nn.Linear(2, 1)
    assert torch.jit.script(double) is double and torch.jit.script(linear) is linear
    assert torch.jit.trace(linear, torch.ones(1, 2)) is linear
    assert torch.jit.trace(double, torch.ones(1)) is double
    assert torch.jit.script_if_tracing(double) is double


@pytest.mark.own
def test_a_script_module_runs_its_methods():
    class Twice(torch.jit.ScriptModule):
        rate: Final[int]

        def __init__(self):
            super().__init__()
            self.rate = 2

        @torch.jit.script_method
        def forward(self, x):
            return self.rate * x

    assert Twice()(torch.ones(1)).tolist() == [2.0] and isinstance(Twice(), torch.nn.Module)


def test_nothing_is_being_compiled():
    assert not torch.jit.is_scripting() and not torch.jit.is_tracing()
    assert torch._C._get_tracing_state() is None


@pytest.mark.own
def test_marks_of_functions_leave_them_what_they_are():
    for mark in (
        torch.jit.ignore,
        torch.jit.unused,
        torch.jit.export,
        torch.jit.ignore(),
        torch.jit.ignore(drop=True),
    ):

        def three():
            return 3

        assert mark(three) is three and three() == 3
    with raises(RuntimeError, "Argument to @torch.jit.ignore must be a bool or a function but got 3"):
        torch.jit.ignore(3)


@pytest.mark.parametrize(
    ("value", "kind", "answer"),
    [
        ([1, 2], list[int], True),
        ([1, "a"], list[int], False),
        ({"a": 1}, dict[str, int], True),
        ({"a": "b"}, dict[str, int], False),
        ((1, 2.0), tuple[int, float], True),
        ((1,), tuple[int, float], False),
        (3, int | None, True),
        (None, int | None, True),
        ("a", int | None, False),
        (3, (int, str), True),
    ],
)
def test_isinstance_looks_into_containers(value, kind, answer):
    assert torch.jit.isinstance(value, kind) is answer


@pytest.mark.own
def test_a_forked_call_has_its_value():
    assert torch.jit.wait(torch.jit.fork(lambda x: x + 1, 2)) == 3


def test_values_are_annotated():
    assert torch.jit.annotate(list[int], [1]) == [1]


@pytest.mark.own
def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with raises(ValueError, f"The provided filename {tmp_path}/none.pt does not exist"):
        torch.jit.load(f"{tmp_path}/none.pt")
    with raises(ValueError, f"The provided filename {tmp_path} is a directory"):
        torch.jit.load(str(tmp_path))


@pytest.mark.own
def test_scripts_are_neither_written_nor_read(tmp_path):
    with pytest.raises(RuntimeError, match=r"torch\.jit\.save: modules run as Python here"):
        torch.jit.save(torch.nn.ReLU(), str(tmp_path / "a.pt"))
    (tmp_path / "b.pt").write_bytes(b"PK")
    with pytest.raises(RuntimeError, match=r"torch\.jit\.load: scripts in files cannot be run here"):
        torch.jit.load(str(tmp_path / "b.pt"))
    with pytest.raises(RuntimeError, match="language of scripts is not read"):
        torch.jit.CompilationUnit("def f(x): return x")
    assert not (tmp_path / "a.pt").exists()


@pytest.mark.own
def test_a_frozen_module_has_to_be_in_evaluation():
    relu = torch.nn.ReLU()
    with pytest.raises(RuntimeError, match="evaluation mode"):
        torch.jit.freeze(relu)
    assert torch.jit.freeze(relu.eval()) is relu
    assert torch.jit.optimize_for_inference(relu) is relu


@pytest.mark.own
def test_what_is_to_be_frozen_is_a_module():
    text = (
        "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your "
        "'nn.Module'."
    )
    with raises(RuntimeError, text):
        torch.jit.freeze(3)


def test_where_programs_look_for_names():
    from rushlight._jit_internal import boolean_dispatch, is_scripting  # noqa: F401
    from rushlight.jit._script import RecursiveScriptModule, ScriptModule  # noqa: F401
    from rushlight.jit._trace import TopLevelTracedModule, TracerWarning  # noqa: F401
    from rushlight.jit.annotations import BroadcastingList2, List, Optional  # noqa: F401
