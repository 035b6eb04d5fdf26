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


def test_choices_go_to_the_modules_that_they_are_for():
    from rushlight.ao.quantization import (
        QConfig,
        default_dynamic_qconfig,
        default_qconfig,
        propagate_qconfig_,
    )

    net = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Sequential(torch.nn.ReLU()), torch.nn.Tanh())
    propagate_qconfig_(net, {torch.nn.Linear: default_qconfig, "1": default_dynamic_qconfig})
    assert net.qconfig is None and net[2].qconfig is None
    for module, kind in ((net[0], "MinMax"), (net[1], "Placeholder"), (net[1][0], "Placeholder")):
        assert type(module.qconfig.activation()).__name__ == f"{kind}Observer"
    with pytest.raises(ValueError, match="received observer instance, please pass observer class"):
        QConfig(torch.nn.Identity(), torch.nn.Identity)


def test_choices_by_kind_and_name_as_lists():
    from rushlight.ao.quantization import QConfigMapping, default_qconfig

    mapping = QConfigMapping().set_global(default_qconfig).set_object_type(torch.nn.Linear, None)
    mapping.set_module_name_object_type_order("head", torch.nn.ReLU, 1, default_qconfig)
    found = mapping.to_dict()
    assert found == {
        "": default_qconfig,
        "object_type": [(torch.nn.Linear, None)],
        "module_name_regex": [],
        "module_name": [],
        "module_name_object_type_order": [("head", torch.nn.ReLU, 1, default_qconfig)],
    }
    assert QConfigMapping.from_dict(found).to_dict() == found
    assert repr(QConfigMapping()) == (
        "QConfigMapping (\n global_qconfig\n  None\n object_type_qconfigs\n  OrderedDict()\n"
        " module_name_regex_qconfigs\n  OrderedDict()\n module_name_qconfigs\n  OrderedDict()\n"
        " module_name_object_type_order_qconfigs\n  OrderedDict()\n)"
    )


def test_no_tensor_is_without_numbers():
    from rushlight._subclasses.fake_tensor import FakeTensor, is_fake

    assert not is_fake(torch.ones(1)) and not isinstance(torch.ones(1), FakeTensor)


def test_the_numbers_of_a_tensor_as_text():
    from rushlight._tensor_str import _tensor_str

    assert _tensor_str(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 2) == "[[1., 2.],\n   [3., 4.]]"
    assert _tensor_str(torch.tensor([1, 2], dtype=torch.int16), 0) == "[1, 2]"


def test_warnings_of_traces_of_the_package_are_not_shown():
    import warnings

    with warnings.catch_warnings():
        torch.jit.TracerWarning.ignore_lib_warnings()
        assert ("ignore", torch.jit.TracerWarning) in [each[:3:2] for each in warnings.filters]
    assert torch.jit._state._clear_class_state() is None
    assert type(torch.jit._recursive.concrete_type_store) is torch.jit._recursive.ConcreteTypeStore
