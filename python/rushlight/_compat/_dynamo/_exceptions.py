"""What a compiler may fail with."""

from __future__ import annotations


class TorchDynamoException(RuntimeError):
    """A function cannot be compiled."""


class Unsupported(TorchDynamoException):
    """It does something that cannot be compiled."""


class UserError(Unsupported):
    """It is to be written otherwise."""


class BackendCompilerFailed(TorchDynamoException):
    """A compiler has failed."""


class InvalidBackend(TorchDynamoException):
    """Nobody has registered a compiler of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends."
        )
