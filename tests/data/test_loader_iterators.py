"""What goes through a `DataLoader`, for programs that look at it."""

import rushlight as torch
from rushlight.nn.modules.module import _EXTRA_STATE_KEY_SUFFIX
from rushlight.utils.data import dataloader


def test_a_loader_is_read_by_an_iterator_of_a_known_class():
    read = iter(dataloader.DataLoader(range(5), batch_size=2))
    assert isinstance(read, dataloader._BaseDataLoaderIter)
    assert not isinstance(read, dataloader._MultiProcessingDataLoaderIter)
    assert iter(read) is read and len(read) == 3
    assert [batch.tolist() for batch in read] == [[0, 1], [2, 3], [4]]


def test_what_else_modules_keep_has_a_known_key():
    class Counted(torch.nn.Module):
        def get_extra_state(self):
            return 3

    assert Counted().state_dict() == {_EXTRA_STATE_KEY_SUFFIX: 3}
