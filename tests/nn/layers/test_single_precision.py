"""Layers that calculate in single precision in a way of their own agree with what double precision gives."""

import itertools

import pytest
import rushlight as torch

F = torch.nn.functional


def agree(function, *tensors):
    """Results and gradients in single precision are those of double precision, rounded."""
    found, expected = [], []
    for dtype, kept in ((torch.float32, found), (torch.float64, expected)):
        inputs = [x.to(dtype).detach().requires_grad_() for x in tensors]
        outputs = function(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        torch.manual_seed(5)
        directions = [torch.randn(y.shape, dtype=torch.float32).to(dtype) for y in outputs]
        gradients = torch.autograd.grad(outputs, inputs, directions, allow_unused=True)
        with torch.no_grad():
            plain = function(*(x.detach() for x in inputs))
        kept += [*outputs, *gradients, *(plain if isinstance(plain, tuple) else (plain,))]
    for x, y in zip(found, expected, strict=True):
        if y is not None:
            torch.testing.assert_close(x.double(), y, rtol=2e-4, atol=2e-4)


SIZES = [
    # samples, channels, results, groups, image, kernel, step, padding, dilation
    (2, 3, 8, 1, (12, 17), (3, 3), (1, 1), (1, 1), (1, 1)),
    (1, 4, 37, 1, (20, 20), (3, 3), (1, 1), (0, 2), (1, 1)),
    (3, 6, 10, 2, (15, 11), (5, 2), (1, 1), (2, 0), (1, 1)),
    (2, 8, 8, 8, (16, 16), (3, 3), (1, 1), (1, 1), (1, 1)),
    (2, 3, 5, 1, (31, 30), (7, 7), (2, 2), (3, 3), (1, 1)),
    (2, 4, 9, 1, (25, 40), (3, 3), (2, 3), (1, 0), (2, 1)),
    (1, 2, 6, 1, (30, 33), (2, 2), (3, 4), (0, 1), (1, 1)),
    (2, 2, 4, 2, (40, 9), (4, 1), (2, 1), (3, 0), (3, 1)),
    (9, 5, 3, 1, (3, 3), (3, 3), (1, 1), (2, 2), (1, 1)),
    (4, 70, 33, 1, (9, 9), (3, 3), (1, 1), (1, 1), (1, 1)),
    (2, 16, 8, 1, (10, 12), (1, 1), (1, 1), (0, 0), (1, 1)),
    (2, 16, 8, 1, (3, 3), (1, 1), (2, 2), (1, 1), (1, 1)),
    (5, 3, 4, 1, (8, 8), (3, 3), (1, 1), (4, 4), (1, 1)),
]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_convolutions_of_images(sizes):
    samples, channels, results, groups, image, kernel, stride, padding, dilation = sizes
    torch.manual_seed(0)
    x = torch.randn(samples, channels, *image)
    w, b = torch.randn(results, channels // groups, *kernel), torch.randn(results)
    agree(lambda x, w, b: F.conv2d(x, w, b, stride, padding, dilation, groups), x, w, b)
    y = torch.randn_like(F.conv2d(x, w, None, stride, padding, dilation, groups))
    back = torch.randn(channels // groups * groups)
    agree(
        lambda y, w, b: F.conv_transpose2d(y, w, b, stride, padding, 0, groups, dilation),
        y,
        w,
        back[: channels // groups * groups],
    )


def test_convolutions_of_lines():
    torch.manual_seed(0)
    for stride, padding, dilation in itertools.product((1, 2, 3), (0, 2), (1, 2)):
        x, w = torch.randn(4, 6, 50), torch.randn(8, 3, 5)
        agree(lambda x, w, s=stride, p=padding, d=dilation: F.conv1d(x, w, None, s, p, d, 2), x, w)


def test_convolutions_of_images_that_lie_otherwise_and_what_is_not_a_number():
    torch.manual_seed(0)
    x = torch.randn(12, 3, 2, 14).permute(2, 1, 0, 3)
    w = torch.randn(3, 3, 3, 8).permute(3, 2, 1, 0)
    agree(lambda x, w: F.conv2d(x, w, padding=1), x, w)
    image = torch.ones(1, 1, 12, 12)
    image[0, 0, 5, 6] = float("nan")
    found = F.conv2d(image, torch.ones(1, 1, 3, 3), padding=1).isnan()
    assert found.nonzero().tolist() == [[0, 0, i, j] for i in (4, 5, 6) for j in (5, 6, 7)]


def test_convolutions_have_second_derivatives():
    torch.manual_seed(0)
    x, w = torch.randn(2, 2, 9, 9, requires_grad=True), torch.randn(3, 2, 3, 3, requires_grad=True)

    def second(x, w):
        y = F.conv2d(x, w, padding=1, stride=2)
        (first,) = torch.autograd.grad(y.pow(3).sum(), x, create_graph=True)
        return torch.autograd.grad(first.pow(2).sum(), (x, w))

    agree_with = second(x.double().detach().requires_grad_(), w.double().detach().requires_grad_())
    for found, expected in zip(second(x, w), agree_with, strict=True):
        torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-1)


def attended(q, k, v, mask, is_causal, scale):
    """Attention by its formula."""
    groups = q.shape[1] // k.shape[1]
    k, v = (x.repeat_interleave(groups, 1) for x in (k, v))
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).tril() == 0, float("-inf"))
    if mask is not None:
        hidden = mask.dtype == torch.bool
        scores = scores.masked_fill(~mask, float("-inf")) if hidden else scores + mask.to(scores.dtype)
    return scores.softmax(-1) @ v


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("lengths", [(5, 7), (64, 64), (300, 40), (40, 300), (1, 9)])
def test_attention_and_its_gradients_follow_the_formula(dtype, lengths):
    torch.manual_seed(0)
    queries, keys = lengths
    for heads, scale, how in itertools.product((4, 2), (None, 0.3), ("", "causal", "numbers", "truths")):
        q = torch.randn(2, 4, queries, 8, dtype=dtype, requires_grad=True)
        k, v = (torch.randn(2, heads, keys, 8, dtype=dtype, requires_grad=True) for _ in range(2))
        mask = None
        if how == "numbers":
            mask = torch.randn(queries, keys, dtype=dtype)
        if how == "truths":
            mask = torch.rand(2, 1, queries, keys) < 0.7
            mask[..., 0] = True
        given = {"attn_mask": mask, "is_causal": how == "causal", "scale": scale}
        found = F.scaled_dot_product_attention(q, k, v, enable_gqa=heads != 4, **given)
        expected = attended(q, k, v, mask, how == "causal", scale)
        close = {"rtol": 1e-4, "atol": 1e-5} if dtype is torch.float32 else {}
        torch.testing.assert_close(found, expected, **close)
        g = torch.randn_like(found)
        for x, y in zip(
            torch.autograd.grad(found, (q, k, v), g), torch.autograd.grad(expected, (q, k, v), g), strict=True
        ):
            torch.testing.assert_close(x, y, **({"rtol": 1e-3, "atol": 1e-4} if close else {}))
        with torch.no_grad():
            plain = F.scaled_dot_product_attention(q, k, v, enable_gqa=heads != 4, **given)
        torch.testing.assert_close(plain, found, rtol=0, atol=0)


def test_attention_of_heads_that_lie_beside_each_other_gives_what_it_gives_in_order():
    torch.manual_seed(0)
    whole = torch.randn(2, 10, 3, 4, 8, requires_grad=True)
    q, k, v = (part.transpose(1, 2) for part in whole.unbind(2))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    ordered = [x.detach().contiguous().requires_grad_() for x in (q, k, v)]
    z = F.scaled_dot_product_attention(*ordered, is_causal=True)
    torch.testing.assert_close(y, z)
    (g,) = torch.autograd.grad(y.pow(2).sum(), whole)
    found = torch.autograd.grad(z.pow(2).sum(), ordered)
    torch.testing.assert_close(g, torch.stack([x.transpose(1, 2) for x in found], 2), rtol=1e-4, atol=1e-5)


def test_a_query_that_sees_nothing_gets_nothing_and_gives_no_gradient():
    q, k, v = (torch.ones(1, 1, 3, 4, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, True, False], [False, False, False], [True, False, False]])
    y = F.scaled_dot_product_attention(q, k, v, mask)
    assert y[0, 0, 1].tolist() == [0.0] * 4
    grads = torch.autograd.grad(y.sum(), (q, k, v))
    assert all(x.isfinite().all() for x in grads)
    assert grads[2][0, 0].tolist() == [[1.5] * 4, [0.5] * 4, [0.0] * 4]


def test_attention_has_second_derivatives():
    torch.manual_seed(0)
    inputs = [torch.randn(1, 2, 4, 3, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    for is_causal in (False, True):
        assert torch.autograd.gradcheck(
            lambda q, k, v, c=is_causal: F.scaled_dot_product_attention(q, k, v, is_causal=c), inputs
        )


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_lstm_of_all_its_kinds(bias, bidirectional):
    for batch_first, layers in ((False, 1), (True, 2)):
        torch.manual_seed(0)
        options = {"num_layers": layers, "bias": bias, "batch_first": batch_first}
        model = torch.nn.LSTM(5, 6, bidirectional=bidirectional, **options)
        states = layers * (2 if bidirectional else 1)
        x, h, c = torch.randn(7, 4, 5), torch.randn(states, 4, 6), torch.randn(states, 4, 6)
        if batch_first:
            x = x.transpose(0, 1)
        names = [name for name, _ in model.named_parameters()]

        def run(x, h, c, *weights, model=model, names=names):
            given = dict(zip(names, weights, strict=True))
            y, state = torch.func.functional_call(model, given, (x, (h, c)))
            return (y, *state)

        agree(run, x, h, c, *(p.detach() for p in model.parameters()))


def test_an_lstm_is_one_node_and_has_second_derivatives():
    torch.manual_seed(0)
    model, x = torch.nn.LSTM(3, 4), torch.randn(5, 2, 3)
    y, (h, c) = model(x)
    assert y.grad_fn.name() == "MkldnnRnnLayerBackward0"
    assert h.grad_fn.name() == c.grad_fn.name() == "StackBackward0"


@pytest.mark.own
def test_gradients_of_an_lstm_in_single_precision_have_gradients():
    torch.manual_seed(0)
    model, x = torch.nn.LSTM(3, 4), torch.randn(5, 2, 3)

    def second(model, x):
        y = model(x)[0]
        (first,) = torch.autograd.grad(y.pow(2).sum(), x, create_graph=True)
        return torch.autograd.grad(first.pow(2).sum(), [x, *model.parameters()])

    found = second(model, x.requires_grad_())
    expected = second(model.double(), x.detach().double().requires_grad_())
    for x, y in zip(found, expected, strict=True):
        torch.testing.assert_close(x.double(), y, rtol=1e-3, atol=1e-5)


def test_samples_of_an_lstm_are_mapped():
    torch.manual_seed(0)
    model, x = torch.nn.LSTM(3, 4), torch.randn(2, 5, 6, 3)
    with torch.no_grad():
        found = torch.func.vmap(lambda x: model(x)[0])(x)
        torch.testing.assert_close(found, torch.stack([model(one)[0] for one in x]))
