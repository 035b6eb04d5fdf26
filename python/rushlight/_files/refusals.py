"""What is said of files that name more than tensors and plain values."""

from __future__ import annotations

__all__: list[str] = []

UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from "
    "`False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but "
    "it can result in arbitrary code execution. Do it only if you got the file from a trusted source."
)
_DOCUMENTED = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with "
    "weights_only https://pytorch.org/docs/stable/generated/torch.load.html."
)


def refusal(reason: str) -> str:
    """Return why a file is not read with nothing but tensors and plain values, and what can be done."""
    if "was not an allowed global by default" in reason:
        text = (
            "Weights only load failed. This file can still be loaded, to do so you have two options, "
            "\033[1mdo those steps only if you trust the source of the checkpoint\033[0m. \n\t(1) "
            f"{UNSAFE}\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended "
            f"steps in the following error message.\n\tWeightsUnpickler error: {reason}"
        )
    else:
        text = (
            f"Weights only load failed. {UNSAFE}\nPlease file an issue with the following so that we can "
            "make `weights_only=True` compatible with your use case: WeightsUnpickler error: \n\n" + reason
        )
    return text + _DOCUMENTED
