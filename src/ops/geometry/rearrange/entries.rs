//! The entries of rearrangements.

use super::*;

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "fliplr",
        &["(Tensor input)"],
        "Flips the tensor left to right: reverses the second dimension.",
        |a| flipped(a, 1),
    ),
    both("flipud", &["(Tensor input)"], "Flips the tensor upside down: reverses the first dimension.", |a| {
        flipped(a, 0)
    }),
    both(
        "flip",
        &["(Tensor input, int[] dims)"],
        "Reverses the order of the elements along the given dimensions.",
        |a| flip(a.tensor(0)?, &a.ints(1)?).reply(),
    )
    .operators(&[("FlipBackward0", "flip")]),
    both(
        "roll",
        &["(Tensor input, int[1] shifts, int[1] dims=())"],
        "Shifts the elements along dimensions; those that leave at the end come in again at the start.",
        |a| roll(a.tensor(0)?, &a.ints(1)?, &a.ints(2)?).reply(),
    )
    .operators(&[("RollBackward0", "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor")]),
    method(
        "repeat",
        &["(Tensor input, int[] repeats)"],
        "Repeats the tensor the given number of times along each dimension.",
        |a| repeat(a.tensor(0)?, &a.ints(1)?).reply(),
    )
    .operators(&[("RepeatBackward0", "repeat")]),
    both(
        "tile",
        &["(Tensor input, int[] dims)"],
        "Repeats the tensor the given number of times along each dimension, counted from the last.",
        |a| tile(a.tensor(0)?, &a.ints(1)?).reply(),
    ),
    method("repeat_interleave", REPEATS, REPEATED, repeat_interleave_call),
    function(
        "repeat_interleave",
        &[
            "(Tensor repeats, *, SymInt? output_size=None)",
            "(Tensor input, Tensor repeats, int? dim=None, *, SymInt? output_size=None)",
            "(Tensor input, SymInt repeats, int? dim=None, *, SymInt? output_size=None)",
        ],
        REPEATED,
        |a| match a.overload() {
            0 => {
                let y = repeated_numbers(a.tensor(0)?)?;
                match a.optional_int(1)? {
                    Some(wanted) if wanted != y.numel() as i64 => Err(Error::RepeatsSize {}.into()),
                    _ => Ok(y.into()),
                }
            }
            overload => repeated_call(a, overload - 1),
        },
    ),
];

fn flipped(a: &dyn Arguments, dim: usize) -> Result<Reply> {
    let x = a.tensor(0)?;
    if x.ndim() <= dim {
        return Err(Error::FlipRank { least: dim + 1 }.into());
    }
    flip(x, &[dim as i64]).reply()
}

fn repeat_interleave_call(arguments: &dyn Arguments) -> Result<Reply> {
    repeated_call(arguments, arguments.overload())
}

/// `repeat_interleave` as often as a vector says, or a number.
fn repeated_call(arguments: &dyn Arguments, overload: usize) -> Result<Reply> {
    let (x, dim, wanted) = (arguments.tensor(0)?, arguments.optional_int(2)?, arguments.optional_int(3)?);
    let y = match overload {
        0 => repeat_interleave_each(x, arguments.tensor(1)?, dim),
        _ => repeat_interleave(x, arguments.int(1)?, dim),
    }?;
    let layout = y.layout();
    let got = dim.map_or(y.numel() as i64, |dim| {
        let place = if dim < 0 { dim + y.ndim() as i64 } else { dim };
        layout.shape().get(place as usize).map_or(1, |&size| size as i64)
    });
    match wanted {
        Some(wanted) if wanted != got && overload == 0 => Err(Error::RepeatsSize {}.into()),
        Some(wanted) if wanted != got => Err(Error::RepeatsOutput { expected: got, got: wanted }.into()),
        _ => Ok(y.into()),
    }
}
