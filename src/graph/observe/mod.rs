//! What is noted of a graph for those who look at it: where nodes and writes were made, where history stopped, what ran
//! when, and what holds what.

pub mod anomaly;
pub mod census;
pub mod detach_site;
pub mod profile;
pub mod spread;
pub mod writes;
