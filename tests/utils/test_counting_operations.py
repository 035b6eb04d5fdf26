"""`FlopCounterMode`: how many operations a computation takes, and which modules they are for."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
from rushlight.utils.flop_counter import (
    FlopCounterMode,
    bmm_flop,
    convert_num_with_suffix,
    convert_to_percent_str,
    flop_registry,
    get_suffix_str,
    mm_flop,
    register_flop_formula,
    sdpa_backward_flop_count,
    sdpa_flop_count,
)
from rushlight.utils.module_tracker import ModuleTracker
from support import raises

F = nn.functional
aten = torch.ops.aten


def leaf(*shape):
    return torch.randn(shape, requires_grad=True)


def counted(function, **options):
    with FlopCounterMode(display=False, **options) as counter:
        function()
    assert counter.get_total_flops() == sum(counter.get_flop_counts()["Global"].values())
    return {str(operator): count for operator, count in counter.get_flop_counts()["Global"].items()}


def attention(*leading):
    parts = [leaf(*leading, 6, 8) for _ in range(3)]
    return F.scaled_dot_product_attention(*parts)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda: F.linear(leaf(4, 5), leaf(6, 5), leaf(6)), {"aten.addmm": 240, "aten.mm": 480}),
        (lambda: leaf(4, 5) @ leaf(5, 6), {"aten.mm": 720}),
        (lambda: torch.bmm(leaf(2, 3, 4), leaf(2, 4, 5)), {"aten.bmm": 720}),
        (lambda: leaf(2, 2, 3, 4) @ leaf(2, 2, 4, 5), {"aten.bmm": 1440}),
        (
            lambda: torch.baddbmm(torch.ones(2, 3, 5), leaf(2, 3, 4), leaf(2, 4, 5)),
            {"aten.baddbmm": 240, "aten.bmm": 480},
        ),
        (
            lambda: F.conv2d(leaf(2, 4, 8, 8), leaf(6, 4, 3, 3), leaf(6), padding=1),
            {"aten.convolution": 55296, "aten.convolution_backward": 110592},
        ),
        (
            lambda: F.conv2d(leaf(2, 4, 8, 8), torch.ones(6, 4, 3, 3), padding=1),
            {"aten.convolution": 55296, "aten.convolution_backward": 55296},
        ),
        (
            lambda: F.conv2d(leaf(2, 4, 8, 8), leaf(6, 2, 3, 3), groups=2),
            {"aten.convolution": 15552, "aten.convolution_backward": 46656},
        ),
        (
            lambda: F.conv_transpose2d(leaf(2, 4, 8, 8), leaf(4, 6, 3, 3), stride=2, output_padding=1),
            {"aten.convolution": 55296, "aten.convolution_backward": 110592},
        ),
        (
            lambda: F.conv1d(torch.ones(4, 8), leaf(6, 4, 3)),
            {"aten.convolution": 864, "aten.convolution_backward": 864},
        ),
        (lambda: attention(2, 2), {}),
        (lambda: attention(2), {"aten.bmm": 6912}),
        (lambda: leaf(3).exp(), {}),
    ],
)
def test_products_are_counted_forward_and_backward(function, expected):
    assert counted(lambda: function().sum().backward()) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, w: torch.vmap(torch.mv, (None, 0))(w, x), {"aten.mm": 240}),
        (lambda x, w: torch.vmap(torch.mm)(x[None], w.t()[None]), {"aten.bmm": 240}),
        (lambda x, w: torch.func.grad(lambda x: (x @ w.t()).sum())(x), {"aten.mm": 480}),
        (lambda x, w: torch.func.jacrev(lambda x: (x @ w.t()).sum(0))(x), {"aten.mm": 240, "aten.bmm": 1440}),
        (
            lambda x, w: torch.vmap(F.conv2d, (0, None))(torch.ones(3, 1, 4, 5, 5), torch.ones(2, 4, 3, 3)),
            {"aten.convolution": 3888},
        ),
    ],
)
def test_what_transforms_compute_is_counted(function, expected):
    assert counted(lambda: function(torch.randn(4, 5), torch.randn(6, 5))) == expected


def test_the_second_backward_is_counted():
    def twice():
        x, w = leaf(2, 4), leaf(4, 8)
        first = torch.autograd.grad(((x @ w) ** 2).sum(), (x, w), create_graph=True)
        sum((one**2).sum() for one in first).backward()

    assert counted(twice) == {"aten.mm": 1152}


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))

    def forward(self, x):
        return self.b(self.a(x))


def test_modules_have_counts_of_their_own():
    with FlopCounterMode(display=False) as counter:
        Branches()(leaf(2, 4)).sum().backward()
    counts = {name: sum(own.values()) for name, own in counter.get_flop_counts().items()}
    assert counts == {
        "Global": 960,
        "Branches": 960,
        "Branches.a": 192,
        "Branches.b": 768,
        "Branches.b.0": 384,
        "Branches.b.2": 384,
    }


def test_a_checkpoint_computes_again_up_to_the_last_tensor_that_is_needed():
    def function(x, y):
        return ((x @ y).sin() @ y).sin()

    def plainly():
        function(leaf(4, 4), leaf(4, 4)).sum().backward()

    def again(**options):
        part = checkpoint(function, leaf(4, 4), leaf(4, 4), use_reentrant=False, **options)
        part.sum().backward()

    assert counted(plainly) == {"aten.mm": 768}
    assert counted(again) == {"aten.mm": 1024}


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([aten.addmm.default], {"aten.addmm": 192, "aten.mm": 384}),
        ([aten.sigmoid.default], {"aten.addmm": 320, "aten.mm": 384}),
        ([], {"aten.addmm": 320, "aten.mm": 384}),
    ],
)
def test_what_a_policy_keeps_is_not_counted_twice(kept, expected):
    layers = [nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 4)]

    def function():
        contexts = lambda: create_selective_checkpoint_contexts(kept)  # noqa: E731
        model = nn.Sequential(*layers)
        checkpoint(model, leaf(2, 4), use_reentrant=False, context_fn=contexts).sum().backward()

    assert counted(function) == expected


def test_a_policy_keeps_the_results_of_convolutions_and_attention():
    asked = []

    def function(x, w):
        y = F.conv1d(x, w).unflatten(1, (2, 3))
        return F.scaled_dot_product_attention(y, y, y)

    def policy(context, operator, *args, **kwargs):
        asked.append(str(operator))
        return operator in kept

    def contexts():
        return create_selective_checkpoint_contexts(policy)

    attend = aten._scaled_dot_product_flash_attention_for_cpu.default
    kept = {attend, aten.convolution.default}
    # The gradient of the sum cancels almost to nothing: in single precision little but rounding is left of it.
    x, w = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 4, 8), (6, 4, 3)))
    expected = torch.autograd.grad(function(x, w).sum(), (x, w))
    part = checkpoint(function, x, w, use_reentrant=False, context_fn=contexts)
    assert counted(lambda: part.sum().backward()) == {"aten.convolution_backward": 2 * 1728}
    assert str(attend) in asked and "aten.convolution.default" in asked
    torch.testing.assert_close((x.grad, w.grad), expected)


def test_own_formulas_are_given_shapes():
    def formula(*shapes, out_shape=None, **kwargs):
        return sum(shape.numel() for shape in shapes) + out_shape.numel()

    def function():
        torch.ones(3, 4) @ torch.ones(4, 6)
        torch.ones(4).exp()

    mapping = {aten.mm: formula, aten.exp: formula}
    assert counted(function, custom_mapping=mapping) == {"aten.mm": 12 + 24 + 18, "aten.exp": 8}


def test_a_formula_is_registered_once_for_an_operator():
    with raises(RuntimeError, "duplicate registrations for aten.mm"):
        register_flop_formula(aten.mm)(lambda *shapes, **rest: 1)
    message = (
        "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. torch.ops.mylib.foo), "
        "JitFunction, or HigherOrderOperator, got aten.mm.default which is of type "
    )
    with raises(ValueError, message + repr(type(aten.mm.default))):
        register_flop_formula(aten.mm.default)(lambda *shapes, **rest: 1)


def test_registered_formulas_are_counted():
    calls = []

    @register_flop_formula([aten.sinh, aten.cosh], get_raw=True)
    def count(x, out_val=None, **kwargs):
        calls.append((x, out_val))
        return 3

    x = torch.ones(2)
    results = []
    try:
        assert counted(lambda: results.extend((x.sinh(), x.cosh()))) == {"aten.sinh": 3, "aten.cosh": 3}
    finally:
        del flop_registry[aten.sinh], flop_registry[aten.cosh]
    assert all(given is x and got is result for (given, got), result in zip(calls, results, strict=True))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mm_flop((2, 3), (4, 4)), "matmul: inner dimensions must match (k == k2), got 3 and 4"),
        (
            lambda: bmm_flop((2, 3, 3), (3, 3, 4)),
            "bmm: batch dimensions must match (b == b2), got 2 and 3",
        ),
        (
            lambda: sdpa_flop_count((1, 3, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4)),
            "sdpa_flop_count: query heads (3) must be a multiple of key/value heads (2)",
        ),
        (
            lambda: sdpa_backward_flop_count((1, 2, 3, 4), (1, 2, 3, 4), (1, 3, 5, 4), (1, 2, 5, 4)),
            "sdpa_backward_flop_count: batch/heads mismatch among tensors",
        ),
    ],
)
def test_shapes_have_to_go_together(call, message):
    with raises(AssertionError, message):
        call()


def test_attention_is_counted_by_its_shapes():
    shapes = (1, 4, 3, 4), (1, 2, 5, 4), (1, 2, 5, 6)
    assert sdpa_flop_count(*shapes) == 1200
    assert sdpa_backward_flop_count((1, 4, 3, 6), *shapes) == 2880


@pytest.mark.own
def test_the_table_indents_modules(capsys):
    with FlopCounterMode(depth=1):
        Branches()(torch.ones(2, 4))
        torch.ones(20, 20) @ torch.ones(20, 20)
    assert capsys.readouterr().out.splitlines() == [
        "Module             FLOP    % Total",
        "--------------  -------  ---------",
        "Global          16.320K    100.00%",
        " - aten.addmm    0.320K      1.96%",
        " - aten.mm      16.000K     98.04%",
        " Branches        0.320K      1.96%",
        "  - aten.addmm   0.320K      1.96%",
    ]


@pytest.mark.own
def test_small_numbers_are_written_whole():
    with FlopCounterMode(display=False) as counter:
        torch.ones(3, 4) @ torch.ones(4, 5)
    assert counter.get_table().splitlines()[2:] == [
        "Global         120    100.00%",
        " - aten.mm     120    100.00%",
    ]


@pytest.mark.own
def test_a_table_of_nothing_says_so():
    assert FlopCounterMode().get_table().splitlines()[2:] == ["Global         0         0%"]


def test_a_counter_counts_each_block_anew_and_ends_once():
    counter = FlopCounterMode(display=False)
    for _ in range(2):
        with counter:
            torch.ones(2, 2) @ torch.ones(2, 2)
        assert counter.get_total_flops() == 16
    with raises(AssertionError, "Internal error: FlopCounter.__exit__ called but mode is None"):
        counter.__exit__(None, None, None)


def test_modules_need_not_be_named():
    with pytest.warns(UserWarning, match="mods argument is not needed anymore, you can stop passing it"):
        FlopCounterMode(nn.Linear(2, 2), display=False)


def test_numbers_are_written_in_units():
    written = [
        convert_num_with_suffix(number, get_suffix_str(number))
        for number in (0, 1500, 999999, 10**7, 10**12, 10**20)
    ]
    assert written == ["0.000", "1500.000", "999.999K", "10.000M", "1000.000B", "100000000.000T"]
    assert convert_to_percent_str(1, 3) == "33.33%"
    assert convert_to_percent_str(1, 0) == "0%"


def test_a_tracker_knows_which_modules_run_backward():
    seen = []

    class Watched(nn.Module):
        def forward(self, x):
            y = x * 2
            y.register_hook(lambda grad: seen.append((sorted(tracker.parents), tracker.is_bw)))
            return [{"y": y + 1}]

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Watched()

        def forward(self, x):
            return self.inner(x * 2)[0]["y"]

    x = torch.ones(2, requires_grad=True) * 1
    x.register_hook(lambda grad: seen.append((sorted(tracker.parents), tracker.is_bw)))
    with ModuleTracker() as tracker:
        y = Outer()(x)
        assert tracker.parents == {"Global"} and not tracker.is_bw
        y.sum().backward()
    assert tracker.parents == {"Global"}
    # The hook on `x` is older than the one by which the tracker knows that it has its gradient.
    assert seen == [(["Global", "Outer", "Outer.inner"], True), (["Global", "Outer"], True)]
