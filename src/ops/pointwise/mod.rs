//! Functions of elements: the result of each depends on those at its place alone.

pub mod arithmetic;
pub mod blend;
pub mod clamp;
pub mod compare;
pub mod division;
pub mod exp_log;
pub mod extremes;
pub mod gamma;
pub mod hyperbolic;
pub mod incomplete;
pub mod integer;
pub mod logical;
pub mod mathematics;
pub mod numbers;
pub mod pairs;
pub mod power;
pub mod representation;
pub mod rounding;
pub mod select;
pub mod special;
pub mod trigonometry;
