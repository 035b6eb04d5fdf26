"""`onnx` and what stands behind compilers: names that are there, and refuse or keep what they are told."""

import sys

import pytest
import rushlight as torch

pytestmark = pytest.mark.own


def test_nothing_is_written_as_onnx_without_the_package_of_that_name(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(torch.onnx.OnnxExporterError, match="needs the package `onnx`"):
        torch.onnx.export(torch.nn.ReLU(), torch.ones(1), tmp_path / "relu.onnx")
    assert not torch.onnx.is_in_onnx_export() and list(tmp_path.iterdir()) == []


def test_what_an_exporter_is_told_is_kept():
    torch.onnx.register_custom_op_symbolic("mine::op", lambda g, x: x, 9)
    torch.onnx.unregister_custom_op_symbolic("mine::op", 9)
    torch.onnx.unregister_custom_op_symbolic("mine::op", 9)

    @torch.onnx.symbolic_helper.parse_args("v", "i")
    def symbolic(g, x):
        return x

    assert symbolic(None, 3) == 3 and torch.onnx.OperatorExportTypes.ONNX == 0


def test_settings_of_compilers_are_kept():
    from rushlight import _inductor, _logging

    _inductor.cudagraph_mark_step_begin()
    _logging.set_logs(dynamo=20)
    assert _inductor.config.max_autotune is False and _inductor.list_options() == []
