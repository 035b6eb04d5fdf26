//! Elements less their mean and over their deviation, and the gradients of that, in passes over what stays in the
//! nearest memory: `rows` where every element of a row has a weight of its own, `runs` where those that follow one
//! another share theirs, `columns` where those do that are a row apart.

mod columns;
mod rows;
mod runs;
mod short;

pub use columns::{Columns, columns, columns_backward, columns_moments};
pub use rows::{Rows, rows, rows_backward};
pub use runs::{Runs, runs, runs_backward, runs_moments};

use std::mem::MaybeUninit;

/// The places of gradients, those that are wanted: of the elements, the weight and the bias.
pub type Places<'a, T> = [Option<&'a mut [MaybeUninit<T>]>; 3];
