"""`GradScaler`: losses scaled before backward, gradients divided again, steps left out."""

import pickle
import warnings

import pytest
import rushlight as torch
from support import raises

NO_SCALE = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."


def setting(**options):
    """A weight, the optimiser that changes it, and a scaler."""
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    options = {"init_scale": 8.0, "growth_interval": 2, **options}
    return weight, torch.optim.SGD([weight], lr=0.5), torch.amp.GradScaler("cpu", **options)


def step(weight, optimizer, scaler, factor=1.0):
    optimizer.zero_grad()
    scaler.scale((weight * factor).sum()).backward()
    returned = scaler.step(optimizer)
    scaler.update()
    return returned


def test_a_step_uses_gradients_that_are_divided_by_the_scale():
    weight, optimizer, scaler = setting()
    scaled = scaler.scale(weight.sum())
    assert scaled.item() == 24.0 and scaled.requires_grad
    scaled.backward()
    assert weight.grad.tolist() == [8.0, 8.0]
    assert scaler.step(optimizer) is None
    scaler.update()
    assert weight.grad.tolist() == [1.0, 1.0] and weight.tolist() == [0.5, 1.5]


def test_the_scale_grows_after_enough_steps_in_a_row():
    weight, optimizer, scaler = setting()
    scales = []
    for factor in (1.0, 1.0, 1.0, float("inf"), 1.0, 1.0):
        step(weight, optimizer, scaler, factor)
        scales.append((scaler.get_scale(), scaler._get_growth_tracker()))
    assert scales == [(8.0, 1), (16.0, 0), (16.0, 1), (8.0, 0), (8.0, 1), (16.0, 0)]


@pytest.mark.parametrize("wrong", ["inf", "-inf", "nan"])
def test_a_step_with_gradients_that_are_not_finite_is_left_out(wrong):
    weight, optimizer, scaler = setting()
    assert step(weight, optimizer, scaler, torch.tensor([1.0, float(wrong)])) is None
    assert weight.tolist() == [1.0, 2.0] and scaler.get_scale() == 4.0


def test_a_step_returns_what_the_optimiser_returns():
    class Counting(torch.optim.SGD):
        def step(self, more):
            super().step()
            return 4 + more

    weight, _, scaler = setting()
    optimizer = Counting([weight], lr=0.5)
    scaler.scale(weight.sum()).backward()
    assert scaler.step(optimizer, more=3) == 7


def test_gradients_can_be_looked_at_before_the_step():
    weight, optimizer, scaler = setting()
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    assert weight.grad.tolist() == [1.0, 1.0]
    with raises(
        RuntimeError, "unscale_() has already been called on this optimizer since the last update()."
    ):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    assert weight.tolist() == [0.5, 1.5]
    with raises(RuntimeError, "unscale_() is being called after step()."):
        scaler.unscale_(optimizer)
    with raises(RuntimeError, "step() has already been called since the last update()."):
        scaler.step(optimizer)
    scaler.update()
    scaler.unscale_(optimizer)


def test_several_outputs_are_scaled_as_they_come():
    _, _, scaler = setting()
    one = torch.ones(())
    assert scaler.scale([one, (one, one)]) == [torch.tensor(8.0), (torch.tensor(8.0),) * 2]
    assert [list(each) for each in scaler.scale(iter([[one], [one]]))] == [[8.0], [8.0]]
    with raises(ValueError, "outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)
    with raises(ValueError, "outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale([one, None])


def test_two_optimisers_share_a_scale():
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    weights = [torch.tensor(1.0, requires_grad=True) for _ in range(2)]
    optimizers = [torch.optim.SGD([weight], lr=1.0) for weight in weights]
    for weight, factor in zip(weights, (1.0, float("inf")), strict=True):
        scaler.scale(weight * factor).backward()
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()
    assert [weight.item() for weight in weights] == [0.0, 1.0] and scaler.get_scale() == 2.0


def test_the_scale_can_be_set():
    weight, optimizer, scaler = setting()
    step(weight, optimizer, scaler)
    scaler.update(32.0)
    assert scaler.get_scale() == 32.0
    scaler.update(torch.tensor(5.0))
    assert scaler.get_scale() == 5.0
    reason = "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False."
    for wrong in (torch.ones(2), torch.ones((), requires_grad=True)):
        with raises(AssertionError, reason):
            scaler.update(wrong)


def test_what_was_not_scaled_cannot_be_divided():
    _, optimizer, scaler = setting()
    for name, call in [
        ("unscale_", lambda: scaler.unscale_(optimizer)),
        ("step", lambda: scaler.step(optimizer)),
        ("update", lambda: scaler.update()),
        ("_check_inf_per_device", lambda: scaler._check_inf_per_device(optimizer)),
    ]:
        with raises(AssertionError, f"Attempted {name} but _scale is None.  {NO_SCALE}"):
            call()
    scaler.scale(torch.ones(()))
    with raises(AssertionError, "No inf checks were recorded for this optimizer."):
        scaler.step(optimizer)
    with raises(AssertionError, "No inf checks were recorded prior to update."):
        scaler.update()
    with raises(RuntimeError, "Closure use is not currently supported if GradScaler is enabled."):
        scaler.step(optimizer, closure=lambda: None)


def test_gradients_in_the_half_type_cannot_be_divided():
    weight = torch.ones(2, dtype=torch.float16, requires_grad=True)
    optimizer, scaler = torch.optim.SGD([weight], lr=1.0), torch.amp.GradScaler("cpu")
    scaler.scale(weight.float().sum()).backward()
    with raises(ValueError, "Attempting to unscale FP16 gradients."):
        scaler.unscale_(optimizer)


def test_factors_have_to_make_sense():
    with raises(AssertionError, "The growth factor must be > 1.0."):
        torch.amp.GradScaler("cpu", growth_factor=1.0)
    with raises(AssertionError, "The backoff factor must be < 1.0."):
        torch.amp.GradScaler("cpu", backoff_factor=1.0)


def test_a_scaler_that_is_off_leaves_everything_as_it_is():
    weight, optimizer, scaler = setting(enabled=False)
    loss = weight.sum()
    assert scaler.scale(loss) is loss and scaler.scale("anything") == "anything"
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [0.5, 1.5]
    assert not scaler.is_enabled() and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    scaler.load_state_dict({})
    with raises(AttributeError, "'GradScaler' object has no attribute '_growth_factor'"):
        scaler.get_growth_factor()


def test_the_state_can_be_stored_and_loaded():
    weight, optimizer, scaler = setting(growth_factor=4.0, backoff_factor=0.25)
    step(weight, optimizer, scaler)
    state = scaler.state_dict()
    assert list(state.items()) == [
        ("scale", 8.0),
        ("growth_factor", 4.0),
        ("backoff_factor", 0.25),
        ("growth_interval", 2),
        ("_growth_tracker", 1),
    ]
    _, _, other = setting()
    other.scale(torch.ones(()))
    other.load_state_dict({**state, "scale": 2.0})
    assert other.state_dict() == {**state, "scale": 2.0}
    late = torch.amp.GradScaler("cpu")
    late.load_state_dict(state)
    assert late.state_dict() == state and late.scale(torch.ones(())).item() == 8.0
    with raises(
        RuntimeError, "The source state dict is empty, possibly because it was saved from a disabled"
    ):
        other.load_state_dict({})


def test_a_scaler_can_be_pickled_between_steps():
    weight, optimizer, scaler = setting()
    step(weight, optimizer, scaler)
    copied = pickle.loads(pickle.dumps(scaler))
    assert copied.state_dict() == scaler.state_dict()
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    with raises(AssertionError, "A GradScaler instance may only be pickled at the beginning of an iteration"):
        pickle.dumps(scaler)


def test_factors_can_be_changed():
    _, _, scaler = setting()
    scaler.set_growth_factor(3.0)
    scaler.set_backoff_factor(0.1)
    scaler.set_growth_interval(7)
    found = scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval()
    assert found == (3.0, 0.1, 7)


def test_an_optimiser_can_divide_by_the_scale_itself():
    class Own(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self):
            return self.grad_scale.item(), self.found_inf.item()

    weight, _, scaler = setting()
    optimizer = Own([weight], lr=1.0)
    scaler.scale((weight * float("inf")).sum()).backward()
    assert scaler.step(optimizer) == (8.0, 1.0)
    assert not hasattr(optimizer, "grad_scale") and not hasattr(optimizer, "found_inf")
    scaler.update()
    assert scaler.get_scale() == 4.0


def test_an_optimiser_can_be_given_the_scaler():
    class Own(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, grad_scaler=None):
            return grad_scaler

    weight, _, scaler = setting()
    scaler.scale(weight.sum()).backward()
    with pytest.warns(FutureWarning, match="GradScaler is going to stop passing itself as a keyword"):
        assert scaler.step(Own([weight], lr=1.0)) is scaler


def test_many_gradients_are_checked_and_multiplied_at_once():
    check = torch._amp_foreach_non_finite_check_and_unscale_
    found, half = torch.zeros(()), torch.tensor(0.5)
    gradients = [
        torch.tensor([2.0]),
        torch.tensor([4.0], dtype=torch.float64),
        torch.tensor([8.0]).bfloat16(),
    ]
    assert check(gradients, found, half) is None
    assert [gradient.item() for gradient in gradients] == [1.0, 2.0, 4.0] and found.item() == 0.0
    check([torch.tensor([1.0, float("nan")])], found, half)
    assert found.item() == 1.0
    check([], torch.ones(2), half)
    for arguments, text in [
        (([gradients[0]], torch.ones(2), half), "found_inf must be a 1-element tensor."),
        (([gradients[0]], torch.ones((), dtype=torch.float64), half), "found_inf must be a float tensor."),
        (([gradients[0]], found, torch.ones(2)), "inv_scale must be a 1-element tensor."),
        (([gradients[0]], found, half.double()), "inv_scale must be a float tensor."),
    ]:
        with raises(RuntimeError, text):
            check(*arguments)
    for wrong, name in [(torch.ones(1).long(), "Long"), (torch.ones(1) + 0j, "ComplexFloat")]:
        text = f"\"_amp_foreach_non_finite_check_and_unscale_cpu\" not implemented for '{name}'"
        with raises(NotImplementedError, text):
            check([wrong], found, half)


def test_a_scale_that_would_be_infinite_stays():
    scale, count = torch.tensor(3e38), torch.tensor(1, dtype=torch.int32)
    assert torch._amp_update_scale_(scale, count, torch.zeros(()), 2.0, 0.5, 2) is scale
    assert scale.item() == pytest.approx(3e38) and count.item() == 0
    with raises(RuntimeError, "growth_tracker must be an int tensor."):
        torch._amp_update_scale_(scale, count.long(), torch.zeros(()), 2.0, 0.5, 2)
    with raises(RuntimeError, "current_scale must be a 1-element tensor."):
        torch._amp_update_scale_(torch.ones(2), count, torch.zeros(()), 2.0, 0.5, 2)


def test_without_the_device_a_scaler_turns_itself_off():
    with pytest.warns(
        UserWarning, match="torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Dis"
    ):
        scaler = torch.amp.GradScaler()
    assert not scaler.is_enabled()


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_each_device_has_former_names(kind):
    former = getattr(torch, kind).amp
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scaler = former.GradScaler(init_scale=2.0)
        block = former.autocast()
    said = [str(warning.message) for warning in caught if warning.category is FutureWarning]
    assert said == [
        f"`torch.{kind}.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('{kind}', args...)` instead."
        for name in ("GradScaler", "autocast")
    ]
    assert isinstance(scaler, torch.amp.GradScaler) and isinstance(block, torch.amp.autocast)
    assert scaler.is_enabled() is (kind == "cpu")
    with block:
        assert (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is (
            torch.bfloat16 if kind == "cpu" else torch.float32
        )


def test_former_decorators_warn_too():
    with pytest.warns(FutureWarning) as caught:
        torch.cuda.amp.custom_fwd(lambda context, x: x)
        torch.cuda.amp.custom_bwd(lambda context, x: x)
    assert [str(warning.message) for warning in caught] == [
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}(args..., device_type='cuda')` instead."
        for name in ("custom_fwd", "custom_bwd")
    ]
    assert torch.cuda.amp.common.amp_definitely_not_available()
