//! Running a kernel over every lane of an axis. Lanes whose elements are apart in memory are
//! brought together first, several at a time so that cache lines are used whole.

use std::array::from_fn;
use std::mem::MaybeUninit;

use crate::kernels::geometry::dense::Extent;
use crate::kernels::geometry::moves;
use crate::kernels::interrupt;
use crate::kernels::interrupt::Steps;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;

/// Elements of lanes that are worth another thread. Kernels that want whole lanes put them in order, which takes many
/// times as long as an addition.
const SORTED: usize = GRAIN / 16;

/// Lanes that are brought together at a time.
const WIDTH: usize = 16;

/// Calls `kernel` with every lane of the row-major inputs, which have the shape of `extent`, and
/// the `out_len` elements that are to be its result.
pub(in crate::kernels) fn along<T, U, const N: usize>(
    inputs: [&[T]; N],
    extent: Extent,
    out_len: usize,
    out: &mut [MaybeUninit<U>],
    kernel: impl Fn([&[T]; N], &mut [U]) + Sync,
) where
    T: Copy + Default + Send + Sync + 'static,
    U: Copy + Default + Send,
{
    let Extent { len, inner, .. } = extent;
    if out.is_empty() {
        return;
    }
    let (block_in, block_out) = (len * inner, out_len * inner);
    let together = WIDTH.min(inner);
    parallel_parts(out, (SORTED / block_in.max(1)).max(1) * block_out, |start, part| {
        let mut gathered: [Vec<T>; N] =
            from_fn(|_| interrupt::filled(if inner == 1 { 0 } else { len * together }, T::default()));
        let mut near = interrupt::filled(if inner > together { len * together } else { 0 }, T::default());
        let mut results = interrupt::filled(out_len * together, U::default());
        let mut steps = Steps::default();
        for (block, out) in part.chunks_exact_mut(block_out).enumerate() {
            let first = (start / block_out + block) * block_in;
            let blocks = inputs.map(|input| &input[first..first + block_in]);
            if inner == 1 {
                kernel(blocks, &mut results);
                out.write_copy_of_slice(&results);
                continue;
            }
            for column in (0..inner).step_by(together) {
                steps.take(len * together);
                let width = together.min(inner - column);
                for (gathered, block) in gathered.iter_mut().zip(blocks) {
                    let lines = if width == inner {
                        block
                    } else {
                        for (near, line) in near.chunks_exact_mut(width).zip(block.chunks_exact(inner)) {
                            near.copy_from_slice(&line[column..column + width]);
                        }
                        &near[..len * width]
                    };
                    moves::turn(lines, [len, width], &mut gathered[..len * width], moves::put);
                }
                for (lane, result) in results.chunks_exact_mut(out_len).take(width).enumerate() {
                    kernel(from_fn(|input| &gathered[input][lane * len..][..len]), result);
                }
                for (row, line) in out.chunks_exact_mut(inner).enumerate() {
                    for (lane, out) in line[column..column + width].iter_mut().enumerate() {
                        out.write(results[lane * out_len + row]);
                    }
                }
            }
        }
    });
}
