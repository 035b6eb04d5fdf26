"""Names of operators for other devices, and of families, as torch's compiled module has them."""

import pytest
import rushlight as torch

FUNCTIONS = torch._C._VariableFunctions


@pytest.mark.parametrize("name", ["q_scale", "qscheme", "int_repr", "_dimI", "_nested_tensor_size"])
def test_methods_that_no_processor_computes_say_so(name):
    with pytest.raises(
        NotImplementedError, match=f"Could not run 'aten::{name}' with arguments from the 'CPU'"
    ):
        getattr(torch.ones(2), name)()


@pytest.mark.parametrize("name", ["cudnn_grid_sampler", "miopen_convolution", "mkldnn_max_pool2d"])
def test_functions_of_other_devices_are_known_and_refuse(name):
    with pytest.raises(
        NotImplementedError, match=f"Could not run 'aten::{name}' with arguments from the 'CPU'"
    ):
        getattr(FUNCTIONS, name)(*[torch.ones(1)] * 2, None, [0], [1], [1], 1, False, False)


def test_what_torch_does_not_name_is_not_known():
    with pytest.raises(AttributeError):
        FUNCTIONS.nonsense  # noqa: B018


def test_calls_of_them_are_shown_to_classes():
    class Shown(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    x = torch.ones(2).as_subclass(Shown)
    assert x.q_zero_point() == "q_zero_point"
    assert FUNCTIONS._fused_dropout(x, 0.5) == "_fused_dropout"


def test_methods_are_functions_too():
    x = torch.tensor([1, 2])
    assert FUNCTIONS.__and__(x, 1).tolist() == [1, 0]
    assert FUNCTIONS.dequantize(torch.ones(1)).tolist() == [1.0]
    assert FUNCTIONS._lazy_clone(x).tolist() == [1, 2] and not x._is_zerotensor()
    assert torch.ones(2)._to_sparse().layout is torch.sparse_coo
    assert torch.ones(1, 2)._to_sparse_csr().layout is torch.sparse_csr
    assert (x > 0)._is_all_true() and (x > 1)._is_any_true()


def test_families_are_modules_whose_functions_bear_their_names():
    assert torch._C._fft.fft_rfft(torch.ones(2)).tolist() == [2.0, 0.0]
    assert torch._C._linalg.linalg_det(torch.eye(2)).item() == 1.0
    assert torch._C._special.special_expit(torch.zeros(1)).item() == 0.5
    found, places = torch._C._nn.adaptive_max_pool2d(torch.arange(4.0).reshape(1, 2, 2), [1, 1])
    assert (found.item(), places.item()) == (3.0, 3)


def test_operators_that_copy_what_others_show_are_computed():
    x = torch.eye(2).to_sparse().coalesce()
    for found in (torch.ops.aten.values_copy(x), FUNCTIONS.values_copy(x), torch._C._nn.values_copy(x)):
        assert found.tolist() == [1.0, 1.0]
    assert torch.ops.aten.indices_copy(x).tolist() == [[0, 1], [0, 1]]
    assert not torch.ops.aten._neg_view_copy(torch.ones(1)).is_neg()
