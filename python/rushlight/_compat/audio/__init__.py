"""Operators of torchaudio, whose library of compiled ones is made for torch.

>>> import rushlight as torch
>>> from rushlight._compat import audio
>>> output = torch.zeros(1, 1, 4)
>>> audio.filter_loop(torch.ones(1, 1, 3), torch.tensor([[-0.5, 1.0]]), output)
>>> output
tensor([[[0.0000, 1.0000, 1.5000, 1.7500]]])
"""

from __future__ import annotations

from typing import Any

from ...library import Library
from ._alignment import forced_align, transducer_loss
from ._filters import filter_loop, overdrive_loop

__all__ = ["filter_loop", "forced_align", "overdrive_loop", "transducer_loss"]

_COMPUTED: dict[str, dict[str, Any]] = {
    "torchaudio": {
        "_lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, "
        "Tensor(a!) padded_output_waveform) -> ()": filter_loop,
        "_overdrive_core_loop(Tensor waveform, Tensor temp, Tensor last_in, Tensor last_out, "
        "Tensor(a!) output_waveform) -> ()": overdrive_loop,
        "rnnt_loss_forward(Tensor logits, Tensor targets, Tensor logit_lengths, Tensor target_lengths, "
        "int blank, float clamp, bool fused_log_softmax=True) -> (Tensor, Tensor?)": transducer_loss,
        "forced_align(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
        "int blank) -> (Tensor, Tensor)": forced_align,
    },
    "_torchaudio": {
        "is_align_available() -> bool": lambda: True,
        "cuda_version() -> int?": lambda: None,
    },
}
# They are kept: what a library declares goes with it.
_libraries = []
for _name, _functions in _COMPUTED.items():
    _library = Library(_name, "DEF")
    _libraries.append(_library)
    for _schema, _function in _functions.items():
        _library.impl(_library.define(_schema), _function, "CompositeExplicitAutograd")
