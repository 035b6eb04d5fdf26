"""Names of torch's compiled module: what a thread keeps, where tensors are, marks that are set in place."""

import threading

import pytest
import rushlight as torch
from rushlight import _C
from support import raises


def test_a_thread_keeps_objects_under_names():
    kept = object()
    _C._stash_obj_in_tls("kept", kept)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(_C._is_key_in_tls("kept")))
    thread.start()
    thread.join()
    assert _C._get_obj_in_tls("kept") is kept and seen == [False]
    _C._remove_obj_from_tls("kept")
    assert not _C._is_key_in_tls("kept")
    with raises(RuntimeError, "Expected py_objects.obj_dict_.count(key) to be true, but got false."):
        _C._get_obj_in_tls("kept")
    with raises(TypeError, "_stash_obj_in_tls(): incompatible function arguments."):
        _C._stash_obj_in_tls(1, 2)


def test_tensors_on_one_memory_are_aliases():
    x = torch.arange(6.0).reshape(2, 3)
    assert _C._is_alias_of(x[0], x[1]) and _C._overlaps(x[0], x[1])
    assert not _C._is_alias_of(x, x.clone()) and not _C._overlaps(x, x.clone())
    assert not _C._is_alias_of(torch.empty(0), torch.empty(0)) and not _C._overlaps(x, 1)


def test_memory_has_an_address_and_a_number():
    x = torch.arange(6.0)
    assert _C._data_address(x[2:]) == x.data_ptr()
    assert _C._storage_id(x[2:]) == _C._storage_address(x) == x.untyped_storage()._cdata
    assert _C._has_storage(x)
    with raises(TypeError, "_data_address(): incompatible function arguments."):
        _C._data_address(3)


def test_a_weak_reference_expires_with_the_tensor_and_not_with_its_object():
    x, gradient = torch.ones(2, requires_grad=True), torch.zeros(2)
    x.grad, reference = gradient, _C._WeakTensorRef(gradient)
    del gradient
    assert not reference.expired()
    x.grad = None
    assert reference.expired()


def test_the_size_that_two_sizes_broadcast_to_is_found():
    size = torch.Size
    assert _C._infer_size(size([2, 1]), size([3])) == size([2, 3])
    assert _C._infer_size(size([0]), size([1])) == size([0])
    text = "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1"
    with raises(RuntimeError, text):
        _C._infer_size(size([4, 2]), size([3]))
    with raises(RuntimeError, "expected a torch.Size as argument 1"):
        _C._infer_size((2, 1), size([3]))
    with raises(RuntimeError, "expected exactly 2 arguments"):
        _C._infer_size(size([2]))


def test_a_tensor_is_marked_as_conjugate_or_negative_in_place():
    x = torch.tensor([1 + 2j])
    address = x.data_ptr()
    _C._set_conj(x, True)
    assert x.is_conj() and x.tolist() == [1 - 2j] and x.data_ptr() == address
    _C._set_conj(x, False)
    assert not x.is_conj() and x.tolist() == [1 + 2j]
    y = torch.tensor([1.0])
    _C._set_neg(y, True)
    assert y.is_neg() and y.tolist() == [-1.0]


def test_writes_are_counted_for_those_that_are_tensors():
    x = torch.ones(2)
    _C._increment_version([x, x])
    assert x._version == 2
    with raises(RuntimeError, "increment_version expects each element of the iterable to be a tensor"):
        _C._increment_version([1])
    with raises(RuntimeError, "increment_version expect a Iterable[Tensor] as input"):
        _C._increment_version(1)


def test_the_functions_that_pack_are_known():
    top = _C._autograd._top_saved_tensors_default_hooks
    assert top(True) is None
    with torch.autograd.graph.saved_tensors_hooks(len, int):
        with torch.autograd.graph.saved_tensors_hooks(abs, max):
            assert top(True) == (abs, max)
        assert top(False) == (len, int)


meaning = _C._autograd.CreationMeta


def made(block, cut=lambda base: base[:2]):
    with block:
        return cut(torch.ones(4))


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (made(torch.enable_grad()), meaning.DEFAULT),
        (made(torch.no_grad()), meaning.NO_GRAD_MODE),
        (made(torch.enable_grad(), lambda base: base.unbind()[0]), meaning.MULTI_OUTPUT_NODE),
    ],
)
def test_a_view_knows_how_it_came_to_be(view, expected):
    assert _C._autograd._get_creation_meta(view) == expected


def test_how_a_view_came_to_be_decides_about_writes():
    base = torch.ones(4, requires_grad=True).clone()
    view = base.unbind()[0]
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        view.mul_(2)
    _C._autograd._set_creation_meta(view, meaning.DEFAULT)
    view.mul_(2)
    assert base.tolist() == [2.0, 1.0, 1.0, 1.0]
    assert str(meaning.NO_GRAD_MODE) == "CreationMeta.NO_GRAD_MODE" and int(meaning.NO_GRAD_MODE) == 3
    with raises(RuntimeError, "Expected meta != nullptr to be true, but got false."):
        _C._autograd._get_creation_meta(base)


def test_a_level_of_forward_mode_has_a_number():
    level = _C._enter_dual_level()
    assert level == 0
    with raises(
        RuntimeError, "Exiting a forward AD level that is not the last that was created is not support."
    ):
        _C._exit_dual_level(level=1)
    _C._exit_dual_level(level=level)


def test_modes_of_the_thread_are_told_by_the_same_names():
    assert _C._TensorBase is _C.TensorBase
    assert _C.is_grad_enabled() and not _C.is_inference_mode_enabled() and not _C.is_anomaly_enabled()
    with _C._InferenceMode(True):
        assert _C.is_inference_mode_enabled()
    assert _C.get_num_threads() == torch.get_num_threads()
