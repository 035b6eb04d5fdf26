//! Programs as plain data: written by whoever recorded them, and run elsewhere, without the host that they come from.
//! `write` makes bytes of a program and of the tensors that it has, `read` makes both of bytes again.
//!
//! Note [Programs in files]
//! ----
//! A file is a word that says what it is, the number of its form, how many bytes follow, these, and a number that is made
//! of them. They are the program's places, forms and operations (Note [Plain data]), and what its known tensors hold
//! besides those that it is called with: parameters, buffers, what optimisers remember, gradients.
//!
//! Whoever reads a file trusts nobody. Each number is looked at where it is read: places and forms are there, forms lie
//! inside of their places, what is read was made before, and no more memory is asked for than was allowed. What that
//! cannot find out, parameters that no operation would have, fails where the operation is computed: as an error of a run,
//! also where it would be a failure of the engine itself.

mod quiet;
mod read;
mod write;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Number, Program};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;
use quiet::Quiet;

pub use write::Written;

/// What stands at the beginning of a file.
const MAGIC: &[u8; 8] = b"rushprog";
/// The form of files that are written here.
const VERSION: u32 = 1;
/// So many bytes of memory may a program take, if nothing else is said.
const MOST_BYTES: u64 = 1 << 32;

/// Where a tensor of an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A known tensor.
    Known(usize),
    /// The gradient of a known tensor.
    Gradient(usize),
    /// What the program gives, by number.
    Made(usize),
}

/// A number that holds together the bytes that it is made of: what is damaged by accident has another one.
fn seal(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |seal: u64, &byte| {
        (seal ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A program that was read from a file, with all that it works on.
///
/// ```no_run
/// use rushlight::program::portable::Session;
/// # fn main() -> rushlight::Result<()> {
/// let bytes = std::fs::read("step.rushprog").expect("the file is there");
/// let mut step = Session::load(&bytes)?;
/// for _ in 0..100 {
///     let loss = step.run(&[])?.remove(0);
///     println!("{}", loss.item()?.to_f64());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Session {
    program: Program,
    /// Known tensors: what it is called with, then its own.
    known: Vec<Tensor>,
    names: Vec<String>,
    inputs: usize,
    answer: Vec<Source>,
    rates: Vec<Number>,
}

impl Session {
    /// The program that these bytes are.
    pub fn load(bytes: &[u8]) -> Result<Session> {
        Session::load_within(bytes, MOST_BYTES)
    }

    /// `load` of what takes at most so many bytes of memory.
    pub fn load_within(bytes: &[u8], most: u64) -> Result<Session> {
        guarded("what is read", || read::session(bytes, most))
    }

    /// What it is called with: names, shapes and types.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, Vec<usize>, DType)> {
        let known = self.names.iter().zip(&self.known).take(self.inputs);
        known.map(|(name, tensor)| (name.as_str(), tensor.layout().shape().to_vec(), tensor.dtype()))
    }

    /// The tensors that it has: parameters, buffers, what optimisers remember.
    pub fn state(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.names.iter().map(String::as_str).zip(&self.known).skip(self.inputs)
    }

    /// Runs it. Where that fails, all is as it was before, unless it was the engine that failed.
    pub fn run(&mut self, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
        let refuse = |what: String| Err(Error::ProgramArguments { what }.into());
        if inputs.len() != self.inputs {
            return refuse(format!("{} of them, not {}", self.inputs, inputs.len()));
        }
        for (index, input) in inputs.iter().enumerate() {
            if !self.program.fits(index, input) {
                let (shape, dtype) = (self.known[index].layout().shape().to_vec(), self.known[index].dtype());
                return refuse(format!("{} is of shape {shape:?} and type {dtype:?}", self.names[index]));
            }
        }
        let mut known = self.known.clone();
        known[..inputs.len()].clone_from_slice(inputs);
        if !self.program.shares_alike(&known) {
            return refuse("no two that share memory".to_owned());
        }
        let made = guarded("a program", || self.program.run(&known, &self.rates, None))?;
        let gradient = |index: usize| known[index].grad();
        let answer = self.answer.iter().map(|source| match *source {
            Source::Known(index) => known.get(index).cloned(),
            Source::Gradient(index) => gradient(index),
            Source::Made(index) => made.get(index).cloned(),
        });
        answer.collect::<Option<Vec<Tensor>>>().ok_or_else(|| diverged("what it answers"))
    }

    /// Has steps of optimisers go as far as this from now on.
    pub fn set_rate(&mut self, rate: f64) {
        self.rates.iter_mut().for_each(|number| number.value = rate);
    }

    /// The bytes of the program, and of what it has now.
    pub fn save(&self) -> Result<Vec<u8>> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let (known, answer, numbers) = (&*self.known, &*self.answer, &*self.rates);
        let written = Written { known, inputs: self.inputs, names: &names, answer, numbers };
        self.program.write(&written)
    }
}

/// What comes of something that a file had a say in, which may have said anything.
fn guarded<T>(what: &str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    let _quiet = Quiet::begin();
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(diverged(what)))
}

fn diverged(what: &str) -> Box<Error> {
    Error::ProgramDiverged { node: what.to_owned() }.into()
}
