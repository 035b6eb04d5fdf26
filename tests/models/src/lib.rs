//! The rooms of the engine in which threads meet, compiled from its own sources, with other threads beneath.

#[macro_use]
#[path = "../../../src"]
#[expect(dead_code, reason = "other rooms use it")]
mod engine {
    #[macro_use]
    pub mod dtype;
    pub mod error;
    pub mod origin;
    pub mod shape;
    pub mod sharing;
    pub mod storage;

    pub mod engine {
        pub mod schedule;
    }

    pub mod graph {
        pub mod arena;
    }

    pub mod kernels {
        #[path = "../../tests/models/src/interrupt.rs"]
        pub mod interrupt;
        pub mod parallel;
    }
}

pub mod threads;

pub use engine::engine::schedule;
pub use engine::{dtype, error, graph, kernels, origin, shape, sharing, storage};

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sharing::{Home, Spare};

/// Runs a model in many orders, of which the scheduler chooses half at random, and half with few changes from one
/// thread to another at places that it chooses. `RUSHLIGHT_ORDERS` says how many.
pub fn explore(model: impl Fn() + Send + Sync + 'static) {
    let told = std::env::var("RUSHLIGHT_ORDERS").ok().and_then(|told| told.parse().ok());
    let orders: usize = told.unwrap_or(1000);
    // Models of one process share what the engine keeps for the process: they run one after the other.
    static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let model = Arc::new(model);
    let again = model.clone();
    shuttle::check_random(move || model(), orders / 2);
    shuttle::check_pct(move || again(), orders / 2, 3);
}

/// Runs each of these on a thread of its own, and waits for all.
pub fn together(threads: Vec<Box<dyn FnOnce() + Send>>) {
    let started: Vec<_> = threads.into_iter().map(shuttle::thread::spawn).collect();
    for thread in started {
        thread.join().unwrap();
    }
}

/// A value that counts how often it went.
pub struct Told(pub Arc<AtomicUsize>);

impl Home for Told {
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new(2);
        &SPARE
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
