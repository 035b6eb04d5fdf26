"""Whether there is Triton, which compiles kernels for other devices: there is none to compile for."""

from .._devices.absent import idle

idle(
    globals(),
    {
        "has_triton has_triton_package has_triton_tma has_triton_tma_device has_triton_stable_tma_api "
        "has_triton_experimental_host_tma has_triton_tensor_descriptor_host_tma "
        "has_datacenter_blackwell_tma_device": False,
    },
)
