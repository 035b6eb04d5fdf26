"""A training step through every layer and every loss: recorded, to the bit, or refused with a reason and its place."""

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own
nn = torch.nn
CALLS = 10


def noise(*shape):
    return lambda: torch.randn(*shape)


def share(*shape):
    return lambda: torch.rand(*shape)


def ints(below, *shape):
    return lambda: torch.randint(below, shape)


def signs(*shape):
    return lambda: torch.randint(2, shape) * 2.0 - 1


LINE, IMAGE, BLOCK, ROWS = noise(2, 4, 8), noise(2, 4, 6, 6), noise(2, 4, 4, 4, 4), noise(5, 4)
SEQUENCE, STATE = noise(3, 2, 4), noise(2, 6)
ENDS = {1: LINE, 2: IMAGE, 3: BLOCK}

# Name, what it is made of, what it is given.
LAYERS = [
    *((f"AdaptiveAvgPool{d}d", (2,), ENDS[d]) for d in ENDS),
    *((f"AdaptiveMaxPool{d}d", (2,), ENDS[d]) for d in ENDS),
    *((f"AvgPool{d}d", (2,), ENDS[d]) for d in ENDS),
    *((f"MaxPool{d}d", (2,), ENDS[d]) for d in ENDS),
    *((f"LPPool{d}d", (2, 2), ENDS[d]) for d in ENDS),
    *((f"BatchNorm{d}d", (4,), ENDS[d]) for d in ENDS),
    *((f"InstanceNorm{d}d", (4, 1e-5, 0.1, True, True), ENDS[d]) for d in ENDS),
    *((f"Conv{d}d", (4, 3, 3), ENDS[d]) for d in ENDS),
    *((f"ConvTranspose{d}d", (4, 3, 3), ENDS[d]) for d in ENDS),
    *((f"Dropout{d}d", (), ENDS[d]) for d in ENDS),
    *((f"ConstantPad{d}d", (1, 2.0), ENDS[d]) for d in ENDS),
    *((f"{kind}Pad{d}d", (1,), ENDS[d]) for d in ENDS for kind in ("Circular", "Reflection", "Replication", "Zero")),
    *((f"Lazy{kind}{d}d", (3, 3), ENDS[d]) for d in ENDS for kind in ("Conv", "ConvTranspose")),
    *((f"Lazy{kind}{d}d", (), ENDS[d]) for d in ENDS for kind in ("BatchNorm", "InstanceNorm")),
    ("LazyLinear", (3,), ROWS), ("Linear", (4, 3), ROWS), ("Bilinear", (4, 4, 3), ROWS, ROWS),
    ("Embedding", (9, 4), ints(9, 3, 2)), ("Embedding", (9, 4, 2, 1.0), ints(9, 3, 2)),
    ("EmbeddingBag", (9, 4), ints(9, 3, 2)), ("EmbeddingBag", (9, 4, None, 2.0, False, "max"), ints(9, 3, 2)),
    ("EmbeddingBag", (9, 4, None, 2.0, False, "sum"), ints(9, 6), lambda: torch.tensor([0, 2, 5])),
    ("AlphaDropout", (), ROWS), ("Dropout", (), ROWS), ("FeatureAlphaDropout", (), IMAGE), ("RReLU", (), ROWS),
    ("ChannelShuffle", (2,), IMAGE), ("CrossMapLRN2d", (3,), IMAGE), ("LocalResponseNorm", (3,), IMAGE),
    ("Flatten", (), IMAGE), ("Unflatten", (1, (2, 2)), ROWS), ("Fold", ((4, 4), 2), noise(2, 8, 9)), ("Unfold", (2,), IMAGE),
    ("FractionalMaxPool2d", (2, 3), IMAGE), ("FractionalMaxPool3d", (2, 2), BLOCK),
    ("PixelShuffle", (2,), IMAGE), ("PixelUnshuffle", (2,), IMAGE), ("Softmax2d", (), IMAGE),
    ("Upsample", (None, 2), IMAGE), ("UpsamplingBilinear2d", (None, 2), IMAGE), ("UpsamplingNearest2d", (None, 2), IMAGE),
    ("GroupNorm", (2, 4), IMAGE), ("LayerNorm", (4,), ROWS), ("RMSNorm", (4,), ROWS),
    *((name, (), ROWS) for name in (
        "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "Identity", "LeakyReLU",
        "LogSigmoid", "Mish", "PReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softplus", "Softshrink", "Softsign",
        "Tanh", "Tanhshrink",
    )),
    *((name, (1,), ROWS) for name in ("Softmax", "LogSoftmax", "Softmin")), ("Threshold", (0.1, 0.0), ROWS),
    ("CosineSimilarity", (), ROWS, ROWS), ("PairwiseDistance", (), ROWS, ROWS),
    ("GRU", (4, 6, 2), SEQUENCE), ("LSTM", (4, 6, 1, True, True, 0.0, True), SEQUENCE), ("RNN", (4, 6), SEQUENCE),
    ("GRUCell", (4, 6), noise(2, 4), STATE), ("LSTMCell", (4, 6), noise(2, 4)), ("RNNCell", (4, 6), noise(2, 4), STATE),
    ("MultiheadAttention", (4, 2), SEQUENCE, SEQUENCE, SEQUENCE), ("Transformer", (4, 2, 1, 1, 8), SEQUENCE, SEQUENCE),
    ("TransformerEncoderLayer", (4, 2, 8), SEQUENCE), ("TransformerDecoderLayer", (4, 2, 8), SEQUENCE, SEQUENCE),
    ("SyncBatchNorm", (4,), IMAGE),
]  # fmt: skip

# Name, what it is made of, what is made of the input by a layer, and the rest.
LOSSES = [
    ("BCELoss", (), torch.sigmoid, share(5, 3)), ("BCEWithLogitsLoss", (), None, share(5, 3)),
    ("CTCLoss", (), lambda y: y.log_softmax(1).unsqueeze(1), ints(2, 1, 2), lambda: (5,), lambda: (2,)),
    ("CosineEmbeddingLoss", (), None, noise(5, 3), signs(5)), ("CrossEntropyLoss", (None, None, 1), None, ints(3, 5)),
    ("GaussianNLLLoss", (), None, noise(5, 3), share(5, 3)), ("HingeEmbeddingLoss", (), None, signs(5, 3)),
    ("HuberLoss", (), None, noise(5, 3)), ("KLDivLoss", (None, None, "batchmean"), None, share(5, 3)), ("L1Loss", (), None, noise(5, 3)),
    ("MSELoss", (), None, noise(5, 3)), ("MarginRankingLoss", (), None, noise(5, 3), signs(5, 3)),
    ("MultiLabelMarginLoss", (), None, ints(3, 5, 3)), ("MultiLabelSoftMarginLoss", (), None, share(5, 3)),
    ("MultiMarginLoss", (), None, ints(3, 5)), ("NLLLoss", (), None, ints(3, 5)), ("PoissonNLLLoss", (), None, share(5, 3)),
    ("SmoothL1Loss", (), None, noise(5, 3)), ("SoftMarginLoss", (), None, signs(5, 3)),
    ("TripletMarginLoss", (), None, noise(5, 3), noise(5, 3)), ("TripletMarginWithDistanceLoss", (), None, noise(5, 3), noise(5, 3)),
    ("AdaptiveLogSoftmaxWithLoss", (3, 5, [2]), None, ints(5, 5)),
    ("LinearCrossEntropyLoss", (3, 4), None, ints(4, 5)),
]  # fmt: skip

ABSENT = """
    Container DataParallel Module ModuleDict ModuleList NLLLoss2d ParameterDict ParameterList RNNBase RNNCellBase
    Sequential TransformerDecoder TransformerEncoder MaxUnpool1d MaxUnpool2d MaxUnpool3d
""".split()  # noqa: SIM905 What is made of others, and what takes places that another layer found.


def test_no_layer_is_left_out():
    kinds = {
        name for name, kind in vars(nn).items() if isinstance(kind, type) and issubclass(kind, nn.Module)
    }
    named = {row[0] for row in (*LAYERS, *LOSSES)}
    assert kinds - named - set(ABSENT) == set()


def trained(model, parameters, loss, given, things):
    """A step that trains, its arguments, and what has a state."""
    optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)

    def step(*given):
        optimizer.zero_grad()
        found = loss(*given)
        found.backward()
        optimizer.step()
        return found

    return step, lambda _: tuple(one() for one in given), (model, optimizer, *things)


def numbers_of(answer):
    """All numbers that a layer answers, as one."""
    if isinstance(answer, torch.Tensor):
        return (
            (answer.double() * 0.5).sin().sum() if answer.is_floating_point() else answer.double().sum() * 0
        )
    return sum(numbers_of(part) for part in answer if part is not None)


REFUSED = {
    "AdaptiveLogSoftmaxWithLoss": "a number that it looks at is another in most calls at ",
    "Embedding(9, 4, 2, 1.0)": "numbers leave by item at ",
    "RReLU()": "numbers leave by a mask at ",
}
"""What cannot be recorded, and why: how much is computed depends on numbers."""


def told(compiled, name):
    """Whether it is recorded, or is said not to be, with a reason and the line that is the reason."""
    if name not in REFUSED:
        return bool(compiled.programs)
    return compiled.reason.startswith(REFUSED[name]) and "test_every_layer.py:" in compiled.reason


@pytest.mark.parametrize("row", LAYERS, ids=[f"{row[0]}{row[1]}" for row in LAYERS])
@pytest.mark.filterwarnings("ignore")
def test_a_step_through_a_layer_is_recorded(row):
    name, options, *given = row

    def make():
        model = getattr(nn, name)(*options)
        scale = torch.ones(1, requires_grad=True)
        first = [one() for one in given]
        if name.startswith("Lazy"):
            model(*first)

        def loss(*given):
            moved = [one * scale if one.is_floating_point() else one for one in given]
            return numbers_of(model(*moved))

        return trained(model, [scale, *model.parameters()], loss, given, [scale])

    compiled = run_both(make, CALLS)
    assert told(compiled, f"{name}{options}"), compiled.reason


@pytest.mark.parametrize("row", LOSSES, ids=[row[0] for row in LOSSES])
@pytest.mark.filterwarnings("ignore")
def test_a_step_with_a_loss_is_recorded(row):
    name, options, change, *given = row

    def make():
        model = nn.ModuleList([nn.Linear(4, 3), getattr(nn, name)(*options)])

        def loss(x, *given):
            y = model[0](x)
            found = model[1](y if change is None else change(y), *given)
            return found if isinstance(found, torch.Tensor) else found.loss

        return trained(model, model.parameters(), loss, [ROWS, *given], [])

    compiled = run_both(make, CALLS)
    assert told(compiled, name), compiled.reason
