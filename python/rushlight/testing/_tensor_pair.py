"""Two tensors that are compared, or two values of which tensors can be made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ._mismatches import ErrorMeta, get_tolerances, make_scalar_mismatch_msg, make_tensor_mismatch_msg
from ._pairs import Pair

__all__ = ["TensorLikePair"]

# How the indices of each layout that leaves zeros out are asked for.
_INDICES = {
    "torch.sparse_csr": ("CSR", "crow_indices", "col_indices"),
    "torch.sparse_csc": ("CSC", "ccol_indices", "row_indices"),
    "torch.sparse_bsr": ("BSR", "crow_indices", "col_indices"),
    "torch.sparse_bsc": ("BSC", "ccol_indices", "row_indices"),
}
_LAYOUTS = {"torch.strided", "torch.jagged", "torch.sparse_coo", *_INDICES}
_UNSIGNED = (native.uint16, native.uint32, native.uint64)


class TensorLikePair(Pair):
    """Two tensors, or two values of related classes of which tensors can be made."""

    def __init__(
        self,
        actual: Any,
        expected: Any,
        *,
        id: tuple[Any, ...] = (),
        allow_subclasses: bool = True,
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_device: bool = True,
        check_dtype: bool = True,
        check_layout: bool = True,
        check_stride: bool = False,
        **other_parameters: Any,
    ) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id, allow_subclasses=allow_subclasses)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(actual, expected, rtol=rtol, atol=atol, id=id)
        self.equal_nan = equal_nan
        self.check_device, self.check_dtype = check_device, check_dtype
        self.check_layout, self.check_stride = check_layout, check_stride

    def _process_inputs(
        self, actual: Any, expected: Any, *, id: tuple[Any, ...], allow_subclasses: bool
    ) -> tuple[Tensor, Tensor]:
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if not related or (not allow_subclasses and type(actual) is not type(expected)):
            self._inputs_not_supported()
        left, right = self._to_tensor(actual), self._to_tensor(expected)
        for tensor in (left, right):
            self._check_supported(tensor, id=id)
        return left, right

    def _to_tensor(self, tensor_like: Any) -> Tensor:
        if isinstance(tensor_like, Tensor):
            return tensor_like
        try:
            return native.as_tensor(tensor_like)
        except Exception:
            self._inputs_not_supported()

    def _check_supported(self, tensor: Tensor, *, id: tuple[Any, ...]) -> None:
        if repr(tensor.layout) not in _LAYOUTS:
            raise ErrorMeta(ValueError, f"Unsupported tensor layout {tensor.layout}", id=id)

    def compare(self) -> None:
        actual, expected = self.actual, self.expected
        self._compare_attributes(actual, expected)
        if "meta" not in (actual.device.type, expected.device.type):
            self._compare_values(*self._equalize_attributes(actual, expected))

    def _compare_attributes(self, actual: Tensor, expected: Tensor) -> None:
        same_layout = actual.layout == expected.layout
        strided = same_layout and repr(actual.layout) == "torch.strided"
        for name, is_checked in (
            ("shape", True),
            ("is_quantized", True),
            ("qscheme()", actual.is_quantized and expected.is_quantized),
            ("layout", self.check_layout),
            ("stride()", self.check_stride and strided),
            ("device", self.check_device),
            ("dtype", self.check_dtype),
        ):
            if not is_checked:
                continue
            left, right = (getattr(one, name.removesuffix("()")) for one in (actual, expected))
            if name.endswith("()"):
                left, right = left(), right()
            if left != right:
                self._fail(
                    AssertionError, f"The values for attribute '{name}' do not match: {left} != {right}."
                )

    def _equalize_attributes(self, actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
        """Return both on one device, in one type and in one layout."""
        if actual.device != expected.device:
            actual, expected = actual.cpu(), expected.cpu()
        if actual.dtype != expected.dtype:
            # Wide unsigned integers promote with nothing.
            types = [native.int64 if one.dtype in _UNSIGNED else one.dtype for one in (actual, expected)]
            common = native.promote_types(*types)
            actual, expected = actual.to(common), expected.to(common)
        if actual.layout != expected.layout:
            actual, expected = (
                one if repr(one.layout) == "torch.strided" else one.to_dense() for one in (actual, expected)
            )
        return actual, expected

    def _compare_values(self, actual: Tensor, expected: Tensor) -> None:
        layout = repr(actual.layout)
        bounds: dict[str, Any] = {"rtol": self.rtol, "atol": self.atol, "equal_nan": self.equal_nan}
        if actual.is_quantized:
            quantised: tuple[Any, Any] = (actual, expected)
            actual, expected = (one.dequantize() for one in quantised)
            bounds["identifier"] = lambda default: f"Quantized {default.lower()}"
        elif layout == "torch.sparse_coo":
            self._compare_sparse_coo_values(actual, expected, **bounds)
            return
        elif layout in _INDICES:
            self._compare_sparse_compressed_values(actual, expected, **bounds)
            return
        elif layout == "torch.jagged":
            actual, expected = actual.values(), expected.values()
        elif actual.is_floating_point() and actual.dtype.itemsize == 1 and (self.rtol or self.atol):
            self._fail(
                AssertionError,
                f"Rtol={self.rtol} and atol={self.atol} are not supported for bitwise comparison of low "
                "dimensional floats. Please use rtol=0.0 and atol=0.0.",
            )
        self._compare_regular_values_close(actual, expected, **bounds)

    def _compare_counts(self, what: str, actual: int, expected: int) -> None:
        if actual != expected:
            self._fail(AssertionError, f"The number of {what} tensors does not match: {actual} != {expected}")

    def _compare_sparse_coo_values(self, actual: Tensor, expected: Tensor, **bounds: Any) -> None:
        self._compare_counts("sparse dimensions in sparse COO", actual.sparse_dim(), expected.sparse_dim())
        self._compare_counts("specified values in sparse COO", actual._nnz(), expected._nnz())
        self._compare_regular_values_equal(
            actual._indices(), expected._indices(), identifier="Sparse COO indices"
        )
        self._compare_regular_values_close(
            actual._values(), expected._values(), **bounds, identifier="Sparse COO values"
        )

    def _compare_sparse_compressed_values(self, actual: Tensor, expected: Tensor, **bounds: Any) -> None:
        name, compressed, plain = _INDICES[repr(actual.layout)]
        self._compare_counts(f"specified values in sparse {name}", actual._nnz(), expected._nnz())
        found = [[getattr(one, kind)() for kind in (compressed, plain)] for one in (actual, expected)]
        # Indices may be of two types, and are then compared in the wider one.
        common = native.promote_types(found[0][0].dtype, found[1][0].dtype)
        for kind, left, right in zip((compressed, plain), *found, strict=True):
            self._compare_regular_values_equal(
                left.to(common), right.to(common), identifier=f"Sparse {name} {kind}"
            )
        self._compare_regular_values_close(
            actual.values(), expected.values(), **bounds, identifier=f"Sparse {name} values"
        )

    def _compare_regular_values_equal(
        self,
        actual: Tensor,
        expected: Tensor,
        *,
        equal_nan: bool = False,
        identifier: str | Callable[[str], str] | None = None,
    ) -> None:
        self._compare_regular_values_close(
            actual, expected, rtol=0, atol=0, equal_nan=equal_nan, identifier=identifier
        )

    def _compare_regular_values_close(
        self,
        actual: Tensor,
        expected: Tensor,
        *,
        rtol: float,
        atol: float,
        equal_nan: bool,
        identifier: str | Callable[[str], str] | None = None,
    ) -> None:
        matches = native.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if matches.all():
            return
        if actual.dim() == 0:
            text = make_scalar_mismatch_msg(
                actual.item(), expected.item(), rtol=rtol, atol=atol, identifier=identifier
            )
        else:
            text = make_tensor_mismatch_msg(
                actual.detach(), expected.detach(), matches, rtol=rtol, atol=atol, identifier=identifier
            )
        self._fail(AssertionError, text)

    def extra_repr(self) -> Sequence[str]:
        return ("rtol", "atol", "equal_nan", "check_device", "check_dtype", "check_layout", "check_stride")
