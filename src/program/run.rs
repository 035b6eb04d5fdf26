//! How a program is run: see Note [Programs].

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{Gradient, Instruction, Left, Operand, Place, Program, is_same};
use crate::dispatch::operand::Value;
use crate::error::{Error, Result};
use crate::graph::node::boxed;
use crate::graph::{At, Edge, Form, Forms, Freeing, Gradients, Node, Rule, mode};
use crate::ops::creation::copy;
use crate::origin;
use crate::tensor::{Array, Tensor};

/// The tensors of a run, by form.
pub(super) type Tensors = Vec<Option<Tensor>>;

impl Program {
    /// Computes it of these known tensors, which are as they were when it was recorded. Answers what it gives.
    pub fn run(&self, known: &[Tensor]) -> Result<Vec<Tensor>> {
        let _off = mode::GradModeGuard::off();
        let mut tensors = self.given(&|place| match self.places[place] {
            Place::Known(index) => Some(known[index].clone()),
            Place::Gradient(index) => known[index].grad(),
            _ => None,
        })?;
        let versions: SmallVec<[(Tensor, u32); 8]> = self
            .written
            .iter()
            .filter_map(|&(place, count)| {
                let tensor = match self.places[place] {
                    Place::Known(index) => known[index].clone(),
                    Place::Gradient(index) => known[index].grad()?,
                    _ => return None,
                };
                let version = tensor.version().wrapping_add(count);
                Some((tensor, version))
            })
            .collect();
        self.compute(&mut tensors)?;
        for (tensor, version) in versions {
            if tensor.is_counted() {
                tensor.set_version(version);
            }
        }
        for (index, gradient) in &self.gradients {
            known[*index].replace_grad(match gradient {
                Gradient::None => None,
                Gradient::Is(left) => Some(self.hand_out(left, &tensors)),
            });
        }
        Ok(self.outputs.iter().map(|left| self.hand_out(left, &tensors)).collect())
    }

    /// The tensors that are there before the first operation, those of known places as `find` has them.
    pub(super) fn given(&self, find: &dyn Fn(usize) -> Option<Tensor>) -> Result<Tensors> {
        let mut tensors: Tensors = vec![None; self.forms.len()];
        let mut homes: SmallVec<[Option<Array>; 16]> = SmallVec::from_elem(None, self.places.len());
        for &index in &self.given {
            let form = &self.forms[index];
            if homes[form.place].is_none() {
                let (tensor, home) = match &self.places[form.place] {
                    Place::Fixed { numbers, shared: true } => (None, numbers.clone()),
                    Place::Fixed { numbers, shared: false } => (None, copy::whole(numbers)?),
                    _ => {
                        let tensor = find(form.place).ok_or_else(|| diverged("a gradient"))?;
                        let array = tensor.memory();
                        (Some(tensor), array)
                    }
                };
                let is_own = *home.layout == *form.layout && home.dtype == form.dtype;
                homes[form.place] = Some(home);
                if is_own && tensor.is_some() {
                    tensors[index] = tensor;
                    continue;
                }
            }
            if let Some(home) = &homes[form.place] {
                tensors[index] = Some(self.show(index, home));
            }
        }
        Ok(tensors)
    }

    /// A form of memory that is there.
    fn show(&self, form: usize, home: &Array) -> Tensor {
        let form = &self.forms[form];
        Tensor::from_array(Array {
            storage: home.storage.clone(),
            layout: form.layout.clone(),
            dtype: form.dtype,
        })
    }

    /// Runs the operations, one after the other.
    pub(super) fn compute(&self, tensors: &mut Tensors) -> Result<()> {
        self.instructions.iter().try_for_each(|instruction| self.step(instruction, tensors))
    }

    fn step(&self, instruction: &Instruction, tensors: &mut Tensors) -> Result<()> {
        for &(form, home) in &instruction.shown {
            if let Some(home) = &tensors[home] {
                let home = home.memory();
                tensors[form] = Some(self.show(form, &home));
            }
        }
        let mut operands: SmallVec<[Value; 3]> = SmallVec::new();
        for operand in &instruction.operands {
            operands.push(match operand {
                Operand::Number(number) => Value::Scalar(*number),
                Operand::Form(form) => match &tensors[*form] {
                    Some(tensor) => Value::Tensor(tensor.clone()),
                    None => unreachable!("what is read is made before"),
                },
            });
        }
        let outputs = (instruction.compute)(&operands)?;
        drop(operands);
        for (output, form) in outputs.into_iter().zip(&instruction.outputs) {
            let Some(form) = *form else { continue };
            let expected = &self.forms[form];
            let fits = {
                let reading = output.read();
                reading.array().dtype == expected.dtype && is_same(&reading.array().layout, &expected.layout)
            };
            if !fits {
                return Err(diverged(instruction.name));
            }
            tensors[form] = Some(output);
        }
        for &form in &instruction.last {
            tensors[form] = None;
        }
        Ok(())
    }

    /// A tensor that is left behind, as the host's program would have left it.
    pub(super) fn hand_out(&self, left: &Left, tensors: &Tensors) -> Tensor {
        let array = match &tensors[left.form] {
            Some(tensor) => tensor.memory(),
            None => {
                let place = self.forms[left.form].place;
                let of_place = |(form, tensor): (usize, &Option<Tensor>)| {
                    tensor.as_ref().filter(|_| self.forms[form].place == place).map(Tensor::memory)
                };
                let home = tensors.iter().enumerate().find_map(of_place);
                let Some(home) = home else { unreachable!("what is left behind stays until then") };
                self.show(left.form, &home).memory()
            }
        };
        let version = left.version.load(Ordering::Relaxed);
        if array.storage.is_counted() && array.storage.version() != version {
            array.storage.set_version(version);
        }
        match &left.spent {
            None => Tensor::from_array(array),
            Some(name) => {
                let form = Form { layout: array.layout.clone(), dtype: array.dtype };
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
