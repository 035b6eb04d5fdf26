"""Errors of backward say in notes where their causes are; their text stays that of torch."""

import linecache
import sys
import traceback
import weakref

import pytest
import rushlight as torch
from custom_functions.square import Square
from support import leaf

HERE = __file__


def failure(function):
    """The RuntimeError that `function` raises."""
    with pytest.raises(RuntimeError) as caught:
        function()
    return caught.value


def notes(error):
    return "\n".join(getattr(error, "__notes__", ()))


def line_of(marker):
    """The line of this file that ends in the comment `# marker`."""
    wanted = f"# {marker}"
    with open(HERE, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith(wanted))


def at(marker):
    return f"{HERE}:{line_of(marker)}"


def overwritten():
    y = leaf(1.0, 2.0) * 1
    z = y * y  # saved here
    y.add_(1)  # written here
    return z.sum().backward()


def test_the_text_of_an_in_place_error_is_torchs_to_the_last_letter():
    assert str(failure(overwritten)) == (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.DoubleTensor [2]], which is output 0 of AddBackward0, is at version 1; expected version 0 "
        "instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
        "with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    ).replace("AddBackward0", "Add")


@pytest.mark.own
def test_an_in_place_error_says_where_the_tensor_was_saved_and_where_written():
    told = notes(failure(overwritten))
    assert f"MulBackward0 saved the tensor at {at('saved here')}, in overwritten\n    z = y * y" in told
    assert f"in place at {at('written here')}, in overwritten\n    y.add_(1)" in told


@pytest.mark.own
def test_the_traceback_shows_the_notes_below_the_text():
    error = failure(overwritten)
    if sys.version_info >= (3, 11):
        assert at("saved here") in "".join(traceback.format_exception(error))


def test_an_unrecorded_write_leaves_the_name_of_the_operation():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y * y
    y.detach().add_(1)
    error = failure(lambda: z.sum().backward())
    assert "which is output 0 of Mul, is at version 1" in str(error)


def test_a_write_to_a_view_is_named_for_the_base():
    y = leaf(1.0, 2.0) * 1
    z = y.sin()
    y[0] = 7
    assert "which is output 0 of torch::autograd::CopySlices, is" in str(failure(lambda: z.sum().backward()))


def test_a_saved_view_is_named_for_the_window_that_it_is_now():
    y = (leaf(1.0, 2.0) * 1).view(2, 1)
    z = y.cos()
    y.zero_()
    assert "which is output 0 of AsStrided, is" in str(failure(lambda: z.sum().backward()))


@pytest.mark.parametrize(
    "write",
    [
        lambda base, view: base.add_(1),
        lambda base, view: view.add_(1),
        lambda base, view: view.detach().add_(1),
        lambda base, view: base[0].zero_(),
    ],
)
def test_a_saved_view_is_named_for_its_window_however_it_was_written(write):
    base = leaf(1.0, 2.0) * 1
    for view in (base.view(1, 2), base[:1], base.t(), base.unsqueeze(0).t()):
        y = view * view
        write(base, view)
        assert "which is output 0 of AsStrided, is" in str(failure(lambda y=y: y.sum().backward()))


def test_a_write_that_gave_a_plain_tensor_a_history_is_named():
    plain = torch.ones(2, dtype=torch.float64)
    x = leaf(1.0, 2.0)
    z = x * plain
    plain.mul_(x)
    assert "which is output 0 of Mul, is at version 1" in str(failure(lambda: z.sum().backward()))


@pytest.mark.own
def test_a_write_by_an_optimiser_is_found():
    weight = leaf(1.0, 2.0)
    loss = (weight * weight).sum()
    weight.grad = torch.ones(2, dtype=torch.float64)
    torch.optim.SGD([weight], lr=0.1).step()  # step here
    assert at("step here") in notes(failure(loss.backward))


def backward_twice():
    loss = (leaf(1.0) ** 2).sum()  # recorded here
    loss.backward()  # first here
    loss.backward()


def test_the_text_of_a_second_backward_is_torchs():
    assert str(failure(backward_twice)) == (
        "Trying to backward through the graph a second time (or directly access saved tensors after they have "
        "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time "
        "or if you need to access saved tensors after calling backward."
    )


@pytest.mark.own
def test_a_second_backward_says_where_the_first_was():
    told = notes(failure(backward_twice))
    assert f"PowBackward0 was recorded at {at('recorded here')}" in told
    assert f"freed it was started at {at('first here')}" in told


@pytest.mark.own
def test_functions_of_ones_own_have_places_too():
    loss = Square.apply(leaf(1.0)).sum()  # applied here
    loss.backward()  # first of own here
    told = notes(failure(loss.backward))
    assert at("applied here") in told and at("first of own here") in told


def no_history(loss):
    error = failure(lambda: loss.sum().backward())
    assert str(error) == "element 0 of tensors does not require grad and does not have a grad_fn"
    return notes(error)


@pytest.mark.own
class TestWhereHistoryStopped:
    def test_in_a_block_without_recording(self):
        w = leaf(1.0)
        with torch.no_grad():
            y = w * 2  # no_grad here
        told = no_history(y + 1)
        assert "no_grad" in told and at("no_grad here") in told

    def test_at_a_detach_some_operations_ago(self):
        y = (leaf(1.0) * 2).detach()  # detach here
        told = no_history(torch.cat([y.exp(), y]).reshape(2, 1))
        assert "detached" in told and at("detach here") in told

    def test_at_data(self):
        y = (leaf(1.0) * 2).data  # data here
        assert at("data here") in no_history(y)

    def test_at_a_conversion_to_integers(self):
        y = (leaf(1.0) * 2).long()  # long here
        told = no_history(y.double())
        assert "floating-point" in told and at("long here") in told

    def test_at_an_index_of_the_greatest_element(self):
        y = leaf(1.0, 2.0).argmax()  # argmax here
        assert at("argmax here") in no_history(y * 1.0)

    def test_at_a_comparison(self):
        x = leaf(1.0, 2.0)
        y = x > 1  # compared here
        assert at("compared here") in no_history(y.double())

    def test_at_an_array(self):
        array = (leaf(1.0) * 2).detach().numpy()  # array here
        told = no_history(torch.from_numpy(array + 1) * 2)
        assert "array" in told and at("array here") in told

    def test_nowhere_if_nothing_ever_required_grad(self):
        assert no_history(torch.ones(2) * 3) == "Nothing that it was computed from required grad."


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used = torch.nn.Linear(2, 2)
        self.spare = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.used(x)


def test_the_text_about_an_unused_input_is_torchs():
    x, y = leaf(1.0), leaf(2.0)
    assert str(failure(lambda: torch.autograd.grad((x * 2).sum(), [x, y]))) == (
        "The differentiated Tensor at index 1 appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior."
    )


@pytest.mark.own
def test_an_unused_parameter_is_named():
    net = Net()
    loss = net(torch.ones(1, 2)).sum()
    told = notes(failure(lambda: torch.autograd.grad(loss, list(net.parameters()))))
    assert told == "The input at index 2 is the parameter 'spare.weight' of Net"


@pytest.mark.own
def test_an_unused_parameter_is_named_beside_what_is_gone_or_half_made():
    net, half_made = Net(), Net.__new__(Net)
    proxy = weakref.proxy(Net())
    loss = net(torch.ones(1, 2)).sum()
    told = notes(failure(lambda: torch.autograd.grad(loss, list(net.parameters()))))
    assert told == "The input at index 2 is the parameter 'spare.weight' of Net"
    assert type(proxy) is weakref.CallableProxyType and not half_made.__dict__


@pytest.mark.own
def test_an_unused_tensor_says_where_it_was_computed():
    x = leaf(1.0)
    y = x * 3  # unused here
    assert at("unused here") in notes(failure(lambda: torch.autograd.grad((x * 2).sum(), [y])))


def saved_by(function, x):
    """The notes of the error about `x`, which `function` saved and which is written to then."""
    y = x * 1
    z = function(y)
    y.add_(1)
    return notes(failure(lambda: z.sum().backward()))


@pytest.mark.own
class TestWhatKindOfCodeItIs:
    def test_a_lambda(self):
        told = saved_by(lambda y: y * y, leaf(1.0))  # lambda here
        assert at("lambda here") in told and "<lambda>" in told

    def test_code_that_was_executed_from_a_text(self):
        names = {"x": leaf(1.0), "torch": torch}
        exec(compile("y = x * 1\nz = y * y\ny.add_(1)", "<made>", "exec"), names)
        assert "<made>:2" in notes(failure(lambda: names["z"].sum().backward()))

    def test_a_cell_of_a_notebook_whose_code_is_gone(self):
        source = "y = x * 1\nz = y.exp() * y\ny.add_(1)\n"
        linecache.cache["<cell-7>"] = (len(source), None, source.splitlines(True), "<cell-7>")
        names = {"x": leaf(1.0)}
        exec(compile(source, "<cell-7>", "exec"), names)
        told = notes(failure(lambda: names["z"].sum().backward()))
        assert "<cell-7>:2\n    z = y.exp() * y" in told and "<cell-7>:3\n    y.add_(1)" in told

    def test_a_layer_says_the_line_of_the_user(self):
        layer = torch.nn.Linear(2, 2)
        x = torch.ones(1, 2, requires_grad=True)
        y = layer(x)  # layer here
        assert at("layer here") in repr(torch.graph(y).nodes[0].place)

    def test_a_generator(self):
        def terms(y):
            yield y * y  # yielded here

        assert at("yielded here") in saved_by(lambda y: next(terms(y)), leaf(1.0))

    def test_a_statement_over_several_lines_names_that_of_the_operation(self):
        told = saved_by(
            lambda y: (
                1.0 + y * y  # inner line here
            ),
            leaf(1.0),
        )
        assert at("inner line here") in told


@pytest.mark.own
def test_what_backward_records_belongs_to_the_line_of_the_node():
    x = leaf(2.0)
    y = x**3  # power here
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    places = {node.place for node in torch.graph(slope).nodes if node.leaf is None}
    assert places == {at("power here")}
