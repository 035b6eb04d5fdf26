//! How a program is run: see Note [Programs].

use std::ops::Range;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{Form, Gradient, Instruction, Left, Operand, Place, Program, Way, is_same};
use crate::dispatch::direct::{Source, Target};
use crate::dispatch::operand::Value;
use crate::error::{Error, Result};
use crate::graph::node::boxed;
use crate::graph::{self, At, Edge, Forms, Freeing, Gradients, Node, Rule, mode};
use crate::ops::creation::copy;
use crate::origin;
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

/// What operations of a run are given and give, by form.
pub(super) struct Frame {
    pub(super) arrays: Vec<Option<Array>>,
    /// Those that are wanted as tensors.
    tensors: Vec<Option<Tensor>>,
}

impl Frame {
    /// The array of a form that is there.
    pub(super) fn array(&self, form: usize) -> &Array {
        self.arrays[form].as_ref().unwrap_or_else(|| unreachable!("what is read is made before"))
    }

    /// Drops what nobody reads after an instruction.
    pub(super) fn drop_after(&mut self, instruction: &Instruction) {
        for &form in &instruction.dropped {
            self.arrays[form] = None;
            self.tensors[form] = None;
        }
    }

    /// The same as a tensor.
    fn tensor(&mut self, form: usize) -> Tensor {
        match &self.tensors[form] {
            Some(tensor) => tensor.clone(),
            None => {
                let tensor = Tensor::from_array(self.array(form).clone());
                self.tensors[form] = Some(tensor.clone());
                tensor
            }
        }
    }
}

impl Program {
    /// Computes it of these known tensors, which are as they were when it was recorded. Answers what it gives.
    pub fn run(&self, known: &[Tensor]) -> Result<Vec<Tensor>> {
        let _off = mode::GradModeGuard::off();
        let before = self.frame.lock().take();
        let mut frame = before.map_or_else(|| self.frame().map(Box::new), Ok)?;
        self.bind(&mut frame, &|place| self.known_at(place, known))?;
        let mut versions: SmallVec<[u32; 16]> = SmallVec::new();
        for &(place, count) in &self.written {
            let version = self.known_at(place, known).map_or(0, |tensor| tensor.version());
            versions.push(version.wrapping_add(count));
        }
        self.compute(&mut frame)?;
        for (&(place, _), version) in self.written.iter().zip(versions) {
            if let Some(tensor) = self.known_at(place, known)
                && tensor.is_counted()
            {
                tensor.set_version(version);
            }
        }
        for (index, gradient) in &self.gradients {
            known[*index].replace_grad(match gradient {
                Gradient::None => None,
                Gradient::Is(left) => Some(self.hand_out(left, &frame)),
            });
        }
        let outputs = self.outputs.iter().map(|left| self.hand_out(left, &frame)).collect();
        for &form in &self.passing {
            frame.arrays[form] = None;
            frame.tensors[form] = None;
        }
        *self.frame.lock() = Some(frame);
        Ok(outputs)
    }

    /// The tensor that is in a place, of known tensors and their gradients.
    pub(super) fn known_at(&self, place: usize, known: &[Tensor]) -> Option<Tensor> {
        match self.places[place] {
            Place::Known(index) => Some(known[index].clone()),
            Place::Gradient(index) => known[index].grad(),
            _ => None,
        }
    }

    /// Memory for a run, and what lies in it all the time.
    pub(super) fn frame(&self) -> Result<Frame> {
        let count = self.forms.len();
        let mut frame = Frame { arrays: vec![None; count], tensors: vec![None; count] };
        let rooms = self.rooms.iter().map(|&bytes| Storage::uninit(bytes)).collect::<Result<Vec<_>>>()?;
        for &(form, room) in &self.kept {
            frame.arrays[form] = Some(self.show(form, &rooms[room]));
        }
        for &form in &self.given {
            if let Place::Fixed { numbers, shared: true } = &self.places[self.forms[form].place] {
                frame.arrays[form] = Some(self.show(form, &numbers.storage));
            }
        }
        Ok(frame)
    }

    /// Gives a frame what is there before the first operation, the tensors in known places as `find` has them.
    pub(super) fn bind(&self, frame: &mut Frame, find: &dyn Fn(usize) -> Option<Tensor>) -> Result<()> {
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
                self.in_tiles(group, frame)?;
                left = rest;
                continue;
            }
            left = &left[1..];
            for &(form, home) in &instruction.shown {
                frame.arrays[form] = Some(self.show(form, &frame.array(home).storage));
            }
            match &instruction.way {
                Some(way) => self.directly(instruction, way, frame)?,
                None => self.step(instruction, frame)?,
            }
            frame.drop_after(instruction);
        }
        Ok(())
    }

    /// Computes an operation into memory that is there.
    fn directly(&self, instruction: &Instruction, way: &Way, frame: &mut Frame) -> Result<()> {
        self.make_room(way, frame)?;
        let (sources, target) = self.bound(instruction, way, frame, 0..way.count);
        way.direct.compute(&sources, target)
    }

    /// Memory for a result that somebody gets.
    pub(super) fn make_room(&self, way: &Way, frame: &mut Frame) -> Result<()> {
        if way.is_fresh {
            let Form { layout, dtype, .. } = &self.forms[way.result];
            let storage = Storage::uninit(layout.numel() * dtype.size())?;
            frame.arrays[way.result] = Some(Array { storage, layout: layout.clone(), dtype: *dtype });
        }
        Ok(())
    }

    /// What an operation is computed of, and where it is written to: these elements.
    pub(super) fn bound<'a>(
        &'a self,
        instruction: &Instruction,
        way: &Way,
        frame: &'a Frame,
        elements: Range<usize>,
    ) -> (SmallVec<[Source<'a>; 6]>, Target<'a>) {
        let sources: SmallVec<[Source<'_>; 6]> = instruction
            .operands
            .iter()
            .zip(&way.beside)
            .map(|(operand, beside)| match operand {
                Operand::Number(number) => Source::Number(*number),
                Operand::Form(form) => Source::Array(frame.array(*form), elements.start, *beside),
            })
            .collect();
        let target = Target { array: frame.array(way.result), first: elements.start, count: elements.len() };
        (sources, target)
    }

    /// Computes an operation as it computes itself, of tensors.
    fn step(&self, instruction: &Instruction, frame: &mut Frame) -> Result<()> {
        let mut operands: SmallVec<[Value; 3]> = SmallVec::new();
        for operand in &instruction.operands {
            operands.push(match operand {
                Operand::Number(number) => Value::Scalar(*number),
                Operand::Form(form) => Value::Tensor(frame.tensor(*form)),
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
    pub(super) fn hand_out(&self, left: &Left, frame: &Frame) -> Tensor {
        let array = match &frame.arrays[left.form] {
            Some(array) => array.clone(),
            None => {
                let place = self.forms[left.form].place;
                let mut arrays = frame.arrays.iter().zip(&self.forms);
                let home = arrays.find_map(|(array, form)| array.as_ref().filter(|_| form.place == place));
                let Some(home) = home else { unreachable!("what is left behind stays until then") };
                self.show(left.form, &home.storage)
            }
        };
        let version = left.version.load(Ordering::Relaxed);
        if array.storage.is_counted() && array.storage.version() != version {
            array.storage.set_version(version);
        }
        match &left.spent {
            None => Tensor::from_array(array),
            Some(name) => {
                let form = graph::Form { layout: array.layout.clone(), dtype: array.dtype };
                let node = Node::record_boxed(boxed(Spent(name.clone())), SmallVec::new(), Forms::one(form));
                node.release(Freeing::by(origin::here()));
                Tensor::with_history(array, Some(Edge { node, output: 0 }))
            }
        }
    }
}

fn diverged(node: &str) -> Box<Error> {
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
