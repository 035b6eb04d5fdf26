//! A program as bytes.

use super::{MAGIC, Source, VERSION, seal};
use crate::dispatch::modes::plain::Plain;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::creation::copy;
use crate::program::{Gradient, Number, Operand, Place, Program};
use crate::shape::SharedLayout;
use crate::tensor::{Array, Tensor};

/// What is written beside a program.
pub struct Written<'a> {
    /// Its known tensors.
    pub known: &'a [Tensor],
    /// How many of them, the first ones, it is called with.
    pub inputs: usize,
    /// What they are called.
    pub names: &'a [&'a str],
    /// What it answers.
    pub answer: &'a [Source],
    /// Numbers that are others now than those that were recorded.
    pub numbers: &'a [Number],
}

/// Why a program is not written.
fn refused<T>(node: &str, why: &'static str) -> Result<T> {
    Err(Error::NotPortable { node: node.to_owned(), why }.into())
}

/// All bytes that an array is part of.
pub(super) fn bytes(array: &Array) -> Result<Vec<u8>> {
    let whole = copy::whole(array)?;
    let layout = SharedLayout::contiguous(&[whole.storage.room()])?;
    let all = Array { storage: whole.storage, layout, dtype: DType::UInt8 };
    Ok(all.slice::<u8>().unwrap_or_default().to_vec())
}

impl Program {
    /// The first operation that cannot be written as plain data.
    pub fn unportable(&self) -> Option<(&'static str, crate::origin::Origin)> {
        let is_missing = |what: &Option<_>| what.as_ref().and_then(ops::portable::row_of).is_none();
        let found = self.instructions.iter().find(|instruction| is_missing(&instruction.what));
        found.map(|instruction| (instruction.name, instruction.origin))
    }

    /// It as bytes, with what it has.
    pub fn write(&self, written: &Written<'_>) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        self.write_body(written, &mut body)?;
        let mut all = MAGIC.to_vec();
        VERSION.write(&mut all);
        body.len().write(&mut all);
        all.extend_from_slice(&body);
        seal(&body).write(&mut all);
        Ok(all)
    }

    fn write_body(&self, written: &Written<'_>, to: &mut Vec<u8>) -> Result<()> {
        if self.back.is_some() {
            return refused("the function", "its result is to be differentiated: export the whole step");
        }
        if !self.bases.is_empty() {
            return refused("the function", "it returns a view of another tensor");
        }
        if !self.moved.is_empty() {
            return refused("the function", "it gives a tensor other memory");
        }
        let is_plain = |dtype: DType| DType::ALL.contains(&dtype);
        if !self.forms.iter().all(|form| is_plain(form.dtype)) || cfg!(target_endian = "big") {
            return refused("the function", "a tensor is read in a form that is not in memory");
        }
        self.write_known(written, to)?;
        self.places.len().write(to);
        for place in &self.places {
            match place {
                Place::Known(index) => (0u8, *index).write(to),
                Place::Gradient(index) => (1u8, *index).write(to),
                Place::Made => 2u8.write(to),
                Place::Fixed { numbers, shared } => {
                    (3u8, *shared).write(to);
                    bytes(numbers)?.write(to);
                }
                Place::Given(_) => return refused("the function", "it is part of another program"),
            }
        }
        self.forms.len().write(to);
        for form in &self.forms {
            form.place.write(to);
            form.layout.write(to);
            form.dtype.write(to);
        }
        self.write_instructions(written.numbers, to)?;
        let outputs: Vec<usize> = self.outputs.iter().map(|left| left.form).collect();
        outputs.write(to);
        self.gradients.len().write(to);
        for (index, gradient) in &self.gradients {
            index.write(to);
            match gradient {
                Gradient::None => None::<usize>.write(to),
                Gradient::Is(left) => Some(left.form).write(to),
            }
        }
        self.written.len().write(to);
        for (place, count) in &self.written {
            (*place, *count).write(to);
        }
        written.answer.len().write(to);
        for source in written.answer {
            match *source {
                Source::Known(index) => (0u8, index).write(to),
                Source::Gradient(index) => (1u8, index).write(to),
                Source::Made(index) => (2u8, index).write(to),
            }
        }
        Ok(())
    }

    fn write_known(&self, written: &Written<'_>, to: &mut Vec<u8>) -> Result<()> {
        written.inputs.write(to);
        self.known.len().write(to);
        for (index, known) in self.known.iter().enumerate() {
            if known.stands {
                return refused("the function", "an argument has a history");
            }
            if index >= written.inputs && known.first < written.inputs {
                return refused("the function", "an argument shares memory with a tensor that it sees");
            }
            let tensor = &written.known[index];
            (*written.names.get(index).unwrap_or(&"")).to_owned().write(to);
            known.layout.write(to);
            known.dtype.write(to);
            known.requires_grad.write(to);
            known.first.write(to);
            let owned = index >= written.inputs && known.first == index;
            owned.then(|| bytes(&tensor.memory())).transpose()?.write(to);
            known.gradient.is_some().write(to);
            if let Some((layout, dtype)) = &known.gradient {
                layout.write(to);
                dtype.write(to);
                let gradient = tensor.grad().map(|gradient| bytes(&gradient.memory())).transpose()?;
                gradient.write(to);
            }
        }
        Ok(())
    }

    fn write_instructions(&self, numbers: &[Number], to: &mut Vec<u8>) -> Result<()> {
        self.instructions.len().write(to);
        for instruction in &self.instructions {
            let own = instruction.what.as_ref();
            let Some((what, row)) = own.and_then(|what| Some((what, ops::portable::row_of(what)?))) else {
                return refused(instruction.name, "there is no form for it in files");
            };
            row.name.to_owned().write(to);
            let mut parameters = Vec::new();
            row.write(what, &mut parameters);
            parameters.write(to);
            instruction.operands.len().write(to);
            for (index, operand) in instruction.operands.iter().enumerate() {
                let is_other =
                    |number: &&Number| (number.instruction, number.operand) == (instruction.at, index);
                let other = numbers.iter().find(is_other).map(|other| Scalar::Float(other.value));
                match operand {
                    Operand::Form(form) => (0u8, *form).write(to),
                    Operand::Number(number) => (1u8, other.unwrap_or(*number)).write(to),
                }
            }
            instruction.outputs.write(to);
        }
        Ok(())
    }
}
