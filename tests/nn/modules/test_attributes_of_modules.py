"""Attributes of modules: where they are looked for, in which order, and what classes may do about it."""

import pickle

import pytest
import rushlight as torch
from rushlight import nn


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("mean", torch.zeros(2))
        self.layer = nn.Linear(2, 2)


def test_parameters_buffers_and_children_are_attributes():
    holder = Holder()
    assert holder.weight is holder._parameters["weight"]
    assert holder.mean is holder._buffers["mean"]
    assert holder.layer is holder._modules["layer"]


def test_what_is_put_into_a_table_is_seen_at_once():
    holder = Holder()
    other = nn.Parameter(torch.zeros(2))
    holder._parameters["weight"] = other
    assert holder.weight is other
    del holder._parameters["weight"]
    with pytest.raises(AttributeError, match="'Holder' object has no attribute 'weight'"):
        holder.weight  # noqa: B018


def test_the_dictionary_of_the_instance_and_the_class_come_first():
    holder = Holder()
    holder.__dict__["weight"] = "own"
    assert holder.weight == "own"
    del holder.__dict__["weight"]
    Holder.mean = property(lambda self: "of the class")
    try:
        assert holder.mean == "of the class"
    finally:
        del Holder.mean
    assert holder.mean is holder._buffers["mean"]


def test_a_table_of_another_class_is_read_in_its_way():
    class Doubling(dict):
        def __getitem__(self, name):
            return ("read", super().__getitem__(name))

    holder = Holder()
    weight = holder.weight
    holder.__dict__["_parameters"] = Doubling(holder._parameters)
    assert holder.weight == ("read", weight)


def test_a_class_may_look_in_its_own_way_and_ask_the_module_first():
    class Wrapping(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    wrapping = Wrapping(nn.Linear(3, 4))
    assert wrapping.out_features == 4
    assert wrapping.weight.shape == (4, 3)
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'missing'"):
        wrapping.missing  # noqa: B018


def test_a_way_of_ones_own_may_be_assigned_and_taken_back():
    class Late(nn.Module):
        pass

    class Later(Late):
        pass

    late, later = Late(), Later()
    Late.__getattr__ = lambda self, name: f"no {name}"
    assert (late.anything, later.anything) == ("no anything", "no anything")
    del Late.__getattr__
    with pytest.raises(AttributeError, match="'Late' object has no attribute 'anything'"):
        late.anything  # noqa: B018


def test_getattribute_of_a_class_sees_every_name():
    seen = []

    class Seeing(nn.Module):
        def __getattribute__(self, name):
            seen.append(name)
            return super().__getattribute__(name)

    seeing = Seeing()
    seeing.weight = nn.Parameter(torch.ones(1))
    seen.clear()
    assert seeing.weight.shape == (1,)
    assert "weight" in seen


def test_a_property_that_fails_is_no_attribute():
    class Failing(nn.Module):
        @property
        def broken(self):
            raise AttributeError("inside")

        @property
        def wrong(self):
            raise ValueError("inside")

    with pytest.raises(AttributeError, match="'Failing' object has no attribute 'broken'"):
        Failing().broken  # noqa: B018
    with pytest.raises(ValueError, match="inside"):
        Failing().wrong  # noqa: B018


def test_a_module_that_was_not_initialised_has_no_attributes():
    class Bare(nn.Module):
        def __init__(self):
            pass

    with pytest.raises(AttributeError, match="'Bare' object has no attribute 'weight'"):
        Bare().weight  # noqa: B018


def test_modules_with_other_bases_and_pickled_ones_find_their_parameters():
    class Base:
        def __init_subclass__(cls):
            """Tell no other class."""

    class Mixed(Base, nn.Linear):
        pass

    assert Mixed(2, 3).weight.shape == (3, 2)
    assert pickle.loads(pickle.dumps(nn.Linear(2, 3))).weight.shape == (3, 2)


def test_names_that_are_no_strings_are_refused():
    with pytest.raises(TypeError):
        object.__getattribute__(Holder(), 3)
    with pytest.raises(TypeError):
        getattr(Holder(), 3)


@pytest.mark.own
def test_only_classes_written_in_python_are_changed():
    with pytest.raises(TypeError, match="only classes written in Python"):
        torch._rushlight._look_into_tables(int)
