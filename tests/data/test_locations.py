"""Where files say that memory was, and where `map_location` wants it."""

import io
import zipfile

import pytest
import rushlight as torch

HOST = "If you are running on a CPU-only machine, please use torch.load with map_location="


def saved_on(location, **options):
    """Return a file of a tensor that says it was on another device."""
    file, named = io.BytesIO(), b"X\x03\x00\x00\x00cpu"
    torch.save({"w": torch.arange(6.0).view(2, 3)}, file, **options)
    there = b"X" + len(location).to_bytes(4, "little") + location.encode()
    if options:
        assert file.getvalue().count(named) == 1
        return io.BytesIO(file.getvalue().replace(named, there))
    source, target = zipfile.ZipFile(io.BytesIO(file.getvalue())), io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in source.namelist():
            content = source.read(name)
            archive.writestr(name, content.replace(named, there) if name.endswith("data.pkl") else content)
    return io.BytesIO(target.getvalue())


ELSEWHERE = {
    "cuda:0": "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. "
    + HOST,
    "cuda": "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. "
    + HOST,
    "xpu:1": "Attempting to deserialize object on a XPU device but torch.xpu.is_available() is False. "
    + HOST,
    "hpu": "The HPU device module is not registered. " + HOST,
    "mps": "torch.UntypedStorage(): Storage device not recognized: mps",
    "cuda:x": "Invalid device string: 'cuda:x'",
    "mars": "don't know how to restore data location of torch.storage.UntypedStorage (tagged with mars)",
    "cpu:0": "don't know how to restore data location of torch.storage.UntypedStorage (tagged with cpu:0)",
}
if torch.cuda.is_available():
    pytest.skip("there is such a device", allow_module_level=True)


@pytest.mark.parametrize("location", ELSEWHERE)
@pytest.mark.parametrize("form", [{}, {"_use_new_zipfile_serialization": False}], ids=["archive", "stream"])
def test_what_was_on_another_device_is_not_read_unasked(location, form):
    for options in ({}, {"weights_only": False}, {"map_location": lambda storage, location: None}):
        with pytest.raises(RuntimeError) as failure:
            torch.load(saved_on(location, **form), **options)
        assert str(failure.value).startswith(ELSEWHERE[location])


@pytest.mark.parametrize("form", [{}, {"_use_new_zipfile_serialization": False}], ids=["archive", "stream"])
@pytest.mark.parametrize(
    "wanted",
    ["cpu", torch.device("cpu"), {"cuda:1": "cpu"}, lambda storage, location: storage],
    ids=["a name", "a device", "a table", "a function"],
)
def test_it_is_read_by_who_says_where_to(wanted, form):
    found = torch.load(saved_on("cuda:1", **form), map_location=wanted)["w"]
    assert torch.equal(found, torch.arange(6.0).view(2, 3))


def test_a_function_sees_the_memory_and_its_place_and_may_answer_other_memory():
    seen = []

    def wanted(storage, location):
        seen.append((type(storage).__name__, storage.nbytes(), location))
        return storage.clone()

    assert torch.load(saved_on("cuda:1"), map_location=wanted)["w"].sum() == 15
    assert seen == [("UntypedStorage", 24, "cuda:1")]


@pytest.mark.parametrize("form", [{}, {"_use_new_zipfile_serialization": False}], ids=["archive", "stream"])
def test_without_numbers_sizes_and_types_are_read(form):
    found = torch.load(saved_on("cuda:1", **form), map_location="meta")["w"]
    assert found.is_meta
    assert (found.shape, found.dtype, found.stride()) == ((2, 3), torch.float32, (3, 1))


@pytest.mark.parametrize(
    ("wanted", "kind", "words"),
    [
        ("cuda", RuntimeError, ELSEWHERE["cuda"]),
        ({"cpu": "cuda:3"}, RuntimeError, ELSEWHERE["cuda"]),
        ("nowhere", RuntimeError, ELSEWHERE["mars"].replace("mars", "nowhere")),
        (5, TypeError, "'int' object is not callable"),
    ],
)
def test_what_was_here_is_not_read_to_a_place_that_is_not(wanted, kind, words):
    with pytest.raises(kind) as failure:
        torch.load(saved_on("cpu"), map_location=wanted)
    assert str(failure.value).startswith(words)


def test_a_place_of_ones_own_is_asked_by_priority():
    storage = torch.ones(2).untyped_storage()
    assert torch.serialization.location_tag(storage) == "cpu"
    asked = []

    def bring(storage, location):
        asked.append(location)
        return storage if location == "attic" else None

    torch.serialization.register_package(15, lambda storage: None, bring)
    assert torch.load(saved_on("attic"))["w"].sum() == 15
    assert torch.serialization.default_restore_location(storage, "cpu") is storage
    assert asked == ["attic"]
