"""What happens in training, written to files that TensorBoard shows. Nothing has to be installed for that.

>>> import tempfile
>>> from rushlight.utils.tensorboard import SummaryWriter
>>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
...     writer.add_scalar("loss", 0.5, 0)
"""

from __future__ import annotations

import io
import os
import warnings
from typing import TYPE_CHECKING, Any

from ..._module_aliases import add_module_aliases
from . import _summaries
from ._events import EventFile

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["FileWriter", "SummaryWriter"]

FileWriter = EventFile


class SummaryWriter:
    """Writes summaries to an event file in a folder: `runs/TIME_HOST` if none is given."""

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if log_dir is None:
            import socket
            from datetime import datetime

            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step, self.filename_suffix = purge_step, filename_suffix
        self.all_writers: dict[str, EventFile] = {}
        self.file_writer = self._writer(self.log_dir)

    def _writer(self, folder: str) -> EventFile:
        if folder not in self.all_writers:
            self.all_writers[folder] = EventFile(folder, self.filename_suffix)
        return self.all_writers[folder]

    def get_logdir(self) -> str:
        """Return the folder."""
        return self.log_dir

    def _add(self, summary: bytes, step: Any, walltime: float | None) -> None:
        self._writer(self.log_dir).add(summary, None if step is None else int(step), walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Add a number."""
        self._add(_summaries.scalar(tag, scalar_value), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: Any = None
    ) -> None:
        """Add numbers that are shown in one diagram, each as a run of its own."""
        for name, value in tag_scalar_dict.items():
            folder = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{name}")
            step = None if global_step is None else int(global_step)
            self._writer(folder).add(_summaries.scalar(main_tag, value), step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: Any = None,
        max_bins: int | None = None,
    ) -> None:
        """Add how often which values are there."""
        self._add(_summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: Any = None,
        dataformats: str = "CHW",
    ) -> None:
        """Add a picture."""
        self._add(_summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: Any = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Add pictures, in a grid."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: Any = None
    ) -> None:
        """Add a figure of matplotlib, or several, as pictures."""
        import matplotlib.pyplot as pyplot  # type: ignore[import-not-found]
        import numpy

        for one in figure if isinstance(figure, list) else [figure]:
            drawn = io.BytesIO()
            one.savefig(drawn, format="rgba", dpi=one.dpi)
            width, height = (int(size) for size in one.get_size_inches() * one.dpi)
            pixels = numpy.frombuffer(drawn.getvalue(), dtype=numpy.uint8).reshape(height, width, 4)
            self.add_image(tag, pixels, global_step, walltime, "HWC")
            if close:
                pyplot.close(one)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: Any = None,
    ) -> None:
        """Add a sound."""
        self._add(_summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: Any = None) -> None:
        """Add a text."""
        self._add(_summaries.text(tag, text_string), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: Any = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Add what was chosen for a run, and what came of it."""
        import time

        with SummaryWriter(os.path.join(self.log_dir, run_name or str(time.time()))) as writer:
            for summary in _summaries.hyperparameters(hparam_dict, metric_dict):
                writer._add(summary, None, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Leave out the graph of a model: `rushlight.inspection.graph` draws that of a tensor."""
        warnings.warn("add_graph: graphs of models are not written", UserWarning, stacklevel=2)

    def add_embedding(self, mat: Any, *args: Any, **options: Any) -> None:
        """Leave out points of many dimensions."""
        warnings.warn("add_embedding: points of many dimensions are not written", UserWarning, stacklevel=2)

    def flush(self) -> None:
        """Hand over to the operating system what was added."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Close the files. What is added after that goes to new ones."""
        for writer in self.all_writers.values():
            writer.close()
        self.all_writers = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


add_module_aliases(
    globals(),
    {
        "writer": {".": "FileWriter SummaryWriter"},
        "summary": {"._summaries": "audio histogram image scalar text hparams=hyperparameters"},
    },
)
