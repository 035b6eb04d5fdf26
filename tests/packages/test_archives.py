"""Archives of objects and of the source of their modules: `torch.package`."""

import io
import sys
import zipfile

import pytest
import rushlight as torch
from rushlight.package import (
    EmptyMatchError,
    GlobGroup,
    PackageExporter,
    PackageImporter,
    PackagingError,
    is_from_package,
    sys_importer,
)
from support import raises

MODULE = """
import json
from torch import nn
import archive_helper as helper
from . import words

class Doubled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * helper.FACTOR
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Modules in a folder that can be imported from."""
    folder = tmp_path / "archive_models"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "doubled.py").write_text(MODULE.replace("from torch import", "from rushlight import"))
    (folder / "words.py").write_text("GREETING = 'hello'\n")
    (tmp_path / "archive_helper.py").write_text("FACTOR = 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.startswith("archive_")]:
        del sys.modules[name]


@pytest.fixture
def model(written):
    from archive_models.doubled import Doubled

    return Doubled(2, 2)


def exported(save, *choices):
    file = io.BytesIO()
    with PackageExporter(file) as exporter:
        for action, pattern in choices:
            getattr(exporter, action)(pattern)
        save(exporter)
    return file


def saving(model):
    return lambda exporter: exporter.save_pickle("weights", "model.pkl", model)


@pytest.fixture
def archive(model):
    return exported(saving(model), ("intern", "archive_models.**"), ("extern", "**"))


def test_a_model_comes_back_with_its_class(model, archive):
    importer = PackageImporter(archive)
    loaded = importer.load_pickle("weights", "model.pkl")
    x = torch.ones(1, 2)
    assert torch.equal(loaded(x), model(x))
    assert type(loaded) is not type(model)
    assert type(loaded).__module__ == f"{importer.id()}.archive_models.doubled"
    assert is_from_package(loaded) and not is_from_package(model)
    assert importer.import_module("archive_models.words").GREETING == "hello"
    assert importer.import_module("archive_models.doubled").words.GREETING == "hello"


def test_what_is_in_an_archive(archive):
    names = zipfile.ZipFile(archive).namelist()
    assert "archive/weights/model.pkl" in names and "archive/archive_models/doubled.py" in names
    assert "archive/.data/0.storage" in names and "archive/.data/extern_modules" in names
    shown = PackageImporter(archive).file_structure(include="archive_models/**")
    assert shown.has_file("archive_models/doubled.py") and not shown.has_file("weights/model.pkl")
    assert str(shown).splitlines()[:2] == ["─── <binary>", "    └── archive_models"]


def test_modules_that_nothing_was_said_of_are_refused(model):
    told = (
        "\n* Module did not match against any action pattern. Extern, mock, or intern it.\n    "
        "archive_models.doubled\n\nSet debug=True when invoking PackageExporter for a visualization of "
        "where broken modules are coming from!\n"
    )
    with raises(PackagingError, told):
        exported(saving(model))
    with pytest.raises(PackagingError, match="Module was denied by a pattern"):
        exported(saving(model), ("deny", "archive_models.**"))


def test_a_pattern_that_has_to_match_does(model):
    told = (
        "Exporter did not match any modules to GlobGroup(include=other.**, exclude=()), which was marked as "
        "allow_empty=False"
    )
    with raises(EmptyMatchError, told), PackageExporter(io.BytesIO()) as exporter:
        exporter.extern("other.**", allow_empty=False)
        exporter.save_text("notes", "note.txt", "hello")


def test_a_mocked_module_can_be_imported_and_not_used(model):
    file = exported(saving(model), ("intern", "archive_models.**"), ("mock", "archive_helper"))
    importer = PackageImporter(file)
    importer.load_pickle("weights", "model.pkl")
    helper = importer.import_module("archive_helper")
    told = (
        f"Object '{importer.id()}.archive_helper.something' was mocked out during packaging but it is "
        "being used in __call__"
    )
    with raises(NotImplementedError, told):
        helper.something()


def test_texts_bytes_and_sources_are_kept():
    def save(exporter):
        exporter.save_text("notes", "note.txt", "hello")
        exporter.save_binary("notes", "data.bin", b"\x00\x01")
        exporter.save_source_string("tools.numbers", "from .more import SEVEN\n")
        exporter.save_source_string("tools.more", "SEVEN = 7\n")
        assert exporter.interned_modules() == ["tools.more", "tools.numbers"]

    importer = PackageImporter(exported(save, ("extern", "**")))
    assert importer.load_text("notes", "note.txt") == "hello"
    assert importer.load_binary("notes", "data.bin") == b"\x00\x01"
    assert importer.import_module("tools.numbers").SEVEN == 7
    assert importer.get_source("tools.more") == "SEVEN = 7\n"
    told = (
        'No module named "absent" in self-contained archive "<binary>" and the module is also not in the '
        f"list of allowed external modules: {importer.extern_modules}"
    )
    with raises(ModuleNotFoundError, told):
        importer.import_module("absent")


def test_modules_from_outside_may_be_disallowed(archive):
    with pytest.raises(ImportError, match="module 'archive_helper' but that module has been disallowed"):
        PackageImporter(archive, module_allowed=lambda name: name != "archive_helper")


def test_an_object_of_an_archive_is_exported_by_its_importer(archive):
    importer = PackageImporter(archive)
    loaded = importer.load_pickle("weights", "model.pkl")
    file = io.BytesIO()
    with PackageExporter(file, importer=(importer, sys_importer)) as exporter:
        exporter.intern("archive_models.**")
        exporter.extern("**")
        exporter.save_pickle("again", "model.pkl", loaded)
    again = PackageImporter(file).load_pickle("again", "model.pkl")
    assert torch.equal(again.weight, loaded.weight)
    with pytest.raises(Exception, match="Can't pickle <class '<torch_package_"):
        exported(saving(loaded), ("intern", "**"))


def test_storages_are_shared_among_objects():
    weight = torch.arange(4.0)

    def save(exporter):
        exporter.save_pickle("a", "both.pkl", (weight, weight[2:]))
        exporter.save_pickle("b", "one.pkl", weight.view(2, 2))

    file = exported(save)
    assert sum(name.endswith(".storage") for name in zipfile.ZipFile(file).namelist()) == 1
    whole, part = PackageImporter(file).load_pickle("a", "both.pkl")
    part.zero_()
    assert whole.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_hooks_are_told_of_modules(model):
    seen = []
    file = io.BytesIO()
    with PackageExporter(file) as exporter:
        exporter.intern("archive_models.**")
        exporter.extern("archive_helper")
        exporter.register_intern_hook(lambda _, name: seen.append(name))
        handle = exporter.register_extern_hook(lambda _, name: seen.append(name))
        handle.remove()
        exporter.save_pickle("weights", "model.pkl", model)
        assert exporter.get_rdeps("archive_helper") == ["archive_models.doubled"]
        assert '"archive_models.doubled" -> "archive_helper";' in exporter.dependency_graph_string()
    assert seen == ["archive_models.doubled", "archive_models", "archive_models.words"]


@pytest.mark.parametrize(
    ("include", "exclude", "names"),
    [
        ("torch.**", "torch.nn.**", {"torch": True, "torch.nn": False, "torch.a.b": True, "torchx": False}),
        (
            ["a.*", "b.**.c", "d*"],
            (),
            {"a.b": True, "a.b.c": False, "b.c": True, "b.x.y.c": True, "d.e": False},
        ),
    ],
)
def test_patterns(include, exclude, names):
    group = GlobGroup(include, exclude=exclude)
    assert {name: group.matches(name) for name in names} == names
    with raises(ValueError, "** can only appear as an entire path segment"):
        GlobGroup("a.b**.c")
