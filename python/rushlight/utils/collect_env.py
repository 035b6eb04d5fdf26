"""What a report of a fault says of the machine: `python -m rushlight.utils.collect_env` prints it."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import distributions
from typing import Any, NamedTuple

from ..backends.cpu import capabilities
from ..version import __version__

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main", "pretty_str"]

_LIBRARIES = ("torch", "numpy", "onnx", "triton", "optree", "rushlight", "mypy", "flake8")


class SystemEnv(NamedTuple):
    """What is known of the machine; `None` is what it does not have."""

    torch_version: str
    is_debug_build: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    pip_packages: str
    cpu_info: str
    cuda_compiled_version: str | None = None
    hip_compiled_version: str | None = None
    is_cuda_available: str = "False"
    cuda_runtime_version: str | None = None
    nvidia_driver_version: str | None = None
    nvidia_gpu_models: str | None = None
    cudnn_version: str | None = None
    is_xpu_available: str = "False"


def _cpu() -> str:
    found = capabilities()
    return f"{found['cpu_name'] or platform.machine()}, {found['num_logical_cores']} cores"


def _packages() -> str:
    known = {one.metadata["Name"]: one.version for one in distributions() if one.metadata["Name"]}
    listed = sorted(name for name in known if any(word in name.lower() for word in _LIBRARIES))
    return "\n".join(f"[pip3] {name}=={known[name]}" for name in listed)


def get_env_info() -> SystemEnv:
    """Ask the machine."""
    return SystemEnv(
        torch_version=__version__,
        is_debug_build="False",
        os=f"{platform.system()} {platform.release()} ({platform.machine()})",
        libc_version="-".join(filter(None, platform.libc_ver())) or "N/A",
        python_version=f"{sys.version.splitlines()[0]} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=platform.platform(),
        pip_packages=_packages(),
        cpu_info=_cpu(),
    )


def pretty_str(envinfo: SystemEnv) -> str:
    """Return what is known as text."""

    def said(value: Any) -> str:
        return "Could not collect" if value is None else str(value)

    return "\n".join(
        [
            f"PyTorch version: {envinfo.torch_version}",
            f"Is debug build: {envinfo.is_debug_build}",
            f"CUDA used to build PyTorch: {said(envinfo.cuda_compiled_version)}",
            "",
            f"OS: {envinfo.os}",
            f"Libc version: {envinfo.libc_version}",
            "",
            f"Python version: {envinfo.python_version}",
            f"Python platform: {envinfo.python_platform}",
            f"Is CUDA available: {envinfo.is_cuda_available}",
            f"Is XPU available: {envinfo.is_xpu_available}",
            "",
            "CPU:",
            envinfo.cpu_info,
            "",
            "Versions of relevant libraries:",
            envinfo.pip_packages,
        ]
    )


def get_pretty_env_info() -> str:
    """Return what there is to say of this machine.

    >>> import rushlight as torch
    >>> torch.utils.collect_env.get_pretty_env_info().splitlines()[0].startswith("PyTorch version: ")
    True
    """
    return pretty_str(get_env_info())


def main() -> None:
    """Print it."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
