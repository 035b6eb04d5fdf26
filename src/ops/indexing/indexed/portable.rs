//! Indices as plain data: Note [Plain data].

use std::sync::Arc;

use super::{IndexPut, Indexed, Indices};
use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Plain, Reader, Row, plain};
use crate::error::Result;
use crate::ops::indexing::places::Places;
use crate::shape::Dims;
use crate::tensor::Tensor;

plain! {
    struct Indexed { indices }
    struct IndexPut { indices, accumulate, by_rule }
}

/// The indices themselves are operands: what is read has none yet, and points nowhere.
impl Plain for Indices {
    fn write(&self, to: &mut Vec<u8>) {
        let dims: Vec<usize> = self.given.iter().map(|(dim, _)| *dim).collect();
        (self.places.source(), dims).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Indices> {
        let (source, dims) = <(Dims, Vec<usize>)>::read(from)?;
        let given: Vec<(usize, Tensor)> =
            dims.into_iter().map(|dim| Ok((dim, Plain::read(from)?))).collect::<Result<_>>()?;
        Ok(Indices { places: Arc::new(Places::new(&source, &[])?), given: given.into() })
    }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<Indexed>("indexed"),
    portable::row::<IndexPut>("index put"),
    portable::row_of_write::<IndexPut>("index put in place"),
];
