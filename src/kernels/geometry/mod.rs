//! Elements that are moved and not looked at.

mod by_row;
pub(crate) mod dense;
pub mod framed;
pub mod join;
pub mod moves;
pub mod picked;
pub mod rows;
pub mod strided;
