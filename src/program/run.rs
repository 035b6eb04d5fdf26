//! How a program is run: see Note [Programs].

use std::borrow::Cow;
use std::iter::repeat_n;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::frame::Frame;
use super::node::{Again, Recorded};
use super::plan::Home;
use super::snapshot::Snapshot;
use super::{Base, Form, Gradient, Instruction, Left, Number, Operand, Place, Program, Way, is_same};
use crate::dispatch::direct::{Source, Target};
use crate::dispatch::operand::Value;
use crate::dispatch::record::{gradient_edges, record};
use crate::dispatch::view;
use crate::error::{Error, Result};
use crate::graph::node::boxed;
use crate::graph::{self, At, Edge, Forms, Freeing, Gradients, Node, Rule, mode};
use crate::ops::creation::copy;
use crate::origin;
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

impl Program {
    /// Computes it of these known tensors, which are as they were when it was recorded. Answers what it gives. Where it
    /// fails, all is as it was before, and random numbers are where they were.
    ///
    /// Where that leads back, `host` is the host's program, for what is not recorded of backward.
    pub fn run(
        &self,
        known: &[Tensor],
        numbers: &[Number],
        host: Option<Arc<dyn Again>>,
    ) -> Result<Vec<Tensor>> {
        let _off = mode::GradModeGuard::off();
        let before = self.before(known)?;
        let mut done = 0;
        let outcome = self.run_in_a_row(known, numbers, 1, &mut done);
        if outcome.is_err() {
            before.restore()?;
        }
        let mut outputs = outcome?;
        let kept = outputs.split_off(self.shown);
        if let Some(back) = &self.back {
            let leaves = back.leaves.iter().flat_map(|&(leaf, edges)| repeat_n(&known[leaf], edges));
            let edges = gradient_edges(&leaves.collect::<SmallVec<[&Tensor; 8]>>())?;
            let leading: SmallVec<[Tensor; 2]> =
                back.leading.iter().map(|&index| outputs[index].clone()).collect();
            record(Recorded::new(back, known, &kept, before, host), edges, &leading)?;
        }
        Ok(outputs)
    }

    /// Computes a program that `is_seamless` so many times, or until it fails. Answers how often that was done, and what the
    /// last time gives; nothing if the first time fails. An error leaves some of it done.
    pub fn run_often(
        &self,
        known: &[Tensor],
        numbers: &[Number],
        count: usize,
    ) -> Result<Option<(usize, Vec<Tensor>)>> {
        let _off = mode::GradModeGuard::off();
        let mut done = 0;
        match self.run_in_a_row(known, numbers, count, &mut done) {
            Ok(outputs) => Ok(Some((done, outputs))),
            Err(_) if done == 0 => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether nobody can tell if it has left something behind between two runs: none reads it, and where a run fails, what
    /// the one before has made is still there.
    pub fn is_seamless(&self) -> bool {
        let is_own = |form: &usize| match &self.places[self.forms[*form].place] {
            Place::Known(_) | Place::Made => true,
            Place::Fixed { shared, .. } => *shared,
            Place::Gradient(_) | Place::Given(_) => false,
        };
        let gradients = self.gradients.iter().filter_map(|(_, gradient)| match gradient {
            Gradient::Is(left) => Some(left),
            Gradient::None => None,
        });
        let is_made_late = |left: &Left| {
            let place = self.forms[left.form].place;
            let makes = |instruction: &&Instruction| {
                instruction.outputs.iter().flatten().any(|&form| self.forms[form].place == place)
            };
            self.instructions.iter().find(makes).is_some_and(|instruction| instruction.at >= self.undone.end)
        };
        self.back.is_none()
            && self.moved.is_empty()
            && self.undone.places.is_empty()
            && !self.undone.draws()
            && self.given.iter().all(is_own)
            && self.outputs.iter().chain(gradients).all(is_made_late)
            && self.leaves_forms()
    }

    /// Computes it so many times, counts how often that is done, and leaves behind what the last time gives.
    fn run_in_a_row(
        &self,
        known: &[Tensor],
        numbers: &[Number],
        count: usize,
        done: &mut usize,
    ) -> Result<Vec<Tensor>> {
        let kept = self.frame.lock().take();
        let mut frame = kept.map_or_else(|| self.frame().map(Box::new), Ok)?;
        frame.take_numbers(numbers);
        self.bind(&mut frame, &|place| self.known_at(place, known))?;
        let mut versions: SmallVec<[u32; 16]> = SmallVec::new();
        for &(place, _) in &self.written {
            versions.push(self.known_at(place, known).map_or(0, |tensor| tensor.version()));
        }
        while *done < count {
            if let Err(error) = self.compute(&mut frame) {
                // Where nothing has been written yet, all is as the run before has left it.
                if *done > 0 && self.failed.load(Ordering::Relaxed) <= self.undone.end + 1 {
                    break;
                }
                return Err(error);
            }
            *done += 1;
            if *done < count {
                self.passing.iter().for_each(|&form| frame.tensors[form] = None);
            }
        }
        for (&(place, writes), version) in self.written.iter().zip(versions) {
            if let Some(tensor) = self.known_at(place, known)
                && tensor.is_counted()
            {
                tensor.set_version(version.wrapping_add(writes.wrapping_mul(*done as u32)));
            }
        }
        for (index, gradient) in &self.gradients {
            known[*index].replace_grad(match gradient {
                Gradient::None => None,
                Gradient::Is(left) => Some(self.hand_out(left, &frame)?),
            });
        }
        for (index, left) in &self.moved {
            known[*index].set_data(&self.hand_out(left, &frame)?)?;
        }
        let outputs = self.hand_all_out(&frame, known)?;
        for &form in &self.passing {
            frame.arrays[form] = None;
            frame.tensors[form] = None;
        }
        *self.frame.lock() = Some(frame);
        Ok(outputs)
    }

    /// What is undone where an operation fails; of a program that leads back all that it writes to and draws from, since
    /// backward may have to do the call again.
    fn before(&self, known: &[Tensor]) -> Result<Snapshot> {
        let is_undone = |place: usize| self.back.is_some() || self.undone.places.contains(&place);
        let places = self.written.iter().map(|(place, _)| *place).filter(|&place| is_undone(place));
        let draws = self.undone.draws() || self.back.as_ref().is_some_and(|back| back.draws);
        let tensors = places.filter_map(|place| self.known_at(place, known)).map(Cow::into_owned);
        Snapshot::of(tensors, draws)
    }

    /// All that a run gives, and keeps for backward.
    pub(super) fn hand_all_out(&self, frame: &Frame, known: &[Tensor]) -> Result<Vec<Tensor>> {
        let outputs = self.outputs.iter().map(|left| self.hand_out(left, frame));
        let mut outputs = outputs.collect::<Result<Vec<Tensor>>>()?;
        if self.bases.is_empty() {
            return Ok(outputs);
        }
        let bases = self.bases.iter().map(|base| match base {
            Base::Known(index) => Ok(known[*index].base().unwrap_or_else(|| known[*index].clone())),
            Base::Output(index) => Ok(outputs[*index].clone()),
            Base::Form(form) => self.hand_out(&Left::kept(*form), frame),
        });
        let bases = bases.collect::<Result<Vec<Tensor>>>()?;
        for (output, left) in outputs.iter_mut().zip(&self.outputs) {
            if let Some((base, creation)) = left.base {
                *output = view::as_created(&bases[base], output.memory(), creation);
            }
        }
        Ok(outputs)
    }

    /// The tensor that is in a place, of known tensors and their gradients.
    pub(super) fn known_at<'a>(&self, place: usize, known: &'a [Tensor]) -> Option<Cow<'a, Tensor>> {
        match self.places[place] {
            Place::Known(index) => Some(Cow::Borrowed(&known[index])),
            Place::Gradient(index) => known[index].grad().map(Cow::Owned),
            _ => None,
        }
    }

    /// Memory for a run, and what lies in it all the time.
    pub(super) fn frame(&self) -> Result<Frame> {
        let count = self.forms.len();
        let (arrays, tensors, numbers) = (vec![None; count], vec![None; count], SmallVec::new());
        let mut frame = Frame { arrays, tensors, files: self.empty_files()?, numbers };
        let rooms = self.rooms.iter().map(|&bytes| Storage::uninit(bytes)).collect::<Result<Vec<_>>>()?;
        for &(form, home) in &self.kept {
            frame.arrays[form] = Some(match home {
                Home::Room(room) => self.show(form, &rooms[room]),
                Home::Registers { file, first } => {
                    self.show_registers(form, frame.files[file].as_ref(), first)?
                }
            });
        }
        for &form in &self.given {
            if let Place::Fixed { numbers, shared: true } = &self.places[self.forms[form].place] {
                frame.arrays[form] = Some(self.show(form, &numbers.storage));
            }
        }
        Ok(frame)
    }

    /// Gives a frame what is there before the first operation, the tensors in known places as `find` has them.
    pub(super) fn bind<'a>(
        &self,
        frame: &mut Frame,
        find: &dyn Fn(usize) -> Option<Cow<'a, Tensor>>,
    ) -> Result<()> {
        let mut home: Option<(usize, Storage)> = None;
        for &index in &self.given {
            let place = self.forms[index].place;
            if let Some((_, storage)) = home.as_ref().filter(|(of, _)| *of == place) {
                frame.arrays[index] = Some(self.show(index, storage));
                continue;
            }
            let storage = match &self.places[place] {
                Place::Fixed { shared: true, .. } => continue,
                Place::Fixed { numbers, shared: false } => copy::whole(numbers)?.storage,
                _ => match find(place) {
                    Some(tensor) => tensor.read().array().storage.clone(),
                    None => return Err(diverged("a gradient")),
                },
            };
            frame.arrays[index] = Some(self.show(index, &storage));
            home = Some((place, storage));
        }
        Ok(())
    }

    /// A form of memory that is there.
    pub(super) fn show(&self, form: usize, storage: &Storage) -> Array {
        let form = &self.forms[form];
        Array { storage: storage.clone(), layout: form.layout.clone(), dtype: form.dtype }
    }

    /// Runs the operations, one after the other.
    pub(super) fn compute(&self, frame: &mut Frame) -> Result<()> {
        let mut left = &*self.instructions;
        while let Some(instruction) = left.first() {
            if instruction.together > 1 {
                let (group, rest) = left.split_at(instruction.together);
                if let Err(error) = self.in_tiles(group, frame) {
                    self.failed.store(instruction.at + instruction.together, Ordering::Relaxed);
                    return Err(error);
                }
                left = rest;
                continue;
            }
            let (chain, rest) = left.split_at(instruction.chained);
            left = rest;
            for &(form, home) in &instruction.shown {
                frame.arrays[form] = Some(self.show(form, &frame.array(home)?.storage));
            }
            let outcome = match (&instruction.in_registers, &instruction.way) {
                (Some(found), _) if frame.has_recorded_numbers() => {
                    self.compute_in_registers(instruction, found, frame)
                }
                (_, Some(_)) => self.directly(chain, frame),
                _ => self.step(instruction, frame),
            };
            if let Err(error) = outcome {
                self.failed.store(instruction.at + 1, Ordering::Relaxed);
                return Err(error);
            }
            // What is between the first and the last of a chain was never there.
            frame.drop_after(instruction);
            if let [_, .., last] = chain {
                frame.drop_after(last);
            }
        }
        Ok(())
    }

    /// Computes an operation, or a chain of them, into memory that is there.
    fn directly(&self, chain: &[Instruction], frame: &mut Frame) -> Result<()> {
        let Some(way) = chain.last().and_then(|last| last.way.as_ref()) else { return Ok(()) };
        self.make_room(way, frame)?;
        self.compute_chain(chain, frame, 0..way.count)
    }

    /// Memory for a result that somebody gets.
    pub(super) fn make_room(&self, way: &Way, frame: &mut Frame) -> Result<()> {
        // In a row of runs, nobody has got what was there before.
        if way.is_fresh && frame.arrays[way.result].is_none() {
            let Form { layout, dtype, .. } = &self.forms[way.result];
            let storage = Storage::uninit(layout.numel() * dtype.size())?;
            frame.arrays[way.result] = Some(Array { storage, layout: layout.clone(), dtype: *dtype });
        }
        Ok(())
    }

    /// Computes these elements of an operation's result.
    pub(super) fn compute_part(
        &self,
        instruction: &Instruction,
        way: &Way,
        frame: &Frame,
        elements: Range<usize>,
    ) -> Result<()> {
        let mut sources: SmallVec<[Source<'_>; 6]> = SmallVec::new();
        for (index, (operand, beside)) in instruction.operands.iter().zip(&way.beside).enumerate() {
            sources.push(match operand {
                Operand::Number(number) => Source::Number(frame.number(instruction, index, *number)),
                Operand::Form(form) => Source::Array(frame.array(*form)?, elements.start, *beside),
            });
        }
        let mut target =
            Target { array: frame.array(way.result)?, first: elements.start, count: elements.len() };
        let Some(turns) = &way.turns else { return way.direct.compute(&sources, target) };
        target.count = way.count / turns.count;
        for turn in 0..turns.count {
            for (source, step) in sources.iter_mut().zip(&turns.steps) {
                if let Source::Array(_, first, _) = source {
                    *first = turn * step;
                }
            }
            target.first = turn * target.count;
            way.direct.compute(&sources, target)?;
        }
        Ok(())
    }

    /// Computes an operation as it computes itself, of tensors.
    fn step(&self, instruction: &Instruction, frame: &mut Frame) -> Result<()> {
        let mut operands: SmallVec<[Value; 3]> = SmallVec::new();
        for (index, operand) in instruction.operands.iter().enumerate() {
            operands.push(match operand {
                Operand::Number(number) => Value::Scalar(frame.number(instruction, index, *number)),
                Operand::Form(form) => Value::Tensor(frame.tensor(*form)?),
            });
        }
        let outputs = (instruction.compute)(&operands)?;
        drop(operands);
        for (output, form) in outputs.into_iter().zip(&instruction.outputs) {
            let Some(form) = *form else { continue };
            let expected = &self.forms[form];
            let array = output.memory();
            if array.dtype != expected.dtype || !is_same(&array.layout, &expected.layout) {
                return Err(diverged(instruction.name));
            }
            frame.arrays[form] = Some(array);
            frame.tensors[form] = Some(output);
        }
        Ok(())
    }

    /// A tensor that is left behind, as the host's program would have left it.
    pub(super) fn hand_out(&self, left: &Left, frame: &Frame) -> Result<Tensor> {
        let array = match &frame.arrays[left.form] {
            Some(array) => array.clone(),
            None => {
                let place = self.forms[left.form].place;
                let mut arrays = frame.arrays.iter().zip(&self.forms);
                let home = arrays.find_map(|(array, form)| array.as_ref().filter(|_| form.place == place));
                let home = home.ok_or_else(|| diverged("what is left behind"))?;
                self.show(left.form, &home.storage)
            }
        };
        let version = left.version.as_ref().map(|version| version.load(Ordering::Relaxed));
        if let Some(version) = version
            && array.storage.is_counted()
            && array.storage.version() != version
        {
            array.storage.set_version(version);
        }
        Ok(match &left.spent {
            None => Tensor::from_array(array),
            Some(name) => {
                let form = graph::Form { layout: array.layout.clone(), dtype: array.dtype };
                let node = Node::record_boxed(boxed(Spent(name.clone())), SmallVec::new(), Forms::one(form));
                node.release(Freeing::by(origin::here()));
                Tensor::with_history(array, Some(Edge { node, output: 0 }))
            }
        })
    }
}

pub(super) fn diverged(node: &str) -> Box<Error> {
    Error::ProgramDiverged { node: node.to_owned() }.into()
}

/// The rule of a node that backward has been through: nothing of it is left but its name.
struct Spent(String);

impl Rule for Spent {
    fn name(&self) -> &str {
        &self.0
    }

    fn keeps(&self) -> bool {
        true
    }

    fn vjp(&self, at: &At<'_>, _gradients: &Gradients) -> Result<Gradients> {
        Err(at.node.freed())
    }

    fn jvp(&self, at: &At<'_>, _tangents: &[Option<Tensor>]) -> Result<Gradients> {
        Err(at.node.freed())
    }
}
