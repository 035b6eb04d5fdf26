"""Programs in files do what the function does; files that are no programs are errors."""

import contextlib
import random
import struct
import threading

import pytest
import rushlight as torch
from rushlight.compiler.exporting import Exported

pytestmark = pytest.mark.own

nn, functional = torch.nn, torch.nn.functional


def inference(model, *shape):
    """A model without gradients, and what it is called with."""
    model.eval()

    @torch.no_grad()
    def predict(x):
        return model(x)

    return predict, lambda: (torch.randn(*shape),)


class Last(nn.Module):
    """What a recurrent layer gives after each step."""

    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(3, 4)

    def forward(self, x):
        return self.layer(x)[0]


INFERENCES = {
    "mlp": lambda: inference(nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2), nn.Softmax(1)), 4, 3),
    "units": lambda: inference(
        nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 5), nn.SiLU(), nn.LeakyReLU(0.2), nn.Sigmoid()), 4, 3
    ),
    "convolution": lambda: inference(
        nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 2)),
        2, 1, 6, 6,
    ),
    "layer norm": lambda: inference(nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8)), 4, 3),
    "lstm": lambda: inference(Last(), 5, 2, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", INFERENCES)
def test_an_exported_inference_answers_with_the_same_bits(name, tmp_path):
    torch.manual_seed(0)
    predict, draw = INFERENCES[name]()
    program = torch.compiler.export(predict, draw())
    program.save(tmp_path / "program")
    again = torch.compiler.load(tmp_path / "program")
    for _ in range(3):
        given = draw()
        assert torch.equal(program(*given), predict(*given))
        assert torch.equal(again(*given), predict(*given))


def _step(model, optimizer, loss):
    def step(x, y):
        optimizer.zero_grad()
        found = loss(model(x), y)
        found.backward()
        optimizer.step()
        return found

    return step


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.01),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.01),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.01),
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=0.01),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_an_exported_step_trains_with_the_same_bits(kind):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 4))
    step = _step(model, OPTIMIZERS[kind](model.parameters()), functional.cross_entropy)
    batches = [(torch.randn(6, 3), torch.randint(0, 4, (6,))) for _ in range(5)]
    program = torch.compiler.export(step, batches[0])
    for batch in batches * 2:
        assert torch.equal(program(*batch), step(*batch).detach())
    state = dict(program.state)
    for name, parameter in model.named_parameters():
        assert torch.equal(state[name].detach(), parameter.detach())
    # It goes on from where it is.
    again = Exported(program.to_bytes())
    assert torch.equal(again(*batches[0]), step(*batches[0]).detach())


def test_random_numbers_of_an_exported_step_are_drawn_as_elsewhere():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    step = _step(model, torch.optim.SGD(model.parameters(), lr=0.1), functional.mse_loss)
    x = torch.randn(6, 3)
    program = torch.compiler.export(step, (x, x))
    found = []
    for run in (program, step):
        torch.manual_seed(1)
        found.append([run(x, x).detach() for _ in range(4)])
    assert all(map(torch.equal, *found))


def test_steps_go_as_far_as_they_are_told():
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)

    def step():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        optimizer.step()
        return loss

    program = torch.compiler.export(step)
    optimizer.param_groups[0]["lr"] = 0.25
    program.set_rate(0.25)
    assert [program().item() for _ in range(3)] == [step().item() for _ in range(3)]


def test_what_is_written_down_is_named():
    model = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    program = torch.compiler.export(
        _step(model, optimizer, functional.mse_loss), (torch.ones(4, 3), torch.ones(4, 2))
    )
    assert program.inputs == [("x", (4, 3), torch.float32), ("y", (4, 2), torch.float32)]
    assert {"weight", "bias", "weight.exp_avg", "bias.step"} <= {name for name, _ in program.state}
    with pytest.raises(ValueError, match=r"takes other tensors: x is of shape \[4, 3\]"):
        program(torch.ones(5, 3), torch.ones(4, 2))
    with pytest.raises(ValueError, match="takes other tensors: 2 of them, not 1"):
        program(torch.ones(4, 3))


def test_an_operation_without_a_form_in_files_is_refused_with_its_place():
    def spectrum(x):
        return torch.fft.rfft(x).abs()

    with pytest.raises(
        RuntimeError, match=r"spectrum cannot be exported: there is no form for .* in files, at .*test_export"
    ):
        torch.compiler.export(spectrum, (torch.ones(8),))
    with pytest.raises(RuntimeError, match="is not recorded, since numbers leave by item"):
        torch.compiler.export(lambda x: x * x.sum().item(), (torch.rand(2),))


def _sealed(body):
    seal = 0xCBF29CE484222325
    for byte in body:
        seal = ((seal ^ byte) * 0x100000001B3) % (1 << 64)
    return b"rushprog" + struct.pack("<IQ", 1, len(body)) + body + struct.pack("<Q", seal)


def _small():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    step = _step(model, torch.optim.Adam(model.parameters()), functional.mse_loss)
    return torch.compiler.export(step, (torch.ones(2, 2), torch.ones(2, 1))).to_bytes()


def test_damaged_files_are_errors():
    data = _small()
    assert data[20:-8] == _sealed(data[20:-8])[20:-8] and data == _sealed(data[20:-8])
    for length in [0, 1, 7, 8, 11, 12, 19, 20, 30, len(data) // 2, len(data) - 9, len(data) - 1]:
        with pytest.raises(ValueError, match="no program, or it is damaged"):
            Exported(data[:length])
    for place in range(0, len(data), 37):
        with pytest.raises(ValueError, match=r"damaged|which is not known here"):
            Exported(data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :])
    with pytest.raises(ValueError, match="the form 9, which is not known here"):
        Exported(data[:8] + struct.pack("<I", 9) + data[12:])


def test_forged_files_are_errors_or_programs_whose_runs_may_fail():
    body = _small()[20:-8]
    draw = random.Random(0)
    inputs = (torch.ones(2, 2), torch.ones(2, 1))
    for _ in range(1500):
        forged = bytearray(body)
        kind = draw.random()
        place = draw.randrange(len(forged))
        if kind < 0.4:
            forged[place] = draw.randrange(256)
        elif kind < 0.6:
            forged[place : place + 8] = struct.pack(
                "<Q", draw.choice([0, 1, 2, 7, 1 << 31, 1 << 40, 1 << 63, (1 << 64) - 1])
            )
        elif kind < 0.8:
            del forged[place : place + draw.randrange(1, 20)]
        else:
            other = draw.randrange(len(forged))
            forged[place : place + 16] = forged[other : other + 16]
        with contextlib.suppress(
            ValueError, RuntimeError, IndexError, NotImplementedError, TypeError, MemoryError
        ):
            Exported(_sealed(bytes(forged)))(*inputs)


def test_a_program_that_would_take_too_much_memory_is_refused():
    data = _small()[20:-8]
    # The first shape of what it is called with.
    place = data.index(struct.pack("<QQQ", 2, 2, 2))
    forged = data[: place + 8] + struct.pack("<Q", 1 << 36) + data[place + 16 :]
    with pytest.raises(ValueError, match=r"more than the|damaged"):
        Exported(_sealed(forged))


def test_a_program_that_takes_long_is_run_by_one_thread_at_a_time():
    x = torch.ones(400, 400)

    @torch.no_grad()
    def grow(x):
        for _ in range(30):
            x = (x @ x).tanh()
        return x

    program = torch.compiler.export(grow, (x,))
    expected = program(x)
    ends = []

    def run():
        try:
            ends.append(torch.equal(program(x), expected))
        except RuntimeError as error:
            ends.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert True in ends
    assert set(ends) <= {True, "the program is being run, which it is once at a time"}
