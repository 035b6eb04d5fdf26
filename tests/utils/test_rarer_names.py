"""Names that few programs use: what is behind them."""

import sys

import pytest
import rushlight as torch


def test_that_tolerances_are_those_of_the_coarser_type():
    from rushlight.testing._comparison import default_tolerances, get_tolerances

    assert default_tolerances(torch.float32, torch.ones(1, dtype=torch.bfloat16)) == (1.6e-2, 1e-5)
    assert default_tolerances(torch.int32) == (0.0, 0.0)
    assert default_tolerances(torch.float32, dtype_precisions={torch.float32: (1.0, 2.0)}) == (1.0, 2.0)
    assert get_tolerances(torch.float64, rtol=None, atol=None) == (1e-7, 1e-7)
    assert get_tolerances(torch.float64, rtol=1.0, atol=2.0) == (1.0, 2.0)
    with pytest.raises(TypeError, match=r"Expected a torch.Tensor or a torch.dtype, but got <class 'float'>"):
        default_tolerances(1.0)


@pytest.mark.parametrize("name", ["AUTO", "DYNAMIC", "STATIC"])
def test_that_sizes_may_be_left_to_the_tracer(name):
    hint = getattr(torch.export.Dim, name)
    assert repr(hint) == f"DimHint({name})"
    assert repr(hint(min=1, max=4)) == f"DimHint({name}, min=1, max=4)"


def test_that_sizes_that_vary_have_names_and_bounds():
    size = torch.export.Dim("batch", min=3, max=5)
    assert (size.__name__, size.min, size.max) == ("batch", 3, 5)
    assert [one.__name__ for one in torch.export.dims("a", "b")] == ["a", "b"]
    with pytest.raises(AssertionError, match="Cannot create Dim with inconsistent min=5, max=2"):
        torch.export.Dim("batch", min=5, max=2)
    with pytest.raises(AssertionError, match="Dim name must be a valid identifier, got a b"):
        torch.export.Dim("a b")


def test_that_there_are_no_classes_of_libraries(tmp_path):
    with pytest.raises(RuntimeError, match=r"Tried to instantiate class 'foo\.bar', but it does not exist!"):
        torch.classes.foo.bar  # noqa: B018
    with pytest.raises(OSError, match="Could not load this library"):
        torch.classes.load_library(str(tmp_path / "none.so"))
    assert torch.classes.loaded_libraries == set()


def test_that_files_are_listed_and_opened_as_pipes(tmp_path):
    from rushlight.utils.data.datapipes.iter import FileLister, FileOpener, IterableWrapper

    for place in ("b.txt", "a.py", "below/c.txt"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(place)

    def listed(*args, **options):
        start = len(str(tmp_path)) + 1
        return [path[start:] for path in FileLister(str(tmp_path), *args, **options)]

    assert listed() == ["a.py", "b.txt"]
    assert listed("*.txt") == ["b.txt"]
    assert listed(["*.txt", "*.md"], recursive=True) == ["b.txt", "below/c.txt"]
    assert len(FileLister(str(tmp_path), length=2)) == 2
    with pytest.raises(TypeError, match="FileListerIterDataPipe instance doesn't have valid length"):
        len(FileLister(str(tmp_path)))

    def read(pipe):
        found = []
        for _, file in pipe:
            with file:
                found.append(file.read())
        return found

    assert read(FileOpener(FileLister(str(tmp_path), "*.txt"))) == ["b.txt"]
    assert read(IterableWrapper([str(tmp_path / "a.py")]).open_files(mode="b")) == [b"a.py"]
    with pytest.raises(ValueError, match="Invalid mode q"):
        FileOpener([], mode="q")
    with pytest.raises(ValueError, match="binary mode doesn't take an encoding argument"):
        FileOpener([], mode="rb", encoding="utf8")


def test_that_optimisers_group_tensors_by_type():
    x, y, z = torch.ones(1), torch.ones(1, dtype=torch.float64), torch.zeros(1)
    groups = torch.optim.Optimizer._group_tensors_by_device_and_dtype([[x, y, z]], with_indices=True)
    assert [places for _, places in groups.values()] == [[0, 2], [1]]


def test_that_functions_are_kept_from_the_compiler_under_an_inner_name():
    assert torch._disable_dynamo(abs) is abs
    assert torch._disable_dynamo(recursive=False)(abs) is abs


def test_that_meshes_are_found_where_they_were_once():
    from rushlight.distributed._tensor.device_mesh import init_device_mesh

    assert init_device_mesh is sys.modules["rushlight.distributed.device_mesh"].init_device_mesh
