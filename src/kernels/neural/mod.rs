//! Numbers of layers: rows that are normalised, windows of images, taps of interpolation, attention, gates of recurrent
//! cells, losses of classes, of margins and of labels along a sequence, images at points, and steps of optimisers.

pub mod alignment;
pub mod attention;
pub mod classes;
pub mod convolution;
pub mod descent;
pub mod gates;
pub mod grid;
pub mod labelling;
pub mod margins;
pub mod normalise;
pub mod softmax;
pub mod taps;
pub mod windows;
