"""Anomaly mode: failures in backward tell where their node was recorded; NaN gradients are failures."""

from __future__ import annotations

from .._rushlight import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class _Restoring:
    """Puts back, at the end of a `with` block, what was set when the object was made."""

    def __init__(self) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class detect_anomaly(_Restoring):
    """Switch anomaly mode on within a `with` block.

    >>> import warnings
    >>> import rushlight as torch
    >>> x = torch.tensor(0.0, requires_grad=True)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     with torch.autograd.detect_anomaly():
    ...         (torch.sqrt(x) * 0).backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output...
    """

    def __init__(self, check_nan: bool = True) -> None:
        import warnings

        super().__init__()
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)


class set_detect_anomaly(_Restoring):
    """Switch anomaly mode on or off: as a function for good, or within a `with` block.

    >>> import rushlight as torch
    >>> with torch.autograd.set_detect_anomaly(True):
    ...     torch.is_anomaly_enabled()
    True
    >>> torch.is_anomaly_enabled()
    False
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()
        set_anomaly_enabled(mode, check_nan)
