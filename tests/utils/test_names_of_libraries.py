"""Names that libraries import, and what they do with them at once."""

import tempfile
import typing
from importlib import import_module

import pytest
import rushlight as torch
from support import raises


def test_limits_of_types_that_libraries_name():
    info = torch.finfo(torch.float8_e4m3fn)
    assert (info.bits, info.max, info.min, info.eps) == (8, 448.0, -448.0, 0.125)
    assert torch.finfo(torch.float8_e8m0fnu).min == torch.finfo(torch.float8_e8m0fnu).tiny
    assert torch.finfo(torch.complex32).dtype == "float16"
    assert torch.iinfo(torch.uint16).max == 65535
    assert isinstance(torch.finfo(torch.float32), torch.finfo)
    assert isinstance(torch.iinfo(torch.int8), torch.iinfo)
    assert repr(torch.iinfo(torch.uint16)) == "iinfo(min=0, max=65535, dtype=uint16)"
    with raises(TypeError, "torch.finfo() requires a floating point input type."):
        torch.finfo(torch.uint16)


@pytest.mark.filterwarnings("ignore")  # torch has deprecated it, and what it stands on
def test_numbers_of_eight_bits():
    net = torch.nn.Sequential(torch.nn.Linear(2, 1))
    with torch.no_grad():
        net[0].weight.copy_(torch.tensor([[0.5, -1.0]]))
        net[0].bias.zero_()
    made = torch.ao.quantization.quantize_dynamic(net, {torch.nn.Linear}, dtype=torch.qint8)
    assert type(net[0]) is torch.nn.Linear
    assert "DynamicQuantizedLinear(in_features=2, out_features=1, dtype=torch.qint8" in repr(made)
    x = torch.tensor([[1.0, 0.25]])
    assert made(x).item() == pytest.approx(net(x).item(), abs=0.02)


def test_fake_steps_and_the_gradient_that_passes():
    x = torch.tensor([0.26, 9.0, -9.0], requires_grad=True)
    out = torch.fake_quantize_per_tensor_affine(x, 0.5, 0, -4, 3)
    assert out.tolist() == [0.5, 1.5, -2.0]
    out.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 0.0]


def test_an_observer_tells_the_steps():
    observer = torch.ao.quantization.MinMaxObserver()
    observer(torch.tensor([-1.0, 1.55]))
    scale, zero = observer.calculate_qparams()
    assert scale.item() == pytest.approx(0.01)
    assert zero.item() == 100


def test_samples_are_joined_by_a_table_of_ones_own():
    collate = import_module("rushlight.utils.data._utils.collate")

    class Own:
        pass

    table = {Own: lambda batch, *, collate_fn_map: len(batch), **collate.default_collate_fn_map}
    assert collate.collate([(Own(), 1.0), (Own(), 2.0)], collate_fn_map=table)[0] == 2
    with pytest.raises(TypeError):
        collate.default_collate([Own()])


def test_members_of_modules_by_path():
    accessor = import_module("rushlight.nn.utils._named_member_accessor").NamedMemberAccessor
    net = torch.nn.Sequential(torch.nn.Linear(1, 1))
    within = accessor(net)
    bias = net[0].bias
    assert within.swap_tensor("0.bias", torch.ones(1)) is bias
    assert net[0].bias.tolist() == [1.0]
    before, missing = within.swap_tensors_dict({"0.bias": bias})
    assert before["0.bias"].tolist() == [1.0]
    assert missing == []
    with raises(RuntimeError, "Missing key(s): 'nothing'."):
        within.swap_tensors_dict({"nothing": torch.ones(1)})
    assert not hasattr(net, "nothing")


@pytest.mark.filterwarnings("ignore:Local function is not supported")
def test_pipes_of_data():
    pipes = import_module("rushlight.utils.data.datapipes.iter")
    torch.manual_seed(0)
    pipe = pipes.IterableWrapper([1, 2, 3, 4, 5]).filter(lambda x: x != 2).batch(2)
    assert list(pipe) == [[1, 3], [4, 5]]
    assert sorted(pipes.IterableWrapper([1, 2, 3]).shuffle()) == [1, 2, 3]


@pytest.mark.own
def test_a_module_is_exported_as_a_graph():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    program = torch.export.export(net, (torch.ones(1, 2),))
    x = torch.randn(4, 2)
    assert torch.equal(program.module()(x), net(x))
    assert set(program.state_dict) == {"0.weight", "0.bias"}
    with tempfile.TemporaryDirectory() as folder:
        torch.export.save(program, f"{folder}/program.pt2")
        assert torch.equal(torch.export.load(f"{folder}/program.pt2").module()(x), net(x))


@pytest.mark.own
def test_an_event_file_is_framed_and_checked(tmp_path):
    from rushlight.utils.tensorboard import SummaryWriter
    from rushlight.utils.tensorboard._events import _checksum

    # The checksum of nine digits is known, and turned as the files have it.
    assert int.from_bytes(_checksum(b"123456789"), "little") == (
        ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    )
    with SummaryWriter(tmp_path) as writer:
        writer.add_scalar("loss", torch.tensor(0.5), 3)
        writer.add_histogram("weights", torch.randn(9), 0)
        writer.add_image("image", torch.rand(3, 2, 2), 0)
        writer.add_images("images", torch.rand(3, 1, 2, 2), 0)
        writer.add_text("note", "hello", 0)
        writer.add_audio("sound", torch.rand(8), 0)
        writer.add_hparams({"rate": 0.1, "kind": "a", "flag": True}, {"score": 1.0}, run_name="run")
    (file,) = (path for path in tmp_path.iterdir() if path.is_file())
    data, records = file.read_bytes(), []
    while data:
        length = int.from_bytes(data[:8], "little")
        assert data[8:12] == _checksum(data[:8])
        record, data = data[12 : 12 + length], data[12 + length :]
        assert data[:4] == _checksum(record)
        records.append(record)
        data = data[4:]
    assert b"brain.Event:2" in records[0]
    assert b"loss" in records[1]
    assert len(records) == 7
    with SummaryWriter(tmp_path / "other") as writer, raises(ValueError, "The input has no element."):
        writer.add_histogram("nothing", torch.empty(0))


def test_the_bits_of_all_elements():
    assert torch.hash_tensor(torch.tensor([1, 2, 4])).item() == 7
    x = torch.arange(6.0).view(2, 3)
    assert torch.hash_tensor(x, 1).tolist() == [9218868437227405312, 4615063718147915776]
    assert x.hash_tensor((0, 1)).item() == (x.hash_tensor(1)[0] ^ x.hash_tensor(1)[1]).item()
    assert x.hash_tensor(0, keepdim=True).shape == (1, 3)
    assert torch.hash_tensor(x, 1).dtype == torch.uint64
    with raises(RuntimeError, "Unknown hash_tensor mode: 1"):
        x.hash_tensor(mode=1)


def test_operations_as_modules():
    functional = torch.ao.nn.quantized.FloatFunctional()
    x, y = torch.tensor([1.0, -3.0]), torch.tensor([2.0, 1.0])
    assert functional.add_relu(x, y).tolist() == [3.0, 0.0]
    assert functional.cat([x, y]).tolist() == [1.0, -3.0, 2.0, 1.0]
    assert functional.mul_scalar(x, 2.0).tolist() == [2.0, -6.0]
    assert type(functional) is import_module("rushlight.nn.quantized").FloatFunctional


def test_layers_that_could_be_one():
    conv, relu = torch.nn.Conv2d(1, 1, 1), torch.nn.ReLU()
    fused = torch.ao.nn.intrinsic.ConvReLU2d(conv, relu)
    x = torch.full((1, 1, 1, 1), 3.0)
    assert torch.equal(fused(x), relu(conv(x)))
    with raises(AssertionError, "Incorrect types for input modules: ReLU and Conv2d"):
        torch.ao.nn.intrinsic.ConvReLU2d(relu, conv)


@pytest.mark.own
@pytest.mark.parametrize(
    "place", ["quantized", "quantized.modules", "qat.modules", "intrinsic.qat", "quantizable"]
)
def test_quantised_layers_refuse(place):
    room = import_module(f"rushlight.nn.{place}")
    assert room is import_module(f"rushlight.ao.nn.{place}")
    name = "LinearReLU" if place == "intrinsic.qat" else "LSTM" if place == "quantizable" else "Linear"
    with raises(
        NotImplementedError,
        f"{getattr(room, name).__module__.replace('rushlight', 'torch')}.{name}: tensors are not quantised here",
    ):
        getattr(room, name)(1, 1)


def test_events_are_told():
    from datetime import datetime, timedelta

    monitor = torch.monitor
    seen = []
    handle = monitor.register_event_handler(seen.append)
    try:
        monitor.log_event(monitor.Event("begun", datetime.now(), {"step": 1}))
        stat = monitor.Stat("loss", [monitor.MEAN, monitor.MAX, monitor.COUNT], timedelta(hours=1))
        stat.add(1.0)
        stat.add(3.0)
        assert stat.count == 2
        del stat
    finally:
        monitor.unregister_event_handler(handle)
    assert [event.name for event in seen] == ["begun", "torch.monitor.Stat"]
    assert seen[1].data == {"loss.mean": 2.0, "loss.max": 3.0, "loss.count": 2.0}


def test_numbers_of_a_time_are_told_together_though_another_passed_before(monkeypatch):
    import time
    from datetime import timedelta

    seen, now = [], [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stat = torch.monitor.Stat("loss", [torch.monitor.SUM], timedelta(seconds=10))
    handle = torch.monitor.register_event_handler(lambda event: seen.append(event.data))
    try:
        now[0] = 25.0
        stat.add(1.0)
        stat.add(2.0)
        assert seen == [] and stat.count == 2
        now[0] = 31.0
        stat.add(4.0)
        assert seen == [{"loss.sum": 3.0}] and stat.count == 1
    finally:
        torch.monitor.unregister_event_handler(handle)


def test_where_rows_begin():
    rows = torch._convert_indices_from_coo_to_csr(torch.tensor([0, 0, 2]), 4)
    assert rows.tolist() == [0, 2, 2, 3, 3] and rows.dtype == torch.int64
    both = torch._convert_indices_from_csr_to_coo(rows, torch.tensor([5, 6, 7]), out_int32=True)
    assert both.tolist() == [[0, 0, 2], [5, 6, 7]] and both.dtype == torch.int32


def test_engines_that_are_named():
    quantized = torch.backends.quantized
    before = quantized.engine
    assert before in quantized.supported_engines
    with raises(RuntimeError, "nothing is not a valid value for quantized engine"):
        quantized.engine = "nothing"
    quantized.engine = "qnnpack"
    assert quantized.engine == "qnnpack"
    quantized.engine = before
    assert torch.cpu.get_capabilities()["architecture"]
    assert "inductor" in torch._dynamo.list_backends()
    assert torch.compiler.get_default_backend() == "inductor"


def test_a_report_of_the_machine():
    text = torch.utils.collect_env.get_pretty_env_info()
    assert f"PyTorch version: {torch.__version__}" in text and "Python version: 3." in text


def test_types_of_scripts_stand_in_annotations():
    assert str | torch.DeviceObjType
    assert issubclass(torch.FloatType, torch._C.JitType)
    assert torch.distributions.kl._KL_REGISTRY[torch.distributions.Normal, torch.distributions.Normal]


@pytest.mark.filterwarnings("error")
def test_reductions_as_numbers():
    place = import_module("rushlight.nn._reduction")
    assert [place.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    assert place.legacy_get_string(False, None, emit_warning=False) == "sum"
    with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
        assert place.legacy_get_enum(True, False) == 0
    with raises(ValueError, "x is not a valid value for reduction"):
        place.get_enum("x")


def test_layers_of_windows_share_how_arguments_are_read():
    for place in ("conv", "pooling", "padding"):
        module = import_module(f"rushlight.nn.modules.{place}")
        assert module._pair(3) == (3, 3)
        assert module._size_2_t == int | tuple[int, int]
    assert torch.nn.functional._triple(1) == (1, 1, 1)


def test_no_device_has_come_into_use():
    assert torch.cuda._initialized is False


def test_weights_of_recurrent_layers_have_names_in_order():
    layer = torch.nn.LSTM(1, 1, bidirectional=True, bias=False)
    assert layer._flat_weights_names == [name for name, _ in layer.named_parameters()]


def test_an_optimiser_around_another_has_hooks():
    class Around(torch.optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner
            self._patch_step_function()

        def step(self, closure=None):
            return self.inner.step(closure)

    x = torch.ones(1, requires_grad=True)
    x.grad = torch.ones(1)
    around, seen = Around(torch.optim.SGD([x], lr=0.5)), []
    around.register_step_post_hook(lambda *_: seen.append(x.item()))
    around.step()
    assert seen == [0.5]


def test_attentions_of_others_project_by_thirds_of_a_weight():
    functional = torch.nn.functional
    x, other = torch.ones(2, 1, 2), torch.zeros(2, 1, 2)
    weight, bias = torch.arange(12.0).view(6, 2), torch.arange(6.0)
    for q, k, v in ((x, x, x), (other, x, x), (other, x, other)):
        together = functional._in_projection_packed(q, k, v, weight, bias)
        apart = functional._in_projection(q, k, v, *weight.chunk(3), *bias.chunk(3))
        for one, two in zip(together, apart, strict=True):
            assert one.tolist() == two.tolist()
    assert functional._in_projection_packed(x, x, x, weight)[2][0].tolist() == [[17.0, 21.0]]


def test_texts_of_tensors_get_what_else_is_said():
    add = torch._tensor_str._add_suffixes
    assert add("Index([1]", ["dim_size=2"], 6, force_newline=False) == "Index([1], dim_size=2)"
    assert add("Index([1]", ["a", "b"], 6, force_newline=True) == "Index([1],\n      a, b)"
    assert torch._tensor_str._str_intern(torch.ones(1)) == "tensor([1.])"
    assert torch._tensor_str._str_intern(torch.ones(1), tensor_contents="...") == "tensor(...)"


def test_annotations_of_scripts_are_a_module():
    assert torch.jit.annotations.List[int] == typing.List[int]  # noqa: UP006
    assert torch.jit.annotations.BroadcastingList2[int] is not None


def test_names_of_the_onnx_format_are_where_the_compiled_module_has_them():
    place = import_module("rushlight._C._onnx")
    assert place.TrainingMode is torch.onnx.TrainingMode
    assert place.OperatorExportTypes.ONNX == 0
    assert [place.TensorProtoDataType[name] for name in ("FLOAT", "INT64", "BOOL", "BFLOAT16")] == [
        1,
        7,
        9,
        16,
    ]


def test_there_is_no_compiler_for_other_devices():
    from rushlight.utils import _triton

    assert not _triton.has_triton() and not _triton.has_triton_package()


def test_a_former_name_of_the_rank_in_the_world():
    import pytest
    from rushlight.distributed import distributed_c10d

    with pytest.warns(FutureWarning, match="_get_global_rank` is deprecated"):
        distributed_c10d._get_global_rank(distributed_c10d._world.default, 0)


def test_operators_with_another_type_of_result():
    from rushlight._higher_order_ops.out_dtype import out_dtype

    mul, x = torch.ops.aten.mul, torch.full((2,), 100, dtype=torch.int8)
    found = out_dtype(mul.Tensor, torch.int32, x, x)
    assert found.dtype is torch.int32 and found.tolist() == [10000, 10000]
    assert out_dtype(mul.Scalar, torch.int32, x, 3.5).tolist() == [350, 350]
    with raises(ValueError, "out_dtype's first argument must be an OpOverload"):
        out_dtype(torch.mm, torch.int32, x, x)
    with raises(ValueError, "out_dtype's first argument needs to be a functional operator"):
        out_dtype(torch.ops.aten.add_.Tensor, torch.int32, x, x)


def test_kernels_for_other_devices_have_names():
    from rushlight.sparse._triton_ops import bsr_dense_addmm
    from rushlight.sparse._triton_ops_meta import get_meta, minimize

    assert get_meta("bsr_dense_addmm", (1, 2, 3)) is None
    for function in (bsr_dense_addmm, minimize):
        with pytest.raises(RuntimeError):
            function()


def test_summaries_are_found_by_their_module_and_written_one_at_a_time(tmp_path):
    from rushlight.utils.tensorboard import SummaryWriter
    from rushlight.utils.tensorboard.summary import hparams, scalar

    with SummaryWriter(tmp_path) as writer:
        for summary in hparams({"lr": 0.1, "name": "a"}, {"loss": 0.0}):
            writer.file_writer.add_summary(summary)
        writer.file_writer.add_summary(scalar("loss", 0.5), global_step=3)
    written = next(tmp_path.iterdir()).read_bytes()
    assert b"_hparams_/session_start_info" in written and b"loss" in written


def test_trees_of_optree_are_asked_for_where_that_package_is():
    from importlib.util import find_spec

    if find_spec("optree") is None:
        with pytest.raises(ImportError, match="an optional dependency of PyTorch"):
            import rushlight.utils._cxx_pytree  # noqa: F401
    else:
        from rushlight.utils import _cxx_pytree

        assert _cxx_pytree.tree_map(lambda x: x + 1, [1, (2,)]) == [2, (3,)]
