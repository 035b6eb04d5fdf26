"""Quantisation and tensors without numbers: models have the places, and refuse the rest."""

import pytest
import rushlight as torch


def test_places_pass_numbers_on():
    model = torch.ao.quantization.QuantWrapper(torch.nn.ReLU())
    assert model(torch.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
    assert list(dict(model.named_children())) == ["quant", "dequant", "module"]


@pytest.mark.own
def test_models_are_not_quantised():
    with pytest.raises(NotImplementedError, match="models are not quantised here"):
        torch.ao.quantization.convert(torch.nn.ReLU())


def test_no_tensor_is_without_numbers():
    from rushlight._subclasses.fake_tensor import FakeTensor, is_fake

    assert not is_fake(torch.ones(1)) and not isinstance(torch.ones(1), FakeTensor)


def test_the_numbers_of_a_tensor_as_text():
    from rushlight._tensor_str import _tensor_str

    assert _tensor_str(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 2) == "[[1., 2.],\n   [3., 4.]]"
    assert _tensor_str(torch.tensor([1, 2], dtype=torch.int16), 0) == "[1, 2]"
