//! Whether arrays show the same memory.

use std::cmp::Ordering;

use super::Array;
use crate::error::{Error, Result};

impl Array {
    /// What is written shows none of the bytes that are read meanwhile.
    pub(super) fn check_unread<'a>(&self, reads: impl IntoIterator<Item = &'a Array>) {
        assert!(reads.into_iter().all(|read| !self.overlaps(read)), "what is written is not read meanwhile");
    }

    /// Whether a write to `self` may change what `other` shows, other than element by element.
    pub fn overlaps(&self, other: &Array) -> bool {
        let extent = |array: &Array| (array.layout.end() - array.layout.offset()) * array.dtype.size();
        let (own, others) = (self.address().addr(), other.address().addr());
        match own.cmp(&others) {
            Ordering::Less => others - own < extent(self),
            Ordering::Greater => own - others < extent(other),
            Ordering::Equal => extent(self) > 0 && extent(other) > 0,
        }
    }

    /// Whether this may be written to by what reads `source` in another order: not if the two show the
    /// same memory, each without gaps.
    pub fn check_apart(&self, source: &Array) -> Result<()> {
        let dense = |array: &Array| {
            let layout = &array.layout;
            layout.is_non_overlapping() && layout.end() - layout.offset() == layout.numel()
        };
        let elements = self.layout.numel() > 0 && source.layout.numel() > 0;
        match elements && self.overlaps(source) && dense(self) && dense(source) {
            true => Err(Error::OverlapRead {}.into()),
            false => Ok(()),
        }
    }

    /// Whether this may be written to while `source` is read: not if the two show the same memory, each
    /// without gaps, but not element for element.
    pub fn check_read(&self, source: &Array) -> Result<()> {
        let dense = |array: &Array| {
            let layout = &array.layout;
            layout.is_non_overlapping() && layout.end() - layout.offset() == layout.numel()
        };
        let same = self.layout.offset() == source.layout.offset()
            && self.layout.numel() == source.layout.numel()
            && self.layout.strides() == source.layout.strides();
        let partly = !same && self.overlaps(source) && dense(self) && dense(source);
        if partly && self.layout.numel() > 0 && source.layout.numel() > 0 {
            return Err(Error::OverlapRead {}.into());
        }
        Ok(())
    }
}
