//! Who is shown operations before they compute: dispatch modes, dispatch subclasses, and the recorder.

pub mod intercept;
pub mod plain;
pub mod recording;
pub mod subclass;
