//! The tensor: handle, views and printing.

pub mod print;
