"""What processes do together, as functions that return what comes of it: they are refused."""

from __future__ import annotations

from .._devices.absent import Unavailable, refusing

__all__ = ["AsyncCollectiveTensor"]


class AsyncCollectiveTensor(Unavailable):
    """A tensor that will be there when it is asked for: none is ever made."""


refusing(
    globals(),
    "all_gather_tensor all_gather_tensor_autograd all_reduce all_to_all_single all_to_all_single_autograd "
    "broadcast reduce_scatter_tensor reduce_scatter_tensor_autograd wait_tensor",
    NotImplementedError,
    "torch.distributed._functional_collectives: the functions of torch.distributed write to tensors instead",
)
