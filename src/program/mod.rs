//! What a thread once computed, as a list of operations that is computed again without whoever asked for it:
//! no host, no graph, no layers. `record` begins and ends it, `maker` makes it of what was written down (Note
//! [Recording]), `run` computes it, `compare` holds it against what the host's own program does. Where somebody
//! differentiates what it gives, `backward` has programs for that, and `node` runs them (Note [Turns of backward]).
//!
//! Note [Programs]
//! ----
//! A program is about memory. Places of memory are the tensors that it is called with (*known*: arguments and
//! what the host's program holds), their gradients, numbers that never change, and what operations make. A
//! tensor is a *form* of a place: an order and a type of elements. So views are no operations, nor is whatever
//! else gives memory another name. Each operation is what it was: the same code computes it of other operands,
//! in the same order, so that the bits are the same.
//!
//! Where an operation can be computed into memory that is there (`dispatch::direct`), and nobody gets the result, that is
//! memory which the program keeps from one run to the next: each result has a place in it for as long as it is read
//! (`plan`). Of known tensors nothing is kept. What has few elements lies there side by side, in `registers`: operations on
//! that need no arrays.
//!
//! A number that an operation was given is a constant, unless whoever runs the program gives another one (`Number`): so
//! learning rates change without a new recording.
//!
//! Whoever runs a program has made sure that all is as it was: forms and types, which memory is shared, and
//! everything that the host's program looked at.

mod backward;
mod chains;
mod compare;
mod constants;
mod copies;
mod frame;
mod known;
mod maker;
mod node;
mod order;
mod plan;
pub mod portable;
mod record;
mod registers;
mod run;
mod snapshot;
mod tiles;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use parking_lot::Mutex;

use smallvec::SmallVec;

use crate::dispatch::direct::{Beside, Direct, Link, Links, Turns};
use crate::dispatch::modes::intercept::Compute;
use crate::dispatch::modes::plain::What;
use crate::dtype::{DType, Scalar};
use crate::origin::Origin;
use crate::shape::SharedLayout;
use crate::tensor::{Array, Creation};

use backward::Back;
pub use compare::Apart;
use known::Known;
pub use node::Again;
use plan::Home;
pub use record::{Begun, Refusal};
use registers::InRegisters;

/// A place of memory.
enum Place {
    /// The memory of a known tensor.
    Known(usize),
    /// That of the gradient of a known tensor.
    Gradient(usize),
    /// Numbers that never change. Where they are written to, or handed out, each run has its own.
    Fixed { numbers: Array, shared: bool },
    /// What an operation makes.
    Made,
    /// A gradient that a turn of backward is given; there is none in a program.
    Given(usize),
}

/// A place as a tensor shows it.
struct Form {
    place: usize,
    layout: SharedLayout,
    dtype: DType,
}

/// What an operation is given.
enum Operand {
    Form(usize),
    Number(Scalar),
}

/// How an operation is computed into memory that is there: see Note [Programs].
struct Way {
    direct: Arc<dyn Direct>,
    /// How each operand goes with the result.
    beside: SmallVec<[Beside; 3]>,
    /// The form of the result, or of what is overwritten.
    result: usize,
    /// How many elements it has.
    count: usize,
    /// Whether a part of them can be computed.
    in_parts: bool,
    /// Whether somebody gets it, so that it is in memory of its own each time.
    is_fresh: bool,
    /// How it is computed a part after the other, where that takes it.
    turns: Option<Turns>,
}

/// A number that an operation is given in the place of the one that was recorded.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Which operation.
    pub instruction: usize,
    /// Which of its operands.
    pub operand: usize,
    /// The number.
    pub value: f64,
}

/// One operation.
struct Instruction {
    /// Which one.
    at: usize,
    name: &'static str,
    compute: Compute,
    /// What can compute it into memory that is there.
    direct: Option<Arc<dyn Direct>>,
    /// It as a value of its own type, if it can be written as plain data.
    what: Option<What>,
    /// Where it was called.
    origin: Origin,
    /// Whether it succeeds whatever numbers it is given.
    is_sure: bool,
    way: Option<Way>,
    /// How many instructions, from this one on, are computed together, a part of their elements at a time.
    together: usize,
    /// How many, from this one on, are one chain.
    chained: usize,
    /// What it does in a chain, if it may be in one.
    link: Option<Link>,
    /// What the chain that it begins does.
    links: Option<Links>,
    /// How it is computed of few elements.
    in_registers: Option<InRegisters>,
    operands: SmallVec<[Operand; 3]>,
    /// The forms of what it gives; none of what nobody reads.
    outputs: SmallVec<[Option<usize>; 1]>,
    /// Forms that are made of others of the same place before it, and those others.
    shown: SmallVec<[(usize, usize); 1]>,
    /// Forms that nobody reads after it.
    last: SmallVec<[usize; 2]>,
    /// Those of them that are not there all the time.
    dropped: SmallVec<[usize; 2]>,
}

impl Instruction {
    /// Of what is computed of operands, before anything is planned.
    fn new(
        name: &'static str,
        (compute, direct, what): (Compute, Option<Arc<dyn Direct>>, Option<What>),
        (origin, is_sure): (Origin, bool),
        operands: SmallVec<[Operand; 3]>,
        outputs: SmallVec<[Option<usize>; 1]>,
    ) -> Instruction {
        let (shown, last, dropped) = Default::default();
        let (at, way, together, chained, link, links, in_registers) = (0, None, 1, 1, None, None, None);
        Instruction {
            at,
            name,
            compute,
            direct,
            what,
            origin,
            is_sure,
            way,
            together,
            chained,
            link,
            links,
            in_registers,
            operands,
            outputs,
            shown,
            last,
            dropped,
        }
    }

    /// The forms that it reads.
    fn reads(&self) -> impl Iterator<Item = usize> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Form(form) => Some(*form),
            Operand::Number(_) => None,
        })
    }
}

/// A tensor that a run leaves behind.
struct Left {
    form: usize,
    /// How often its memory was written to. Where operations are shown there may be fewer writes: this is what
    /// the host's program was seen to have done without being watched. None of what nobody sees.
    version: Option<AtomicU32>,
    /// The name of the node that made it, of a graph that backward has been through.
    spent: Option<String>,
    /// Whether it leads back.
    leads: bool,
    /// What it is a view of, and how that came about.
    base: Option<(usize, Creation)>,
}

impl Left {
    /// What nobody sees but another program.
    fn kept(form: usize) -> Left {
        Left { form, version: None, spent: None, leads: false, base: None }
    }

    /// Says how often its memory was written to.
    fn count(&self, version: u32) {
        if let Some(own) = &self.version {
            own.store(version, Ordering::Relaxed);
        }
    }
}

/// What views are of that a run leaves behind.
enum Base {
    /// A known tensor, or what that is a view of.
    Known(usize),
    /// Another output.
    Output(usize),
    /// Something that is not left behind by itself.
    Form(usize),
}

/// What becomes of the gradient of a known tensor.
enum Gradient {
    /// There is none.
    None,
    /// It is this.
    Is(Left),
}

/// What was there before and is as it was again when an operation has failed.
struct Undone {
    places: HashSet<usize>,
    /// The last operation that may fail.
    end: usize,
    /// Whether random numbers may be drawn before that, as far as is known.
    draws: AtomicBool,
}

impl Undone {
    fn draws(&self) -> bool {
        self.draws.load(Ordering::Relaxed)
    }

    /// Says whether random numbers are drawn at all.
    fn drew(&self, any: bool) {
        self.draws.fetch_and(any, Ordering::Relaxed);
    }
}

/// A recorded program.
pub struct Program {
    places: Vec<Place>,
    forms: Vec<Form>,
    instructions: Vec<Instruction>,
    /// What it gives; those after the shown ones are kept for backward.
    outputs: Vec<Left>,
    shown: usize,
    bases: Vec<Base>,
    /// Known tensors whose gradients change places.
    gradients: Vec<(usize, Gradient)>,
    /// Known tensors that are given other memory, and which.
    moved: Vec<(usize, Left)>,
    /// Places of known tensors and of gradients that are written to, and how many writes are counted there.
    written: Vec<(usize, u32)>,
    undone: Undone,
    /// Forms that are there before the first operation.
    given: Vec<usize>,
    /// What a known tensor has to look like.
    known: Vec<Known>,
    /// Memory that is there all the time: in bytes, and as registers of each type.
    rooms: Vec<usize>,
    files: [usize; registers::FILES.len()],
    /// The forms that lie in it, and where.
    kept: Vec<(usize, Home)>,
    /// Forms that come into being in every run.
    passing: Vec<usize>,
    /// What backward does from its outputs.
    back: Option<Arc<Back>>,
    /// What one run leaves to the next.
    frame: Mutex<Option<Box<frame::Frame>>>,
    /// The operation at which a run failed last, counted from one.
    failed: AtomicUsize,
}

/// Whether two layouts are equal.
fn is_same(a: &SharedLayout, b: &SharedLayout) -> bool {
    a.is(b) || **a == **b
}

impl Program {
    /// torch's name of the operation at which a run failed last, and where that was called.
    pub fn failure(&self) -> Option<(&'static str, Origin)> {
        let at = self.failed.load(Ordering::Relaxed).checked_sub(1)?;
        self.instructions.get(at).map(|instruction| (instruction.name, instruction.origin))
    }

    /// How many operations it has.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// The numbers that the step of a known tensor is given, if that is all that writes to it: what stays of earlier steps,
    /// and how far it goes.
    pub fn numbers_of(&self, known: usize) -> Option<[Number; 2]> {
        let is_it = |operand: &Operand| match operand {
            Operand::Form(form) => {
                matches!(self.places[self.forms[*form].place], Place::Known(index) if index == known)
            }
            Operand::Number(_) => false,
        };
        let mut writes = self
            .instructions
            .iter()
            .filter(|instruction| instruction.outputs.is_empty() && instruction.operands.iter().any(is_it));
        match (writes.next(), writes.next()) {
            (Some(step), None) if step.name == "step" => match &*step.operands {
                [first, .., Operand::Number(inertia), Operand::Number(rate)] if is_it(first) => {
                    let number = |operand: usize, value: &Scalar| Number {
                        instruction: step.at,
                        operand: step.operands.len() - operand,
                        value: value.to_f64(),
                    };
                    Some([number(2, inertia), number(1, rate)])
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The numbers that say how far steps of optimisers go.
    fn rates(&self) -> Vec<Number> {
        let steps = self.instructions.iter().filter(|instruction| instruction.name == "step");
        let rate = |step: &Instruction| match step.operands.last() {
            Some(Operand::Number(value)) => {
                Some(Number { instruction: step.at, operand: step.operands.len() - 1, value: value.to_f64() })
            }
            _ => None,
        };
        steps.filter_map(rate).collect()
    }

    /// Whether a known tensor is written to.
    pub fn writes_to(&self, known: usize) -> bool {
        self.written
            .iter()
            .any(|(place, _)| matches!(self.places[*place], Place::Known(index) if index == known))
    }

    /// Whether what it gives is recorded for backward.
    pub fn leads_back(&self) -> bool {
        self.back.is_some()
    }

    /// Whether it computes nothing.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// torch's names of its operations' nodes, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.instructions.iter().map(|instruction| instruction.name)
    }

    /// The name of each operation, the number of those that it is computed together with, and whether it is computed
    /// into memory that is kept.
    pub fn groups(&self) -> Vec<(&'static str, usize, bool)> {
        let (mut number, mut left) = (0, 0);
        let group = |instruction: &Instruction| {
            if left == 0 {
                number += 1;
                left = instruction.together;
            }
            left -= 1;
            let is_kept = instruction.way.as_ref().is_some_and(|way| !way.is_fresh);
            (instruction.name, number, is_kept)
        };
        self.instructions.iter().map(group).collect()
    }

    /// Bytes of memory that are kept from one run to the next.
    pub fn kept_bytes(&self) -> usize {
        let registers =
            self.files.iter().zip(registers::FILES).map(|(count, dtype)| count.saturating_mul(dtype.size()));
        registers.chain(self.rooms.iter().copied()).fold(0, usize::saturating_add)
    }

    /// Bytes of memory that operations make, all together, and the most of them that are there at a time.
    pub fn bytes(&self) -> (usize, usize) {
        let (mut all, mut now, mut most) = (0, 0, 0);
        let mut sizes = vec![0; self.places.len()];
        let size = |form: usize| self.forms[form].layout.numel() * self.forms[form].dtype.size();
        for instruction in &self.instructions {
            for &form in instruction.outputs.iter().flatten() {
                sizes[self.forms[form].place] = size(form);
                all += size(form);
                now += size(form);
            }
            most = most.max(now);
            for &form in &instruction.last {
                now -= std::mem::take(&mut sizes[self.forms[form].place]);
            }
        }
        (all, most)
    }
}
