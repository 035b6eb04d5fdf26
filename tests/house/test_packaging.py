"""What is handed out: the wheel, the source distribution, and what is said of them."""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import requires, version
from pathlib import Path

import pytest
import rushlight

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 1_000_000
pytestmark = [pytest.mark.own, pytest.mark.timeout(1800)]  # compiling takes its time

# The distributions are built to see what is in them and that it works, not to be fast.
QUICK_BUILD = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
}


def run(*command, **settings):
    finished = subprocess.run(command, capture_output=True, text=True, **settings)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def maturin(*arguments, cwd):
    run(sys.executable, "-m", "maturin", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    maturin("sdist", "--out", str(folder), cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """As `make wheel` packs it, with every optimisation: what `make build` has compiled already."""
    folder = tmp_path_factory.mktemp("wheel")
    maturin("build", "--release", "--locked", "--out", str(folder), cwd=ROOT)
    (archive,) = folder.glob("*.whl")
    run(sys.executable, "tools/repack.py", str(archive), cwd=ROOT)
    return archive


@pytest.fixture(scope="module")
def wheel_of_sdist(sdist, tmp_path_factory):
    """Built where earlier runs built it, so that only rushlight itself is compiled again."""
    workshop = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "packaging"
    shutil.rmtree(workshop / "source", ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(workshop / "source", filter="data")
    (source,) = (workshop / "source").iterdir()
    for file in source.rglob("*.rs"):
        file.touch()  # the times in the archive are all the same, and old: cargo would see no change
    folder = tmp_path_factory.mktemp("wheel_of_sdist")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"]
    environment = os.environ | QUICK_BUILD | {"CARGO_TARGET_DIR": str(workshop / "built")}
    run(*pip, "--wheel-dir", str(folder), str(source), env=environment)
    (archive,) = folder.glob("*.whl")
    return archive


def names_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_version_is_the_one_of_cargo():
    manifest = (ROOT / "Cargo.toml").read_text("utf-8")
    declared = re.search(r'^version = "(.+)"$', manifest, re.MULTILINE).group(1)
    assert version("rushlight") == declared
    assert rushlight.__version__ == declared


def test_numpy_is_all_that_is_needed_at_run_time():
    assert [re.match(r"[\w-]+", one).group() for one in requires("rushlight") if "extra ==" not in one] == [
        "numpy"
    ]


def test_the_wheel_holds_the_package_its_types_and_the_licences(wheel):
    names = names_in(wheel)
    licences = f"rushlight-{version('rushlight')}.dist-info/licenses"
    assert {"rushlight/__init__.py", "rushlight/py.typed", "rushlight/_rushlight.pyi"} <= names
    assert {f"{licences}/LICENSE", f"{licences}/THIRD-PARTY-LICENSES"} <= names
    assert sum(name.endswith((".so", ".pyd", ".dylib")) for name in names) == 1


def test_the_wheel_holds_every_module_of_the_package_and_nothing_else(wheel):
    source = ROOT / "python"
    modules = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    packed = names_in(wheel)
    assert "rushlight/__init__.py" in modules
    assert modules == {name for name in packed if name.endswith(".py")}
    beside = f"rushlight-{version('rushlight')}"
    assert {name.split("/")[0] for name in packed} == {"rushlight", f"{beside}.dist-info", f"{beside}.data"}
    assert {name for name in packed if name.startswith(f"{beside}.data")} == {
        f"{beside}.data/purelib/rushlight_as_torch.pth"
    }
    assert "rushlight/_compat/torch_path/torch-2.13.0+rushlight.dist-info/METADATA" in packed


def test_the_wheel_is_for_one_version_of_python(wheel):
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert f"-{tag}-{tag}-" in wheel.name


def test_the_wheel_is_at_most_sixteen_megabytes(wheel):
    assert 50_000 < wheel.stat().st_size <= 16 * MEGABYTE


def test_the_metadata_name_the_licence_and_the_oldest_python(wheel):
    with zipfile.ZipFile(wheel) as archive:
        own = re.compile(r"rushlight-[^/]*\.dist-info/METADATA")
        (name,) = filter(own.fullmatch, archive.namelist())
        metadata = email.message_from_bytes(archive.read(name))
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata.get_payload().startswith("# rushlight")


def test_the_source_distribution_holds_both_crates(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    crates = {
        "Cargo.toml",
        "Cargo.lock",
        "src/lib.rs",
        "bindings/Cargo.toml",
        "bindings/src/lib.rs",
    }
    assert crates <= names
    assert {"pyproject.toml", "README.md", "LICENSE", "THIRD-PARTY-LICENSES"} <= names
    assert {"python/rushlight/__init__.py", "python/rushlight/py.typed"} <= names


@pytest.mark.timeout(1200)
def test_a_wheel_built_from_the_source_distribution_works(wheel_of_sdist, tmp_path):
    with zipfile.ZipFile(wheel_of_sdist) as archive:
        archive.extractall(tmp_path)
    program = """
import rushlight as torch
x = torch.ones(2, 2, requires_grad=True)
(x * x).sum().backward()
print(torch.__file__, x.grad.tolist())
"""
    printed = run(sys.executable, "-c", program, env=os.environ | {"PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
    assert printed.split(" ", 1) == [str(tmp_path / "rushlight/__init__.py"), "[[2.0, 2.0], [2.0, 2.0]]\n"]


def test_the_distribution_by_torchs_name_says_what_rushlight_says():
    from rushlight.torch_version import __version__ as said

    stated = (ROOT / "packages" / "torch-rushlight" / "pyproject.toml").read_text("utf-8")
    assert re.search(r'^version = "(.+)"$', stated, re.MULTILINE).group(1) == said
    inside = ROOT / "python" / "rushlight" / "_compat" / "torch_path"
    metadata = email.message_from_bytes((inside / f"torch-{said}.dist-info" / "METADATA").read_bytes())
    assert (metadata["Name"], metadata["Version"]) == ("torch", said)


@pytest.mark.parametrize("said", ["1", "0"])
def test_the_environment_alone_says_it_where_the_startup_line_is_installed(said, tmp_path):
    (line,) = (ROOT / "bindings" / "startup" / "purelib").glob("*.pth")
    shutil.copy(line, tmp_path)
    program = f"import site, sys; site.addsitedir({str(tmp_path)!r}); print('torch' in sys.modules)"
    assert (
        run(sys.executable, "-c", program, env=os.environ | {"RUSHLIGHT_AS_TORCH": said})
        == f"{said == '1'}\n"
    )


def test_the_licences_of_the_linked_crates_are_up_to_date():
    said = run(sys.executable, str(ROOT / "tools" / "third_party_licenses.py"), "--check")
    assert int(re.search(r"(\d+) crates", said).group(1)) >= 20
