"""Pipes of data: which a pipe reads from, and settings for all of them."""

import pytest
import rushlight as torch
from rushlight.utils.data import graph_settings
from rushlight.utils.data.datapipes.iter import IterableWrapper, IterDataPipe
from rushlight.utils.data.graph import traverse_dps
from support import raises


class Shared(IterDataPipe):
    def __init__(self, pipes):
        self.pipes, self.share, self.seed = pipes, (1, 0), None

    def apply_sharding(self, count, number):
        self.share = (count, number)

    def set_seed(self, seed):
        self.seed = seed

    def __iter__(self):
        count, number = self.share
        for pipe in self.pipes:
            yield from list(pipe)[number::count]


def test_a_graph_has_the_pipes_that_a_pipe_reads_from():
    first = IterableWrapper(range(4))
    shared = Shared([first, first])
    last = shared.map(str)
    assert traverse_dps(last) == {id(last): (last, {id(shared): (shared, {id(first): (first, {})})})}
    assert graph_settings.get_all_graph_pipes(traverse_dps(last)) == [last, shared, first]


def test_all_pipes_are_given_their_share_and_a_seed():
    shared = Shared((IterableWrapper(range(6)),))
    last = shared.map(str)
    assert graph_settings.apply_sharding(last, 2, 1) is last
    assert list(last) == ["1", "3", "5"]
    graph_settings.apply_random_seed(last, torch.Generator().manual_seed(0))
    assert isinstance(shared.seed, int)


def test_pipes_shuffle_or_not():
    pipe = IterableWrapper(range(20)).shuffle()
    assert graph_settings.apply_shuffle_settings(pipe) is pipe
    assert graph_settings.apply_shuffle_settings(pipe, shuffle=False) is pipe
    assert list(pipe) == list(range(20))
    graph_settings.apply_shuffle_settings(pipe, shuffle=True)
    assert list(pipe) != list(range(20))
    assert sorted(pipe) == list(range(20))
    with pytest.warns(UserWarning, match="does not contain a `Shuffler`. Adding one at the end."):
        shuffled = graph_settings.apply_shuffle_settings(IterableWrapper(range(3)), shuffle=True)
    assert sorted(shuffled) == [0, 1, 2]


def test_loaders_of_other_libraries_wrap_pipes():
    from rushlight.utils.data.datapipes.datapipe import (
        MapDataPipe,
        _IterDataPipeSerializationWrapper,
        _MapDataPipeSerializationWrapper,
    )

    class Doubled(MapDataPipe):
        def __getitem__(self, key):
            return 2 * key

    wrapped = _IterDataPipeSerializationWrapper(IterableWrapper(range(3)))
    assert isinstance(wrapped, IterDataPipe)
    assert list(wrapped) == list(wrapped) == [0, 1, 2]
    assert _MapDataPipeSerializationWrapper(Doubled())[4] == 8
    with raises(TypeError, "_MapDataPipeSerializationWrapper instance doesn't have valid length"):
        len(_MapDataPipeSerializationWrapper(Doubled()))


def test_settings_are_for_pipes():
    with raises(RuntimeError, "Expected `IterDataPipe` or `MapDataPipe`, but <class 'list'> is found"):
        graph_settings.apply_sharding([1], 2, 0)


def test_a_port_is_free():
    from rushlight.distributed.elastic.utils.distributed import get_free_port, get_socket_with_port

    with get_socket_with_port() as listening:
        assert listening.getsockname()[1] > 0
    assert 0 < get_free_port() < 65536
