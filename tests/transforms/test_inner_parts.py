"""What programs that look inside of `func` find there: parts of mappings and derivatives, functional modules."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight._functorch import apis, batch_norm_replacement, eager_transforms, functional_call, utils, vmap
from rushlight._functorch.make_functional import (
    combine_state_for_ensemble,
    functional_init,
    functional_init_with_buffers,
    make_functional,
    make_functional_with_buffers,
)
from rushlight._vmap_internals import _vmap
from support import raises


def square(x):
    return (x**2).sum()


def test_functions_are_those_of_func():
    x = torch.arange(3.0)
    assert apis.vmap(torch.sin)(x).equal(x.sin())
    assert apis.grad(square)(x).equal(eager_transforms.grad_impl(square, 0, False, (x,), {}))
    gradient, value = eager_transforms.grad_and_value_impl(square, 0, False, (x,), {})
    assert gradient.equal(2 * x) and value == 5
    assert eager_transforms.jacrev(torch.sin)(x).equal(x.cos().diag())
    value, pull_back = eager_transforms._vjp_with_argnums(torch.mul, x, x + 1, argnums=1)
    assert pull_back(torch.ones(3)).equal(x)


def test_arguments_are_chosen_by_number():
    chosen = eager_transforms._slice_argnums
    assert chosen((1, 2, 3), 1) == (2,) and chosen((1, 2, 3), (0, -1)) == (1, 3)
    assert chosen((1, 2, 3), 0, as_tuple=False) == 1
    assert eager_transforms._replace_args((1, 2, 3), (9,), 1) == (1, 9, 3)
    with raises(RuntimeError, "Got argnum=3, but only 3 positional inputs"):
        chosen((1, 2, 3), (0, 3))


def test_the_basis_has_a_row_for_every_element():
    first, second = eager_transforms._construct_standard_basis_for((torch.ones(2), torch.ones(1)), (2, 1))
    assert first.tolist() == [[1, 0], [0, 1], [0, 0]] and second.tolist() == [[0], [0], [1]]


def test_samples_are_mapped_in_chunks():
    x = torch.arange(10.0).view(5, 2)
    for chunks in (1, 2, 3, 7):
        assert apis.chunk_vmap(torch.sum, chunks=chunks)(x).equal(x.sum(1))
    assert vmap.get_chunk_sizes(10, 3) == [3, 3, 3, 1] and vmap.get_chunk_sizes(9, 3) == [3, 3, 3]


def test_arguments_enter_a_mapping_and_leave_it():
    x, y = torch.arange(6.0).view(3, 2), torch.ones(2)
    size, dims, leaves, spec = vmap._process_batched_inputs((0, {"y": None}), (x, {"y": y}), torch.add)
    assert (size, dims) == (3, [0, None]) and leaves[0] is x and leaves[1] is y
    with vmap.vmap_increment_nesting(size, "error") as level:
        inner, rest = vmap._create_batched_inputs(dims, leaves, level, spec)
        assert inner.shape == (2,)
        outputs = inner + rest["y"]
        found = vmap._unwrap_batched(outputs, 1, level, size, torch.add)
    assert found.equal((x + y).t())
    assert vmap._validate_and_get_batch_size([0, None, 1], [x, y, x.t()]) == 3


def test_where_samples_lie_is_told_with_the_results():
    x, y = torch.ones(3, 2), torch.ones(2)
    (total, same), dims = vmap.restore_vmap(lambda x, y: (x + y, y), (0, None), 3, "error")(x, y)
    assert dims == (0, None) and total.equal(x + y) and same is y


def test_the_older_mapping_lets_nothing_pass_if_asked():
    x = torch.arange(3.0)
    doubled, nothing = _vmap(lambda x: (x * 2, None), allow_none_pass_through=True)(x)
    assert doubled.equal(x * 2) and nothing is None

    def function(x):
        return x * 2, None

    message = (
        "vmap(function, ...): `function` must only return Tensors, got type <class 'NoneType'> for return 1."
    )
    with raises(ValueError, message):
        _vmap(function)(x)


def test_gradients_are_batched_by_the_older_mapping():
    x = torch.ones(2, requires_grad=True)
    y = x**3
    (rows,) = _vmap(lambda weights: torch.autograd.grad(y, x, weights, retain_graph=True))(torch.eye(2))
    assert rows.tolist() == [[3, 0], [0, 3]]


def test_a_module_is_a_function_of_its_parameters():
    layer, x = nn.Linear(2, 2), torch.ones(3, 2)
    function, params = make_functional(layer)
    assert function(params, x).equal(layer(x)) and isinstance(function.stateless_model, nn.Linear)
    assert all(param.requires_grad and param is not layer.weight for param in params)
    gradient = torch.func.grad(lambda params: function(params, x).sum())(params)
    assert [one.shape for one in gradient] == [(2, 2), (2,)]
    assert not any(param.requires_grad for param in make_functional(layer, disable_autograd_tracking=True)[1])


def test_buffers_are_told_apart():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    message = (
        "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
    )
    with raises(RuntimeError, message):
        make_functional(model)
    function, params, buffers = make_functional_with_buffers(model.eval())
    assert (len(params), len(buffers)) == (4, 3)
    assert function(params, buffers, torch.ones(3, 2)).equal(model(torch.ones(3, 2)))


def test_modules_are_called_together():
    models, x = [nn.Linear(2, 2) for _ in range(3)], torch.ones(5, 2)
    function, params, buffers = combine_state_for_ensemble(models)
    assert [param.shape for param in params] == [(3, 2, 2), (3, 2)] and buffers == ()
    results = torch.vmap(function, (0, 0, None))(params, buffers, x)
    torch.testing.assert_close(results, torch.stack([model(x) for model in models]))
    with raises(RuntimeError, "combine_state_for_ensemble: Expected at least one model, got 0."):
        combine_state_for_ensemble([])


def test_leaves_are_stacked_as_a_leaf():
    weights = [torch.ones(2, requires_grad=True) for _ in range(3)]
    joined = functional_call.construct_stacked_leaf(weights, "w")
    assert joined.is_leaf and joined.requires_grad and joined.shape == (3, 2)
    with raises(RuntimeError, "Expected w from each model to have the same .requires_grad"):
        functional_call.construct_stacked_leaf([weights[0], torch.ones(2)], "w")


def test_one_normalisation_keeps_no_statistics():
    norm = nn.BatchNorm1d(2)
    assert batch_norm_replacement.batch_norm_without_running_stats(norm) is None
    assert norm.running_mean is None and not norm.track_running_stats


def test_a_function_is_shown_elsewhere():
    def function():
        pass

    assert utils.exposed_in("torch.func")(function) is function
    assert function.__module__ == "torch.func"


@pytest.mark.parametrize("randomness", ["same", "error", "different"])
def test_randomness_is_a_word(randomness):
    assert vmap._check_randomness_arg(randomness) is None
    message = "Only allowed values for randomness are 'error', 'different', or 'same'. Got other"
    with raises(RuntimeError, message):
        vmap._check_randomness_arg("other")


def test_an_ensemble_is_made_of_its_class():
    make = functional_init(torch.nn.Linear, (3,))
    weights, function, names = make(2, 1)
    assert names == ("weight", "bias") and [w.shape for w in weights] == [(3, 1, 2), (3, 1)]
    x = torch.ones(4, 2)
    found = torch.vmap(function, (0, None))(weights, (x,))
    for index in range(3):
        weight, bias = (w[index] for w in weights)
        assert torch.allclose(found[index], torch.nn.functional.linear(x, weight, bias))
    with raises(ValueError, "NYI: ensemble_shape with more than 1 element"):
        functional_init(torch.nn.Linear, (2, 3))(2, 1)
    with raises(ValueError, "num_models 0 should be > 0"):
        functional_init(torch.nn.Linear, (0,))(2, 1)


def test_an_ensemble_has_buffers():
    make = functional_init_with_buffers(torch.nn.BatchNorm1d, (3,))
    weights, buffers, function, names, buffer_names = make(2)
    assert names == ("weight", "bias") and buffer_names[:2] == ("running_mean", "running_var")
    assert [b.shape for b in buffers] == [(3, 2), (3, 2), (3,)]
    one = [[tensor[0] for tensor in state] for state in (weights, buffers)]
    assert function(*one, (torch.ones(4, 2),)).shape == (4, 2)
    with raises(RuntimeError, "make_functional_deprecated_v1(model): `model` has buffers."):
        functional_init(torch.nn.BatchNorm1d)(2)
