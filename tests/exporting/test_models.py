"""Models in the ONNX format: what the reference of that package computes is what the module computes."""

import io

import pytest
import rushlight as torch
from support import raises

onnx = pytest.importorskip("onnx", reason="models are written with that package")
reference = pytest.importorskip("onnx.reference")
nn, F = torch.nn, torch.nn.functional


def computed(model, inputs, version=None, **options):
    """Write a model, read it back, and compute it."""
    file = io.BytesIO()
    torch.onnx.export(model, inputs, file, opset_version=version, dynamo=False, **options)
    proto = onnx.load_from_string(file.getvalue())
    onnx.checker.check_model(proto, full_check=True)
    names = [one.name for one in proto.graph.input]
    given = {name: x.numpy() for name, x in zip(names, inputs, strict=True)}
    return proto, reference.ReferenceEvaluator(proto).run(None, given)


def same(model, *inputs, **options):
    if isinstance(model, nn.Module):
        model.eval()
    _, found = computed(model, inputs, **options)
    with torch.no_grad():
        wanted = model(*inputs)
    wanted = wanted if isinstance(wanted, (tuple, list)) else [wanted]
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert str(one.dtype) == str(other.dtype).removeprefix("torch.")
        torch.testing.assert_close(torch.as_tensor(one), other, atol=1e-5, rtol=1e-4)


images = torch.linspace(-2, 2, 2 * 4 * 6 * 6).view(2, 4, 6, 6).sin()
words = torch.linspace(-1, 1, 2 * 3 * 8).view(2, 3, 8).cos()


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(4, 6, 3, padding=1, stride=2), nn.Conv2d(4, 4, 3, groups=2, dilation=2), nn.ConvTranspose2d(4, 2, 2, 2),
        nn.BatchNorm2d(4), nn.GroupNorm(2, 4), nn.LayerNorm([6, 6]), nn.RMSNorm(6), nn.MaxPool2d(2),
        nn.AvgPool2d(2, padding=1), nn.AdaptiveAvgPool2d(1), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(6, 3),
        nn.ReLU(), nn.ReLU6(), nn.LeakyReLU(0.1), nn.ELU(), nn.SELU(), nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Mish(),
        nn.Hardswish(), nn.Hardsigmoid(), nn.Softplus(), nn.Tanh(), nn.Sigmoid(), nn.LogSigmoid(), nn.Softmax(1), nn.LogSoftmax(-1),
        nn.PReLU(4), nn.GLU(1), nn.Dropout(), nn.ZeroPad2d(1), nn.ReflectionPad2d(1), nn.ReplicationPad2d((1, 2, 0, 1)), nn.PixelShuffle(2),
        nn.Upsample(scale_factor=2), nn.Upsample(scale_factor=2, mode="bilinear"), nn.Hardtanh(-0.5, 0.5),
    ],
    ids=lambda layer: type(layer).__name__,
)  # fmt: skip
def test_layers_are_written(layer):
    torch.manual_seed(0)
    for buffer in layer.buffers():
        if buffer.is_floating_point():
            buffer.uniform_(0.5, 1.5)
    same(layer, images)


FUNCTIONS = {
    "sums and products": lambda x, y: (x + 2 * y - 3, x * y / 2 - 1 / (y.abs() + 1), x**2, 2 - x, torch.sub(x, y, alpha=2)),
    "comparisons": lambda x, y: (x > y, x <= 0, x == y, x != y, (x > 0) & (y > 0), ~(x > 0), torch.where(x > 0, x, y)),
    "reductions": lambda x, y: (x.sum(), x.mean(1), x.amax((0, 1)), x.sum(-1, keepdim=True), x.var(1), x.logsumexp(2), x.norm(dim=1)),
    "moves": lambda x, y: (x.transpose(0, 1), x.permute(2, 0, 1), x.flatten(1), x.unsqueeze(0), x[:, :1].squeeze(1), x[:, 1:, ::2], x[:, 0]),
    "joints": lambda x, y: (torch.cat([x, y], 1), torch.stack([x, y], -1), *x.split([1, 2], 1), *x.chunk(2, -1), *x.unbind(1), x.repeat(1, 2, 1)),
    "choices": lambda x, y: (x.argmax(1), *x.topk(2), x.gather(2, (y[..., :1] > 2).long()), x.index_select(1, torch.tensor([2, 0])), x.clamp(min=0), x.clamp(-0.5, 0.5)),
    "types": lambda x, y: ((x * 10).int(), x.double(), (x * 10).long() // 3, (x > 0).float()),
    "unary": lambda x, y: (x.exp(), (x.abs() + 1).log(), (x.abs() + 1).rsqrt(), x.sin(), x.floor(), x.round(), x.erf(), x.square(), x.sign(), x.log1p(), x.expm1()),
    "masks": lambda x, y: (x.masked_fill(y > 0, -1.0), x.tril(), x.cumsum(1), x % 0.3, torch.addcmul(x, x, y, value=0.5)),
    "products": lambda x, y: (x @ y.transpose(1, 2), torch.bmm(x, y.mT), torch.einsum("bij,bkj->bik", x, y), F.linear(x, y[0])),
    "constants": lambda x, y: (torch.arange(3).float() + x[..., :3], torch.ones(3, 1) * x, x + torch.zeros_like(y)),
    "attention": lambda x, y: (F.scaled_dot_product_attention(x, y, y), F.scaled_dot_product_attention(x, y, y, is_causal=True), F.scaled_dot_product_attention(x, y, y, attn_mask=(x @ y.mT) > -9)),
    "in place": lambda x, y: ((x + 1).relu_().mul_(2), F.relu(x * y, inplace=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_written(name):
    same(FUNCTIONS[name], words, words.flip(0) + 0.1)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 8)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        self.recurrent = nn.LSTM(8, 4, batch_first=True)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = self.decoder(x, self.encoder(x))
        return self.recurrent(x)[0]


def test_models_of_words_are_written():
    torch.manual_seed(0)
    same(Reader(), torch.tensor([[1, 2, 3], [4, 5, 6]]))


def test_names_and_sizes_that_vary_are_written():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(4, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3)).eval()
    axes = {"x": {0: "batch"}, "y": {0: "batch"}}
    proto, _ = computed(model, (images,), input_names=["x"], output_names=["y"], dynamic_axes=axes)
    assert [one.name for one in proto.graph.input] == ["x"] and [one.name for one in proto.graph.output] == [
        "y"
    ]
    assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert {"0.weight", "0.bias", "3.weight", "3.bias"} <= {one.name for one in proto.graph.initializer}
    more = torch.cat([images, -images, images])
    (found,) = reference.ReferenceEvaluator(proto).run(None, {"x": more.numpy()})
    torch.testing.assert_close(torch.as_tensor(found), model(more).detach(), atol=1e-5, rtol=1e-4)


def test_a_program_is_returned_and_saved(tmp_path):
    program = torch.onnx.export(nn.Linear(2, 1), (torch.ones(1, 2),))
    program.save(tmp_path / "linear.onnx")
    assert onnx.load(tmp_path / "linear.onnx") == program.model_proto


@pytest.mark.own
def test_what_has_no_operator_is_refused_by_name():
    words = "torch.onnx.export: no operator of the format was found for"
    with raises(torch.onnx.OnnxExporterError, f"{words} aten.sinc."):
        torch.onnx.export(lambda x: x.sinc(), (torch.ones(2),))
    with raises(torch.onnx.OnnxExporterError, f"{words} aten.mul into a view."):
        torch.onnx.export(lambda x: (y := x * 1, y[0].mul_(2))[0], (torch.ones(2),))


@pytest.mark.own
def test_a_model_is_left_in_the_mode_it_was_in():
    seen = []

    class Looking(nn.Module):
        def forward(self, x):
            seen.append((self.training, torch.onnx.is_in_onnx_export()))
            return x + 1

    model = Looking()
    torch.onnx.export(model, (torch.ones(1),))
    assert seen == [(False, True)] and model.training and not torch.onnx.is_in_onnx_export()
