//! Views and copies: shapes, the order of dimensions, `clone`, `copy_`, `fill_`.
use super::conversion::{cloned, format, warn_of_lost_part};
use super::entries::{both, in_own_order, in_place, method};
use crate::autograd::node::alone;
use crate::calls::callable::Function;
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::values::memory::elements_of;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::{permute, resize};
use rushlight::ops::{Operand, conjugate};
use rushlight::schema::{OutPolicy, UnbatchedTarget};

/// How far elements are apart that lie in order.
fn in_order(size: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; size.len()];
    for dim in (1..size.len()).rev() {
        strides[dim - 1] = strides[dim] * size[dim].max(1);
    }
    strides
}

/// The entries.
pub(super) const TABLE: &[Function] = &[
    both("adjoint", &["(Tensor input)"], "The conjugate transpose of matrices, as a view.", |a| {
        match a.tensor(0)?.ndim() {
            0 => {
                static TOLD: Once = Once::new();
                TOLD.warn(a.py(), c"adjoint() is deprecated on 0-D tensors. Consider using x.conj().")?;
                return conjugate::conj(a.tensor(0)?.clone()).answer(a.py());
            }
            1 => {
                let text =
                    "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.";
                return Err(PyRuntimeError::new_err(text));
            }
            _ => {}
        }
        permute::transpose(a.tensor(0)?, -2, -1).and_then(conjugate::conj).answer(a.py())
    }),
    method(
        "set_",
        &[
            "(Tensor input)",
            "(Tensor input, Storage source)",
            "(Tensor input, Storage source, int storage_offset, int[] size, int[]? stride=None)",
            "(Tensor input, Tensor source)",
            "(Tensor input, Tensor source, int storage_offset, int[] size, int[]? stride=None)",
        ],
        "Makes the tensor refer to the memory of a storage or of another tensor.",
        |a| {
            let x = a.tensor(0)?;
            let source = match a.overload() {
                0 => return in_own_order(a, resize::set_empty_(x)),
                1 | 2 => elements_of(a.needed(1)?, x.dtype())?,
                _ => a.tensor(1)?.clone(),
            };
            if !matches!(a.overload(), 2 | 4) {
                return in_own_order(a, resize::set_(x, &source));
            }
            let (size, stride) = (a.ints(3)?, a.dims(4)?);
            let stride = stride.map_or_else(|| in_order(&size), |stride| stride.to_vec());
            in_own_order(a, resize::set_window_(x, &source, &size, &stride, a.int(2)?))
        },
    )
    .written(&OutPolicy::PLAIN.in_place_as(|_| ".source_Tensor"))
    .operators(&[("-", "set_.source_Tensor(Tensor(a!) self, Tensor source) -> Tensor(a!)")]),
    both(
        "clone",
        &["(Tensor input, *, memory_format? memory_format=None)"],
        "A copy of the tensor, through which gradients flow back.",
        |a| cloned(a.tensor(0)?, format(a, 1)).answer(a.py()),
    )
    .operators(&[("CloneBackward0", "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")]),
    method(
        "contiguous",
        &["(Tensor input, *, memory_format memory_format=contiguous_format)"],
        "The tensor contiguous in memory: itself if it is, else a copy.",
        |a| match format(a, 1) {
            Some("channels_last") if !cast::is_channels_last(a.tensor(0)?, 4).map_err(raise)? => {
                cast::clone_channels_last(a.tensor(0)?, 4).answer(a.py())
            }
            Some("channels_last_3d") if !cast::is_channels_last(a.tensor(0)?, 5).map_err(raise)? => {
                cast::clone_channels_last(a.tensor(0)?, 5).answer(a.py())
            }
            Some("channels_last" | "channels_last_3d") => a.object(0).answer(a.py()),
            _ => cast::contiguous(a.tensor(0)?).answer(a.py()),
        },
    ),
    method(
        "copy_",
        &[
            "(Tensor input, Tensor|Number other, bool non_blocking=False)",
            "(Tensor input, Tensor|Number other, bool async=False)|deprecated",
        ],
        "Copies the elements of another tensor into this one.",
        |a| {
            let number;
            let (target, source) = match (a.tensor(0)?, a.operand(1)?) {
                (target, Operand::Tensor(source)) => (target, source),
                (target, Operand::Scalar(value)) => {
                    number = alone(value).map_err(raise)?;
                    (target, &number)
                }
            };
            warn_of_lost_part(a.py(), source.dtype(), target.dtype())?;
            in_place(a, cast::copy_(target, source))
        },
    )
    .written(&OutPolicy::PLAIN.unbatched_target(|_| UnbatchedTarget::Arithmetic)),
];
