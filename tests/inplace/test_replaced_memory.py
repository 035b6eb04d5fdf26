"""Replacing what a tensor shows, by `x.data = y`, `set_` or `resize_`, leaves it the count of its writes."""

import pytest
import rushlight as torch


def with_other_data(x):
    x.data = torch.zeros(2, 3)


def with_set(x):
    x.set_(torch.zeros(3))


def enlarged(x):
    x.resize_(100)


@pytest.mark.parametrize("replace", [with_other_data, with_set, enlarged])
@pytest.mark.parametrize("other", [lambda x: x[:], lambda x: x.detach(), lambda x: x.view(2)])
def test_views_and_detached_tensors_go_on_counting_with_it(replace, other):
    x = torch.ones(2)
    second = other(x.add_(1))
    replace(x)
    assert x._version == second._version
    before = x._version
    x.add_(1)
    assert x._version == second._version == before + 1
    second.add_(1)
    assert x._version == second._version == before + 2


def test_a_view_with_other_memory_counts_with_its_base():
    x = torch.ones(2)
    v = x.view(2)
    v.data = torch.zeros(2)
    v.data = torch.zeros(2)
    v.add_(1)
    assert (x._version, x.tolist(), v.tolist()) == (1, [1.0, 1.0], [1.0, 1.0])


def test_backward_notices_a_write_after_the_memory_was_replaced():
    x = torch.ones(2, requires_grad=True) * 1
    y, d = x.sin(), x.detach()
    d.data = torch.zeros(2)
    d.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()


def test_the_count_outlives_the_other_tensors():
    x = torch.ones(2)
    views = [x[:1] for _ in range(3)]
    x.data = torch.zeros(2)
    views.pop().add_(1)
    views.clear()
    x.add_(1)
    assert x._version == 2


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.parametrize("write", [lambda x: torch.sin(torch.ones(2, 2), out=x), lambda x: x.resize_(2, 2)])
def test_other_sizes_count_as_a_write(write):
    x, w = torch.ones(3), torch.ones(3, requires_grad=True)
    y = (w * x).sum()
    write(x)
    assert x._version == 1
    with pytest.raises(RuntimeError, match=r"FloatTensor \[2, 2\]\] is at version 1; expected version 0"):
        y.backward()


def test_an_output_that_was_empty_counts_one_write():
    x = torch.empty(0)
    torch.add(torch.ones(2, 2), 1, out=x)
    assert x._version == 1


def test_a_write_is_noticed_where_the_memory_has_become_of_another_form():
    x, w = torch.ones(3), torch.ones(3, requires_grad=True)
    y = (w * x).sum()
    x.data = torch.ones(2, 2)
    x.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.backward()


def test_an_inference_tensor_cannot_be_resized_outside():
    with torch.inference_mode():
        x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        x.resize_(3)
    assert x.is_inference()


def test_the_node_of_set_leads_to_what_both_tensors_come_from():
    def edges(x):
        assert x.grad_fn.name() == "torch::autograd::NotImplemented"
        return [(None if node is None else node.name(), number) for node, number in x.grad_fn.next_functions]

    def result():
        return torch.ones(2, requires_grad=True) * 2

    assert edges(result().set_(torch.ones(3))) == [("MulBackward0", 0), (None, 0)]
    assert edges(torch.ones(2).set_(result())) == [(None, 0), ("MulBackward0", 0)]
    assert edges(result().set_(result())) == [("MulBackward0", 0)] * 2
    assert edges(result().set_()) == [("MulBackward0", 0)]
