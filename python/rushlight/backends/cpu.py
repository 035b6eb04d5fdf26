"""The processor: which of its vector instructions are used."""

from __future__ import annotations

import functools
import os
import platform
from typing import Any

__all__ = ["get_cpu_capability"]

# As the operating system names what the processor has, the widest first.
_WIDEST = (("AVX512", "avx512f"), ("AVX2", "avx2"))


# Instructions by torch's names, where the system has others.
_INSTRUCTIONS = (
    "sse sse2 sse3=pni ssse3 sse4_1 sse4_2 sse4a avx avx2 avx_vnni avx512_f=avx512f avx512_cd=avx512cd "
    "avx512_dq=avx512dq avx512_bw=avx512bw avx512_vl=avx512vl avx512_ifma=avx512ifma avx512_vbmi=avx512vbmi "
    "avx512_vbmi2 avx512_bf16 avx512_fp16 avx512_vnni avx512_bitalg avx512_vpopcntdq amx_tile amx_int8 "
    "amx_bf16 amx_fp16 aes bmi=bmi1 bmi2 clflush clflushopt clwb f16c fma3=fma fma4 lzcnt=abm popcnt "
    "sha=sha_ni"
)


@functools.cache
def _cpuinfo() -> dict[str, str]:
    """Return what Linux says of the first processor."""
    try:
        with open("/proc/cpuinfo") as file:
            first = file.read().partition("\n\n")[0]
    except OSError:
        return {}
    lines = (line.partition(":") for line in first.splitlines())
    return {name.strip(): said.strip() for name, _, said in lines}


def _flags() -> set[str]:
    return set(_cpuinfo().get("flags", "").split())


def capabilities() -> dict[str, Any]:
    """Return the instructions that the processor has, by torch's names, and what it is."""
    flags = _flags()
    pairs = (one.partition("=") for one in _INSTRUCTIONS.split())
    return {
        **{name: (own or name) in flags for name, _, own in pairs},
        "cpu_name": _cpuinfo().get("model name", platform.processor()),
        "architecture": platform.machine(),
        "num_logical_cores": os.cpu_count() or 1,
        "num_physical_cores": int(_cpuinfo().get("cpu cores", os.cpu_count() or 1)),
    }


@functools.cache
def get_cpu_capability() -> str:
    """Return the name of the widest vectors that the processor has.

    >>> import rushlight as torch
    >>> torch.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    flags = _flags()
    return next((name for name, flag in _WIDEST if flag in flags), "DEFAULT")
