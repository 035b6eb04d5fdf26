"""Stores: keys and values that processes share."""

import datetime
import json
import socket
import threading

import pytest
import rushlight as torch
from support import PARITY, raises

dist = torch.distributed
SOON = datetime.timedelta(milliseconds=150)


def hash_store(folder):
    return dist.HashStore()


def file_store(folder):
    return dist.FileStore(str(folder / "store"), 1)


def tcp_store(folder):
    return dist.TCPStore("127.0.0.1", 0, 1, True, datetime.timedelta(seconds=20))


def part_of_a_store(folder):
    return dist.PrefixStore("part", dist.HashStore())


@pytest.fixture(params=[hash_store, file_store, tcp_store, part_of_a_store])
def store(request, tmp_path):
    return request.param(tmp_path)


def test_values_are_kept(store):
    store.set("a", "1")
    assert store.get("a") == b"1" and store.check(["a"]) and not store.check(["a", "b"])
    assert [store.add("n", 3), store.add("n", 2)] == [3, 5] and store.get("n") == b"5"
    store.set("empty", "")
    assert store.get("empty") == b""
    assert store.compare_set("a", "1", "2") == b"2" and store.compare_set("a", "9", "3") == b"2"
    assert store.compare_set("new", "x", "3") == b"x" and not store.check(["new"])
    assert store.compare_set("new", "", "3") == b"3"
    store.wait(["a", "n"])
    before = store.num_keys()
    assert store.delete_key("a") and not store.check(["a"])
    assert store.num_keys() == before - 1 or PARITY  # A file counts what was written.


def test_a_key_is_waited_for(store):
    late = threading.Timer(0.1, store.set, ("late", "came")) if not isinstance(store, dist.TCPStore) else None
    if late is None:
        other = dist.TCPStore("127.0.0.1", store.port, is_master=False)
        late = threading.Timer(0.1, other.set, ("late", "came"))
    late.start()
    assert store.get("late") == b"came"
    late.join()


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (hash_store, dist.DistStoreError, "Wait timeout"),
        (tcp_store, dist.DistStoreError, "wait timeout after 150ms, keys: /none"),
        (file_store, RuntimeError, "Timeout waiting for key: none after 150 ms"),
    ],
)
def test_what_never_comes_is_an_error(make, kind, text, tmp_path):
    store = make(tmp_path)
    store.set_timeout(SOON)
    with raises(kind, text):
        store.get("none")


def test_several_keys_at_once():
    store = dist.HashStore()
    store.multi_set(["u", "v"], ["1", "2"])
    store.append("u", "x")
    assert store.multi_get(["u", "v"]) == [b"1x", b"2"] and store.has_extended_api()
    store.queue_push("q", "first")
    assert store.queue_len("q") == 1 and store.queue_pop("q") == b"first"
    with raises(dist.QueueEmptyError, "queue is empty"):
        store.queue_pop("q", False)


def test_a_part_shares_the_whole():
    whole = dist.HashStore()
    part = dist.PrefixStore("part", whole)
    part.set("key", "value")
    assert whole.get("part/key") == b"value" and part.underlying_store is whole


def test_processes_share_a_file(tmp_path):
    one, two = (dist.FileStore(str(tmp_path / "store"), 2) for _ in range(2))
    one.set("a", "1")
    assert two.add("n", 1) == 1 and one.add("n", 1) == 2 and two.get("a") == b"1"


def test_errors_of_the_network():
    store = tcp_store(None)
    with raises(
        dist.DistNetworkError, "The server socket has failed to listen on any local network address."
    ):
        dist.TCPStore("127.0.0.1", store.port, 2, True, SOON)
    with raises(
        dist.DistNetworkError, "The client socket has timed out after 150ms while trying to connect to"
    ):
        dist.TCPStore("127.0.0.1", 1, 2, False, SOON)
    assert issubclass(dist.DistNetworkError, dist.DistError) and issubclass(dist.DistError, RuntimeError)


@pytest.mark.own
@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 64, b"", b"\0" * 7])
def test_a_server_bears_what_it_does_not_understand(said):
    store = tcp_store(None)
    with socket.create_connection(("127.0.0.1", store.port)) as stranger:
        stranger.sendall(said)
    store.set("a", "1")
    assert store.get("a") == b"1"


@pytest.mark.own
def test_what_is_no_key_and_no_value_is_refused():
    store = tcp_store(None)
    with raises(TypeError, "keys of a store are str, but got int"):
        store.set(3, "4")
    with raises(TypeError, "values of a store are str or bytes, but got int"):
        store.set("3", 4)
    store.set("text", "no number")
    with raises(dist.DistStoreError, "ValueError: invalid literal"):
        store.add("text", 1)
    assert store.get("text") == b"no number"


@pytest.mark.own
def test_who_has_not_read_the_store_does_not_get_in():
    from rushlight.distributed._sockets import Mesh, Sockets

    store, made = dist.HashStore(), {}
    first = threading.Thread(target=lambda: made.update({0: Mesh(store, 0, 2, 30)}))
    first.start()
    said = json.loads(store.get("mesh/0"))
    with socket.create_connection((said["host"], said["port"])) as stranger:
        stranger.sendall(b"x" * 16 + (1).to_bytes(4, "big"))
        # It is hung up on.
        assert stranger.recv(1) == b""
    made[1] = Mesh(store, 1, 2, 30)
    first.join()
    ways = [Sockets(made[rank], "world", range(2)) for rank in range(2)]
    view = memoryview(bytearray(3))
    arriving = ways[0].begin_receive(1, 5, view)
    ways[1].begin_send(0, 5, memoryview(b"abc"))
    arriving.wait(30)
    assert bytes(view) == b"abc" and arriving.source == 1
    for way in ways:
        way.close()
