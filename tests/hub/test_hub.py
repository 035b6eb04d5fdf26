"""`hub`: models of directories, and files by their addresses."""

import hashlib

import pytest
import rushlight as torch
from support import raises

CONF = '''
dependencies = ["math"]

def twice(x, more=0):
    """Twice as much."""
    return 2 * x + more

def _hidden():
    pass
'''


@pytest.fixture
def place(tmp_path):
    (tmp_path / "hubconf.py").write_text(CONF)
    return str(tmp_path)


def test_a_model_of_a_directory_is_called(place):
    assert torch.hub.load(place, "twice", 3, source="local", more=1) == 7


def test_a_model_that_is_not_there_is_an_error(place):
    with raises(RuntimeError, "Cannot find callable three in hubconf"):
        torch.hub.load(place, "three", source="local")


def test_a_missing_dependency_is_an_error(tmp_path):
    (tmp_path / "hubconf.py").write_text('dependencies = ["no_such_package_here"]\ndef f(): pass\n')
    with raises(RuntimeError, "Missing dependencies: no_such_package_here"):
        torch.hub.load(str(tmp_path), "f", source="local")


def test_sources_have_names(place):
    with raises(ValueError, 'Unknown source: "net". Allowed values: "github" | "local".'):
        torch.hub.load(place, "twice", source="net")


def test_a_file_is_fetched_and_checked(tmp_path):
    source = tmp_path / "source.bin"
    source.write_bytes(b"rushlight" * 1000)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    target = tmp_path / "target.bin"
    torch.hub.download_url_to_file(source.as_uri(), str(target), hash_prefix=digest[:8], progress=False)
    assert target.read_bytes() == source.read_bytes()
    target.unlink()
    with raises(RuntimeError, f'invalid hash value (expected "00", got "{digest}")'):
        torch.hub.download_url_to_file(source.as_uri(), str(target), hash_prefix="00", progress=False)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["source.bin"]


def test_a_state_is_fetched_once(tmp_path):
    state = {"weight": torch.arange(3.0)}
    torch.save(state, tmp_path / "state.pt")
    address = (tmp_path / "state.pt").as_uri()
    kept = tmp_path / "kept"
    from rushlight.utils import model_zoo

    for load in (torch.hub.load_state_dict_from_url, model_zoo.load_url):
        assert load(address, model_dir=str(kept), progress=False)["weight"].tolist() == [0.0, 1.0, 2.0]
        (tmp_path / "state.pt").unlink(missing_ok=True)
    assert [one.name for one in kept.iterdir()] == ["state.pt"]


def test_the_directory_can_be_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    assert torch.hub.get_dir() == f"{tmp_path}/hub"
    torch.hub.set_dir(str(tmp_path / "other"))
    try:
        assert torch.hub.get_dir() == f"{tmp_path}/other"
    finally:
        torch.hub.set_dir(str(tmp_path / "hub"))
