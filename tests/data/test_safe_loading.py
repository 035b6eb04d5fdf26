"""`load` of files that are cut, forged or packed: an error of torch's class, and no memory for what is not there."""

import base64
import io
import pickle
import struct
import zipfile
from collections import OrderedDict

import pytest
import rushlight as torch

VALUE = {"a": torch.arange(10.0), "b": torch.ones(2, dtype=torch.int16)}


def saved(value=VALUE, **options):
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


def read(content, **options):
    return torch.load(io.BytesIO(content), **options)


def changed(change, packed=zipfile.ZIP_STORED):
    """Return an archive with members changed, or left out where there is nothing."""
    source, target = zipfile.ZipFile(io.BytesIO(saved())), io.BytesIO()
    with zipfile.ZipFile(target, "w", packed) as archive:
        for name in source.namelist():
            content = change(name.split("/", 1)[1], source.read(name))
            if content is not None:
                archive.writestr(name, content)
    return target.getvalue()


def without(wanted):
    return changed(lambda name, content: None if name == wanted else content)


def with_content(wanted, made):
    return changed(lambda name, content: made(content) if name == wanted else content)


class Named:
    """What a pickle names with a module and a name."""

    def __init__(self, module, name):
        self.name = f"c{module}\n{name}\n".encode()


class Outside:
    """What a pickle names as something outside of it."""

    def __init__(self, identifier):
        self.identifier = identifier


class Called:
    def __init__(self, function, *arguments):
        self.parts = function, arguments


class Forger(pickle._Pickler):
    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012

    def persistent_id(self, obj):
        return obj.identifier if isinstance(obj, Outside) else None

    def save_named(self, obj):
        self.write(obj.name)

    def save_called(self, obj):
        self.save(obj.parts[0])
        self.save(obj.parts[1])
        self.write(pickle.REDUCE)

    dispatch[Named], dispatch[Called] = save_named, save_called


def pickled(value):
    file = io.BytesIO()
    Forger(file, 2).dump(value)
    return file.getvalue()


def shown(identifier, size=(10,), stride=(1,), offset=0, grad=False, *more):
    rebuild = Named("torch._utils", "_rebuild_tensor_v2")
    return Called(rebuild, Outside(identifier), offset, size, stride, grad, OrderedDict(), *more)


def storage(kind="FloatStorage", key="0", place="cpu", count=10):
    return "storage", Named("torch", kind), key, place, count


def archive(value, content=bytes(40), packed=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packed) as made:
        for name, part in (
            ("data.pkl", pickled(value)),
            ("byteorder", b"little"),
            ("data/0", content),
            ("version", b"3\n"),
        ):
            made.writestr(f"archive/{name}", part)
    return file.getvalue()


def stream(value):
    parts = (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, value, ["0"])
    return b"".join(map(pickled, parts)) + struct.pack("<q", 10) + bytes(40)


def test_what_was_forged_truly_is_read():
    for options in ({}, {"weights_only": False}):
        for content in (archive(shown(storage())), stream(shown((*storage(), None)))):
            assert read(content, **options).tolist() == [0.0] * 10


FORGED = {
    "fewer elements than none": (shown(storage(count=-10)), TypeError),
    "elements for all memory": (shown(storage(count=2**62)), TypeError),
    "elements beyond integers": (shown(storage(count=2**64)), TypeError),
    "a word for a number": (shown(storage(count="a")), TypeError),
    "nothing for a number": (shown(storage(count=None)), TypeError),
    "a fraction for a number": (shown(storage(count=10.0)), TypeError),
    "elements of another size": (shown(storage("DoubleStorage")), RuntimeError),
    "a type that is none": (shown(storage("Tensor")), (RuntimeError, pickle.UnpicklingError)),
    "no word of what it is": (shown(()), IndexError),
    "nothing but what it is": (shown(("storage",)), ValueError),
    "a number for a storage": (shown(5), AssertionError),
    "a shape beyond the memory": (shown(storage(), (11,)), RuntimeError),
    "negative sizes": (shown(storage(), (-1,)), RuntimeError),
    "an enormous size": (shown(storage(), (2**62,)), RuntimeError),
    "words for sizes": (shown(storage(), ("a",)), TypeError),
    "steps beyond the memory": (shown(storage(), (10,), (2,)), RuntimeError),
    "negative steps": (shown(storage(), (10,), (-1,)), RuntimeError),
    "too many steps": (shown(storage(), (10,), (1, 1)), RuntimeError),
    "an offset beyond": (shown(storage(), (10,), (1,), 1), RuntimeError),
    "a negative offset": (shown(storage(), (10,), (1,), -1), RuntimeError),
    "more elements than numbers": (shown(storage(), (2**31,) * 3, (0,) * 3), RuntimeError),
    "a word for whether": (shown(storage(), (10,), (1,), 0, "a"), RuntimeError),
    "gradients of integers": (shown(storage("IntStorage"), (10,), (1,), 0, True), RuntimeError),
    "a number for particulars": (shown(storage(), (10,), (1,), 0, False, 5), AssertionError),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("weights_only", [True, False])
def test_forged_storages_are_refused(name, weights_only):
    value, kind = FORGED[name]
    with pytest.raises(kind):
        read(archive(value), weights_only=weights_only)


@pytest.mark.parametrize("count", [-10, 2**40, 2**62, "a"])
def test_forged_storages_of_streams_are_refused_before_there_is_memory(count):
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        read(stream(shown((*storage(count=count), None))))


def test_more_bytes_than_elements_and_fewer_are_told():
    for content, size in ((bytes(36), 36), (bytes(44), 44), (b"", 0)):
        words = (
            rf"^record size \({size} bytes\) does not match expected size \(40 bytes = 40 elements \* 1 byt"
        )
        with pytest.raises(RuntimeError, match=words):
            read(archive(shown(storage()), content))


ARCHIVES = {
    "no pickle": (
        lambda: without("data.pkl"),
        "PytorchStreamReader failed locating file data.pkl: file not fou",
    ),
    "no storage": (
        lambda: without("data/0"),
        "PytorchStreamReader failed locating file data/0: file not found.",
    ),
    "no version": (lambda: without("version"), r'Expected hasRecord\("version"\) to be true, but got false.'),
}


@pytest.mark.parametrize(("made", "words"), ARCHIVES.values(), ids=ARCHIVES)
def test_archives_without_their_members_are_refused(made, words):
    with pytest.raises(RuntimeError, match=words):
        read(made())


def test_an_archive_of_something_else_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("x", b"1")
    with pytest.raises(RuntimeError, match="file in archive is not in a subdirectory: x"):
        read(file.getvalue())


def test_orders_of_bytes_are_minded():
    turned = with_content("byteorder", lambda _: b"big")
    assert read(turned)["b"].tolist() == [256, 256]
    with pytest.raises(ValueError, match=r"^Unknown endianness type: odd$"):
        read(with_content("byteorder", lambda _: b"odd"))
    assert read(without("byteorder"))["b"].tolist() == [1, 1]


def test_truncated_archives_are_refused():
    whole = saved()
    for size in (4, 10, 30, 100, len(whole) // 2, len(whole) - 22, len(whole) - 1):
        with pytest.raises(RuntimeError, match=r"^PytorchStreamReader failed reading zip archive: "):
            read(whole[:size])
    for size in (1, 2, 3):
        with pytest.raises(pickle.UnpicklingError, match="Unsupported operand 80"):
            read(whole[:size])
    with pytest.raises(EOFError):
        read(b"")


def test_truncated_streams_are_refused():
    whole = saved(_use_new_zipfile_serialization=False)
    for size in range(len(whole)):
        for weights_only in (True, False):
            with pytest.raises((EOFError, RuntimeError, IndexError, struct.error, pickle.UnpicklingError)):
                read(whole[:size], weights_only=weights_only)
    words = "^unexpected EOF, expected 1 more bytes. The file might be corrupted.$"
    with pytest.raises(RuntimeError, match=words):
        read(whole[:-1])


def test_pickles_that_end_early_are_refused():
    for cut in (0, 5, 20):
        with pytest.raises((EOFError, pickle.UnpicklingError)):
            read(with_content("data.pkl", lambda content, cut=cut: content[:cut]))
    with pytest.raises(pickle.UnpicklingError, match="Unsupported operand 103"):
        read(with_content("data.pkl", lambda _: b"garbage"))


def test_other_files_are_refused():
    for weights_only in (True, False):
        with pytest.raises(RuntimeError, match=r"^Invalid magic number; corrupt file\?$"):
            read(pickle.dumps({"a": 1}, 2), weights_only=weights_only)
    with pytest.raises(AssertionError, match=r"^Expected bytes, got str$"):
        torch.load(io.StringIO("a"))


@pytest.mark.parametrize("options", [{}, {"weights_only": False}])
def test_streams_come_back(options, tmp_path):
    x = torch.arange(6.0)
    value = [
        x,
        x[2:4],
        torch.nn.Parameter(torch.ones(2)),
        torch.tensor([1 + 2j]).conj(),
        torch.ones(2, dtype=torch.bfloat16),
        {"n": torch.Size([2])},
    ]
    torch.save(value, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    assert not zipfile.is_zipfile(tmp_path / "old.pt")
    whole, part, parameter, turned, half, rest = torch.load(tmp_path / "old.pt", **options)
    whole.add_(1)
    assert part.tolist() == [3.0, 4.0] and type(parameter) is torch.nn.Parameter
    assert turned.is_conj() and turned.tolist() == [1 - 2j] and half.tolist() == [1.0, 1.0]
    assert rest == {"n": torch.Size([2])}


# Of [tensor([1., 2.]), "x"].
WRITTEN = (
    "gAKKCmz8nEb5IGqoUBkugAJN6QMugAJ9cQAoWBAAAABwcm90b2NvbF92ZXJzaW9ucQFN6QNYDQAAAGxpdHRsZV9lbmRpYW5xAohYCgAA"
    "AHR5cGVfc2l6ZXNxA31xBChYBQAAAHNob3J0cQVLAlgDAAAAaW50cQZLBFgEAAAAbG9uZ3EHSwR1dS6AAl1xAChjdG9yY2guX3V0aWxz"
    "Cl9yZWJ1aWxkX3RlbnNvcl92MgpxASgoWAcAAABzdG9yYWdlcQJjdG9yY2gKRmxvYXRTdG9yYWdlCnEDWA4AAAA5MzkyMTY1MDU2MDc1"
    "MnEEWAMAAABjcHVxBUsCTnRxBlFLAEsChXEHSwGFcQiJY2NvbGxlY3Rpb25zCk9yZGVyZWREaWN0CnEJKVJxCnRxC1JxDFgBAAAAeHEN"
    "ZS6AAl1xAFgOAAAAOTM5MjE2NTA1NjA3NTJxAWEuAgAAAAAAAAAAAIA/AAAAQA=="
)


def test_a_stream_that_torch_wrote_is_read():
    x, word = read(base64.b64decode(WRITTEN))
    assert x.tolist() == [1.0, 2.0] and word == "x"


def test_archives_are_packed_or_not_and_aligned():
    packed = changed(lambda _, content: content, zipfile.ZIP_DEFLATED)
    assert read(packed)["a"].tolist() == VALUE["a"].tolist()
    whole = saved()
    for member in zipfile.ZipFile(io.BytesIO(whole)).infolist():
        name, extra = struct.unpack("<HH", whole[member.header_offset + 26 : member.header_offset + 30])
        assert (member.header_offset + 30 + name + extra) % 64 == 0


@pytest.mark.own
def test_what_is_packed_too_densely_is_refused():
    bomb = archive(shown(storage(count=1 << 26)), bytes(1 << 28), zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 20
    with pytest.raises(RuntimeError, match="PytorchStreamReader failed reading file data/0"):
        read(bomb)


@pytest.mark.own
def test_damaged_numbers_are_noticed():
    whole = bytearray(saved())
    whole[whole.find(struct.pack("<f", 5.0))] ^= 1
    with pytest.raises(RuntimeError, match="PytorchStreamReader failed reading file data/0"):
        read(bytes(whole))


@pytest.mark.own
def test_sizes_that_an_archive_claims_are_compared_with_it():
    whole = bytearray(archive(shown(storage(count=1 << 30))))
    # The sizes of the member in the directory at the end.
    at = whole.rfind(b"archive/data/0") - 46
    whole[at + 20 : at + 28] = struct.pack("<II", 1 << 32 - 1, 1 << 32 - 1)
    with pytest.raises(RuntimeError, match="PytorchStreamReader failed reading file data/0"):
        read(bytes(whole))


def test_a_bytearray_is_not_made_of_a_number():
    with pytest.raises((pickle.UnpicklingError, MemoryError)):
        read(archive(Called(Named("__builtin__", "bytearray"), 2**60)))
    assert read(saved({"b": bytearray(b"ab"), "c": b"\xff"}))["b"] == bytearray(b"ab")


def test_classes_cannot_be_changed():
    class Built:
        pass

    def save_built(self, _):
        self.save(Named("torch", "FloatStorage"))
        self.save((None, {"dtype": torch.float64}))
        self.write(pickle.BUILD)

    Forger.dispatch[Built] = save_built
    with pytest.raises((pickle.UnpicklingError, AttributeError)):
        read(archive(Built()))
    assert read(saved())["a"].dtype is torch.float32


def test_states_keep_what_they_know():
    state = torch.nn.Linear(1, 1).state_dict()
    assert read(saved(state))._metadata == state._metadata


def test_memory_may_be_that_of_the_file(tmp_path):
    torch.save(VALUE, tmp_path / "new.pt")
    torch.save(VALUE, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    found = torch.load(tmp_path / "new.pt", mmap=True)
    found["a"].add_(1)
    assert found["a"].tolist() == [*range(1, 11)] and found["b"].tolist() == [1, 1]
    assert torch.load(tmp_path / "new.pt")["a"].tolist() == [*range(10)]
    with pytest.raises(ValueError, match=r"^f must be a file path in order to use the mmap argument$"):
        read(saved(), mmap=True)
    with pytest.raises(RuntimeError, match=r"^mmap can only be used with files saved with `torch.save"):
        torch.load(str(tmp_path / "old.pt"), mmap=True)


def test_a_module_for_pickles_is_not_careful():
    with pytest.raises(
        RuntimeError, match=r"^Can not safely load weights when explicit pickle_module is specified$"
    ):
        read(saved(), pickle_module=pickle, weights_only=True)
    assert read(saved(), pickle_module=pickle)["b"].tolist() == [1, 1]
