"""`save` and `load`: what comes back from a file, and what is refused."""

import io
import pickle

import pytest
import rushlight as torch


def through(value, **options):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool"])
def test_a_tensor_of_any_type_comes_back(dtype):
    x = torch.tensor([[0, 1], [1, 0]], dtype=getattr(torch, dtype)).t()
    y = through(x)
    assert y.dtype == x.dtype and y.stride() == x.stride()
    assert torch.equal(x, y)


def test_tensors_that_share_memory_share_it_afterwards():
    x = torch.ones(3)
    first, rest, again = through([x, x[1:], x])
    rest.add_(1)
    assert first.tolist() == [1.0, 2.0, 2.0]
    assert first is again


def test_whether_grad_is_required_and_whether_it_is_a_parameter_is_kept():
    leaf, parameter = through([torch.ones(1, requires_grad=True), torch.nn.Parameter(torch.ones(1))])
    assert leaf.requires_grad and leaf.is_leaf
    assert type(parameter) is torch.nn.Parameter


def test_states_of_a_module_and_its_optimizer_can_be_loaded_into_others(tmp_path):
    def made():
        module = torch.nn.Linear(2, 1)
        return module, torch.optim.Adam(module.parameters())

    module, optimizer = made()
    module(torch.ones(3, 2)).sum().backward()
    optimizer.step()
    torch.save({"module": module.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "state.pt")
    states = torch.load(tmp_path / "state.pt", map_location="cpu")
    other, other_optimizer = made()
    other.load_state_dict(states["module"])
    other_optimizer.load_state_dict(states["optimizer"])
    assert torch.equal(other.weight, module.weight)
    found = other_optimizer.state[other.weight]["exp_avg"]
    assert torch.equal(found, optimizer.state[module.weight]["exp_avg"])


def test_plain_values_come_back():
    value = {"dtype": torch.int64, "size": torch.Size([2]), "list": [1, 2.5, None, "x", (True,)], "set": {1}}
    assert through(value) == value


def test_a_module_is_read_only_if_anything_may_be():
    module = torch.nn.Linear(1, 1)
    with pytest.raises(pickle.UnpicklingError, match="was not an allowed global by default"):
        through(module)
    assert torch.equal(through(module, weights_only=False).weight, module.weight)


def test_what_is_no_file_is_refused():
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object"):
        torch.save(1, 3)
    with pytest.raises(AttributeError, match="'int' object has no attribute 'seek'"):
        torch.load(3)
    with pytest.raises(RuntimeError, match="Parent directory /nowhere does not exist"):
        torch.save(1, "/nowhere/file.pt")
    with pytest.raises(EOFError):
        torch.load(io.BytesIO())


def test_shapes_of_at_least_so_many_dimensions_are_made_of_lists_too():
    for function, shape in ((torch.atleast_1d, (1,)), (torch.atleast_2d, (1, 1))):
        assert [tuple(x.shape) for x in function([torch.tensor(1.0)])] == [shape]
        assert [tuple(x.shape) for x in function(torch.tensor(1.0), torch.ones(1))] == [shape, shape]


@pytest.mark.own
@pytest.mark.filterwarnings("error")
def test_a_file_that_breaks_is_told_by_what_broke_it():
    class Broken:
        """A file without memory, which is closed by its first failure, as those in memory are."""

        room = 300

        def write(self, data):
            if self.room is None:
                raise ValueError("I/O operation on closed file.")
            self.room -= len(data)
            if self.room < 0:
                self.room = None
                raise MemoryError("no room")
            return len(data)

    with pytest.raises(MemoryError, match="no room"):
        torch.save(torch.ones(1000), Broken())


def test_files_are_opened_for_a_block_or_stay_open(tmp_path):
    opened = torch.serialization._open_file_like
    with opened(tmp_path / "some.bin", "wb") as file:
        file.write(b"bytes")
    assert file.closed and (tmp_path / "some.bin").read_bytes() == b"bytes"
    memory = io.BytesIO(b"other")
    with opened(memory, "rb") as file:
        assert file is memory and file.read() == b"other"
    assert not memory.closed
    with pytest.raises(RuntimeError, match="Expected 'r' or 'w' in mode but got x"), opened(memory, "x"):
        pass
