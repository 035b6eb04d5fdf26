"""What processes that train together do: with inputs of unequal number, and with gradients on their way."""

from ..._lazy import on_first_use

__getattr__, __dir__ = on_first_use(
    globals(), rooms={"ddp_comm_hooks", "join", "model_averaging"}, places={".join": "Join JoinHook Joinable"}
)
