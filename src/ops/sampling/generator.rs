//! Handles to sources of random numbers, and the one that serves whoever names none. What is drawn
//! from them stands in `random`.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use parking_lot::{Mutex, MutexGuard};
use smallvec::{SmallVec, smallvec};

use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Value;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::kernels::random as kernels;
use crate::tensor::{Array, Tensor};

/// A source of random numbers. Clones are the same source.
#[derive(Clone)]
pub struct Generator(Arc<Mutex<kernels::Generator>>);

static DEFAULT: LazyLock<Generator> = LazyLock::new(Generator::new);

impl Default for Generator {
    fn default() -> Self {
        Generator::new()
    }
}

impl Generator {
    /// A source with the seed that all start with.
    pub fn new() -> Self {
        let generator = kernels::Generator::new(kernels::Generator::DEFAULT_SEED);
        Generator(Arc::new(Mutex::new(generator)))
    }

    /// The source that serves the whole process.
    pub fn process_wide() -> &'static Generator {
        &DEFAULT
    }

    /// Starts again from a seed.
    pub fn manual_seed(&self, seed: u64) {
        *self.lock() = kernels::Generator::new(seed);
    }

    /// Starts again from a seed that nobody knows; answers it.
    pub fn seed(&self) -> u64 {
        // The keys of a hash map are as random as the operating system can make them. Every bit is
        // kept when the seed is written as a floating-point number.
        let seed = RandomState::new().hash_one(std::process::id()) & ((1 << 53) - 1);
        self.manual_seed(seed);
        seed
    }

    /// The seed that the source was last started with.
    pub fn initial_seed(&self) -> u64 {
        self.lock().seed()
    }

    /// Where the source stands, as bytes.
    pub fn state(&self) -> Result<Tensor> {
        if !recording::is_on() {
            return self.state_now();
        }
        let own = self.clone();
        let compute = move |_: &[Value]| Ok(smallvec![own.state_now()?]);
        let none = SmallVec::new();
        let mut found = intercept::several("get_rng_state", Attributes::new(), &[], none, 1, compute)?;
        found.pop().map_or_else(|| self.state_now(), Ok)
    }

    fn state_now(&self) -> Result<Tensor> {
        let bytes = self.lock().state_bytes();
        Tensor::from_slice(&[bytes.len()], &bytes)
    }

    /// Continues from where `state` was taken.
    pub fn set_state(&self, state: &Tensor) -> Result<()> {
        let own = self.clone();
        recording::checked("set_rng_state", &[state], move |state| own.go_on_from(state[0]))
    }

    fn go_on_from(&self, state: &Tensor) -> Result<()> {
        let bytes: Array = state.array();
        if bytes.dtype != DType::UInt8 {
            return Err(Error::GeneratorStateDType {}.into());
        }
        let (expected, got) = (kernels::Generator::STATE_BYTES, bytes.layout.numel());
        if got != expected {
            return Err(Error::GeneratorStateSize { expected, got }.into());
        }
        let restored = kernels::Generator::from_state_bytes(&state.to_vec::<u8>()?);
        *self.lock() = restored.ok_or(Error::GeneratorState {})?;
        Ok(())
    }

    /// A source of its own that goes on as this one does.
    pub fn fork(&self) -> Generator {
        Generator(Arc::new(Mutex::new(self.lock().clone())))
    }

    /// Draws in order: nobody else draws while the guard lives.
    pub(crate) fn lock(&self) -> MutexGuard<'_, kernels::Generator> {
        self.0.lock()
    }
}

/// The source given, or the one that serves the whole process.
pub(crate) fn given(generator: Option<&Generator>) -> &Generator {
    generator.unwrap_or_else(|| Generator::process_wide())
}
