"""What goes through a `DataLoader`, for programs that look at it."""

from collections import namedtuple

import rushlight as torch
from rushlight.nn.modules.module import _EXTRA_STATE_KEY_SUFFIX
from rushlight.utils.data import dataloader


def test_a_loader_is_read_by_an_iterator_of_a_known_class():
    read = iter(dataloader.DataLoader(range(5), batch_size=2))
    assert isinstance(read, dataloader._BaseDataLoaderIter)
    assert not isinstance(read, dataloader._MultiProcessingDataLoaderIter)
    assert iter(read) is read and len(read) == 3
    assert [batch.tolist() for batch in read] == [[0, 1], [2, 3], [4]]


def test_what_can_pin_its_memory_is_asked_to():
    from rushlight.utils.data._utils.pin_memory import pin_memory

    class Kept:
        def pin_memory(self):
            return "pinned"

    Pair = namedtuple("Pair", "left right")
    assert pin_memory(Kept(), "cpu") == "pinned"
    assert pin_memory([Kept(), (3, Kept()), "a"]) == ["pinned", (3, "pinned"), "a"]
    assert pin_memory({"a": Pair(b"b", Kept())}) == {"a": Pair(b"b", "pinned")}
    assert pin_memory(range(2)) == [0, 1]


def test_what_else_modules_keep_has_a_known_key():
    class Counted(torch.nn.Module):
        def get_extra_state(self):
            return 3

    assert Counted().state_dict() == {_EXTRA_STATE_KEY_SUFFIX: 3}


class Sliced(dataloader.DataLoader):
    """A loader that has the data set give a batch at once."""

    _auto_collation = property(lambda self: not hasattr(self, "begun"))
    _index_sampler = property(lambda self: self.batch_sampler)

    def __iter__(self):
        self.begun = True
        return super().__iter__()


def test_a_loader_of_ones_own_says_whether_samples_are_joined_and_what_is_read():
    for workers in (0, 2):
        loader = Sliced(
            torch.arange(5), batch_size=2, collate_fn=lambda batch: batch * 10, num_workers=workers
        )
        assert [batch.tolist() for batch in loader] == [[0, 10], [20, 30], [40]]
        assert len(loader) == 3


def test_a_loader_tells_how_it_reads():
    loader = dataloader.DataLoader([1, 2, 3], batch_size=2)
    assert loader._auto_collation
    assert loader._index_sampler is loader.batch_sampler
    assert loader._dataset_kind == 0
    assert loader._get_iterator()._next_data().tolist() == [1, 2]
    single = dataloader.DataLoader([1, 2], batch_size=None)
    assert not single._auto_collation
    assert single._index_sampler is single.sampler
