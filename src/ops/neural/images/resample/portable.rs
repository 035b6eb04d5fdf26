//! Maps along spatial dimensions as plain data: Note [Plain data].

use std::sync::Arc;

use super::{Axis, Resample, Taps};
use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, damaged};
use crate::error::Result;
use crate::ops::neural::images::{pad, upsample};
use crate::ops::neural::pooling::mean_pool;

/// Names of nodes that no entry has are found where they stand.
impl Plain for Resample {
    fn write(&self, to: &mut Vec<u8>) {
        let Resample { called, axes, transposed, keeps, takes_complex } = self;
        called.map(str::to_owned).write(to);
        axes.write(to);
        [*transposed, *keeps, *takes_complex].write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Resample> {
        let names = <[String; 3]>::read(from)?;
        let mut all = mean_pool::all_called().chain(upsample::all_called()).chain(pad::all_called());
        let called = all.find(|called| *called == names.each_ref().map(String::as_str));
        let called = called.ok_or_else(|| damaged("a name is unknown"))?;
        let (axes, [transposed, keeps, takes_complex]) = <(Arc<[Axis]>, [bool; 3])>::read(from)?;
        Ok(Resample { called, axes, transposed, keeps, takes_complex })
    }
}

impl Plain for Axis {
    fn write(&self, to: &mut Vec<u8>) {
        (self.behind, self.size).write(to);
        self.taps.each().map(<[_]>::to_vec).collect::<Vec<_>>().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Axis> {
        let (behind, size) = <(usize, usize)>::read(from)?;
        let inputs = Vec::<Vec<(usize, f64)>>::read(from)?;
        if inputs.iter().flatten().any(|&(input, _)| input >= size) {
            return Err(damaged("an element is outside of its dimension"));
        }
        let taps = Taps::new(inputs.len(), |output| inputs[output].iter().copied())?;
        Ok(Axis { behind, size, taps })
    }
}

/// How these are written as plain data.
pub(crate) const ROWS: &[Row] = &[portable::row::<Resample>("resample")];
