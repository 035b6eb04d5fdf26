//! A program made of bytes: what is looked at, see Note [Programs in files].

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::{MAGIC, Session, Source, VERSION, seal};
use crate::dispatch::modes::plain::{Plain, Reader, Ready, Row, damaged};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::mode::GradModeGuard;
use crate::ops;
use crate::origin;
use crate::program::maker::Maker;
use crate::program::{Form, Gradient, Instruction, Known, Left, Operand, Place, Program};
use crate::shape::{Layout, SharedLayout};
use crate::storage::Storage;
use crate::tensor::{Array, Tensor};

/// The session that bytes are.
pub(super) fn session(bytes: &[u8], most: u64) -> Result<Session> {
    let mut from = Reader::new(bytes);
    if from.bytes(MAGIC.len())? != MAGIC {
        return Err(damaged("it begins otherwise"));
    }
    let version = u32::read(&mut from)?;
    if version != VERSION {
        return Err(Error::ProgramFileVersion { found: u64::from(version) }.into());
    }
    let count = from.count()?;
    let body = from.bytes(count)?;
    if u64::read(&mut from)? != seal(body) || !from.is_at_the_end() {
        return Err(damaged("its bytes are not those that were written"));
    }
    let _off = GradModeGuard::off();
    Body {
        from: Reader::new(body),
        rows: ops::portable::rows().map(|row| (row.name, row)).collect(),
        left: most,
        most,
    }
    .session()
}

struct Body<'a> {
    from: Reader<'a>,
    rows: HashMap<&'static str, &'static Row>,
    /// How many bytes of memory may still be taken.
    left: u64,
    most: u64,
}

/// What is written to: the instruction that does, and the place.
type Targets = Vec<(usize, usize)>;

/// What is known of a known tensor, with itself.
struct Own {
    tensor: Tensor,
    known: Known,
    name: String,
}

impl Body<'_> {
    /// Says that so many bytes are taken.
    fn takes(&mut self, bytes: usize) -> Result<()> {
        match self.left.checked_sub(bytes as u64) {
            Some(left) => self.left = left,
            None => return Err(Error::ProgramTooLarge { bytes: bytes as u64, most: self.most }.into()),
        }
        Ok(())
    }

    /// How many bytes a layout reaches over.
    fn reach(layout: &Layout, dtype: DType) -> Result<usize> {
        let end = if layout.numel() == 0 { 0 } else { layout.end() };
        end.checked_mul(dtype.size()).ok_or_else(|| damaged("a tensor is too large to be counted"))
    }

    /// Memory that holds these bytes.
    fn memory(&mut self, bytes: &[u8]) -> Result<Storage> {
        self.takes(bytes.len())?;
        Array::from_slice(&[bytes.len()], bytes).map(|array| array.storage)
    }

    /// The elements that lie so in memory.
    fn array(storage: &Storage, layout: &SharedLayout, dtype: DType) -> Result<Array> {
        if Self::reach(layout, dtype)? > storage.room() {
            return Err(damaged("a tensor reaches out of its memory"));
        }
        Ok(Array { storage: storage.clone(), layout: layout.clone(), dtype })
    }

    fn session(mut self) -> Result<Session> {
        let (inputs, own) = self.known()?;
        let places = self.places(&own)?;
        let forms = self.forms(&places, &own)?;
        let (instructions, targets) = self.instructions(&places, &forms)?;
        let outputs = Vec::<usize>::read(&mut self.from)?;
        let gradients = Vec::<(usize, Option<usize>)>::read(&mut self.from)?;
        let written = Vec::<(usize, u32)>::read(&mut self.from)?;
        let answer = Vec::<(u8, usize)>::read(&mut self.from)?;
        let named = outputs.iter().copied().chain(gradients.iter().filter_map(|(_, form)| *form));
        let is_made: HashSet<usize> = instructions
            .iter()
            .flat_map(|instruction: &Instruction| instruction.outputs.iter().flatten())
            .map(|&form| forms[form].place)
            .collect();
        for form in named {
            let place = forms.get(form).ok_or_else(|| damaged("a form is not there"))?.place;
            if !is_made.contains(&place) && matches!(places[place], Place::Made) {
                return Err(damaged("what is left behind was not made"));
            }
        }
        if gradients.iter().any(|(index, _)| *index >= own.len())
            || written.iter().any(|(place, _)| *place >= places.len())
            || !self.from.is_at_the_end()
        {
            return Err(damaged("what is left behind is not there"));
        }
        let answer = answer.into_iter().map(|(kind, index)| match kind {
            0 if index < own.len() => Ok(Source::Known(index)),
            1 if index < own.len() => Ok(Source::Gradient(index)),
            2 if index < outputs.len() => Ok(Source::Made(index)),
            _ => Err(damaged("what is answered is not there")),
        });
        let answer = answer.collect::<Result<Vec<Source>>>()?;
        let gradients: Vec<(usize, Gradient)> = gradients
            .into_iter()
            .map(|(index, form)| (index, form.map_or(Gradient::None, |form| Gradient::Is(Left::kept(form)))))
            .collect();
        let mut stays: HashSet<usize> = outputs.iter().copied().collect();
        stays.extend(gradients.iter().filter_map(|(_, gradient)| match gradient {
            Gradient::Is(left) => Some(left.form),
            Gradient::None => None,
        }));
        let maker = Maker::of(places, forms, instructions, targets);
        let program = maker.planned(&stays);
        self.takes(program.kept_bytes())?;
        let mut known = Vec::new();
        let (mut tensors, mut names) = (Vec::new(), Vec::new());
        for own in own {
            known.push(own.known);
            tensors.push(own.tensor);
            names.push(own.name);
        }
        let shown = outputs.len();
        let outputs = outputs.into_iter().map(Left::kept).collect();
        let program = Program { outputs, shown, gradients, written, known, ..program };
        let rates = program.rates();
        Ok(Session { program, known: tensors, names, inputs, answer, rates })
    }

    /// Known tensors, and how many of them it is called with.
    fn known(&mut self) -> Result<(usize, Vec<Own>)> {
        let inputs = usize::read(&mut self.from)?;
        let count = self.from.count()?;
        if inputs > count {
            return Err(damaged("it is called with more tensors than it knows"));
        }
        let mut all: Vec<Own> = Vec::with_capacity(count);
        for index in 0..count {
            let name = String::read(&mut self.from)?;
            let (layout, dtype) = (SharedLayout::read(&mut self.from)?, DType::read(&mut self.from)?);
            let (requires_grad, first) = (bool::read(&mut self.from)?, usize::read(&mut self.from)?);
            let numbers = Option::<Vec<u8>>::read(&mut self.from)?;
            let storage = match (numbers, all.get(first)) {
                (Some(numbers), _) if first == index && index >= inputs => self.memory(&numbers)?,
                // What it is called with is another tensor in each run; this one shows what it looks like.
                (None, _) if first == index && index < inputs => {
                    let bytes = Self::reach(&layout, dtype)?;
                    self.takes(bytes)?;
                    Storage::zeroed(bytes)?
                }
                (None, Some(shown)) if (first < inputs) == (index < inputs) && shown.known.first == first => {
                    shown.tensor.memory().storage.clone()
                }
                _ => return Err(damaged("a tensor has no memory")),
            };
            let tensor = Tensor::from_array(Self::array(&storage, &layout, dtype)?);
            if requires_grad {
                tensor.set_requires_grad(true)?;
            }
            let gradient = match bool::read(&mut self.from)? {
                true => Some(self.gradient(&tensor)?),
                false => None,
            };
            let known = Known { layout, dtype, requires_grad, stands: false, gradient, first };
            all.push(Own { tensor, known, name });
        }
        Ok((inputs, all))
    }

    /// The gradient of a tensor.
    fn gradient(&mut self, tensor: &Tensor) -> Result<(SharedLayout, DType)> {
        let (layout, dtype) = (SharedLayout::read(&mut self.from)?, DType::read(&mut self.from)?);
        let numbers = Option::<Vec<u8>>::read(&mut self.from)?;
        let numbers = numbers.ok_or_else(|| damaged("a gradient is not there"))?;
        let storage = self.memory(&numbers)?;
        let is_like = layout.shape() == tensor.layout().shape() && dtype == tensor.dtype();
        if !is_like {
            return Err(damaged("a gradient is of another form"));
        }
        tensor.replace_grad(Some(Tensor::from_array(Self::array(&storage, &layout, dtype)?)));
        Ok((layout, dtype))
    }

    fn places(&mut self, own: &[Own]) -> Result<Vec<Place>> {
        let count = self.from.count()?;
        (0..count)
            .map(|_| {
                Ok(match u8::read(&mut self.from)? {
                    0 => match usize::read(&mut self.from)? {
                        index if own.get(index).is_some_and(|own| own.known.first == index) => {
                            Place::Known(index)
                        }
                        _ => return Err(damaged("a known tensor is not there")),
                    },
                    1 => match usize::read(&mut self.from)? {
                        index if own.get(index).is_some_and(|own| own.known.gradient.is_some()) => {
                            Place::Gradient(index)
                        }
                        _ => return Err(damaged("a gradient is not there")),
                    },
                    2 => Place::Made,
                    3 => {
                        let shared = bool::read(&mut self.from)?;
                        let bytes = Vec::<u8>::read(&mut self.from)?;
                        let storage = self.memory(&bytes)?;
                        let layout = SharedLayout::contiguous(&[bytes.len()])?;
                        Place::Fixed { numbers: Array { storage, layout, dtype: DType::UInt8 }, shared }
                    }
                    _ => return Err(damaged("a place is of no kind")),
                })
            })
            .collect()
    }

    fn forms(&mut self, places: &[Place], own: &[Own]) -> Result<Vec<Form>> {
        // Known tensors that share memory reach as far as any of them.
        let mut reaches = vec![0; own.len()];
        for known in own.iter().map(|own| &own.known) {
            reaches[known.first] = reaches[known.first].max(Self::reach(&known.layout, known.dtype)?);
        }
        let count = self.from.count()?;
        let mut forms = Vec::with_capacity(count);
        for _ in 0..count {
            let place = usize::read(&mut self.from)?;
            let (layout, dtype) = (SharedLayout::read(&mut self.from)?, DType::read(&mut self.from)?);
            let reach = Self::reach(&layout, dtype)?;
            let room = match places.get(place) {
                None => return Err(damaged("a place is not there")),
                Some(Place::Known(index)) => reaches[*index],
                Some(Place::Gradient(index)) => match &own[*index].known.gradient {
                    Some((layout, dtype)) => Self::reach(layout, *dtype)?,
                    None => 0,
                },
                Some(Place::Fixed { numbers, .. }) => numbers.storage.room(),
                // It is held against the form in which it is made.
                Some(Place::Made | Place::Given(_)) => usize::MAX,
            };
            if reach > room {
                return Err(damaged("a form reaches out of its place"));
            }
            forms.push(Form { place, layout, dtype });
        }
        Ok(forms)
    }

    fn instructions(&mut self, places: &[Place], forms: &[Form]) -> Result<(Vec<Instruction>, Targets)> {
        let count = self.from.count()?;
        let (mut all, mut targets) = (Vec::with_capacity(count), Vec::new());
        // How far each place reaches that was made so far.
        let mut made: HashMap<usize, usize> = HashMap::new();
        for at in 0..count {
            let name = String::read(&mut self.from)?;
            let Some(row) = self.rows.get(name.as_str()).copied() else {
                return Err(Error::ProgramFileOperation { name }.into());
            };
            let parameters = Vec::<u8>::read(&mut self.from)?;
            let mut from = Reader::new(&parameters);
            let Ready { what, compute, direct, targets: written, is_sure } = row.read(&mut from)?;
            if !from.is_at_the_end() {
                return Err(damaged("an operation has other parameters"));
            }
            let operands = self.operands(places, forms, &made)?;
            let outputs = SmallVec::<[Option<usize>; 1]>::read(&mut self.from)?;
            for &form in outputs.iter().flatten() {
                let shown = forms.get(form).ok_or_else(|| damaged("a form is not there"))?;
                let reach = Self::reach(&shown.layout, shown.dtype)?;
                self.takes(reach)?;
                if !matches!(places[shown.place], Place::Made) || made.insert(shown.place, reach).is_some() {
                    return Err(damaged("something is made twice"));
                }
            }
            for operand in operands.iter().take(written) {
                match operand {
                    Operand::Form(form) => targets.push((at, forms[*form].place)),
                    Operand::Number(_) => return Err(damaged("a number is written to")),
                }
            }
            let computing = (compute, direct, Some(what));
            let own = Instruction::new(row.name, computing, (origin::here(), is_sure), operands, outputs);
            all.push(Instruction { at, ..own });
        }
        let is_inside = |form: &Form| match (&places[form.place], made.get(&form.place)) {
            (Place::Made, Some(&room)) => {
                Self::reach(&form.layout, form.dtype).is_ok_and(|reach| reach <= room)
            }
            (Place::Made, None) => false,
            _ => true,
        };
        if !forms.iter().all(is_inside) {
            return Err(damaged("a form reaches out of its place"));
        }
        Ok((all, targets))
    }

    /// The operands of an operation, which are there before it.
    fn operands(
        &mut self,
        places: &[Place],
        forms: &[Form],
        made: &HashMap<usize, usize>,
    ) -> Result<SmallVec<[Operand; 3]>> {
        let count = self.from.count()?;
        (0..count)
            .map(|_| match u8::read(&mut self.from)? {
                0 => {
                    let form = usize::read(&mut self.from)?;
                    let place = forms.get(form).ok_or_else(|| damaged("a form is not there"))?.place;
                    match matches!(places[place], Place::Made) && !made.contains_key(&place) {
                        true => Err(damaged("something is read before it is made")),
                        false => Ok(Operand::Form(form)),
                    }
                }
                1 => Scalar::read(&mut self.from).map(Operand::Number),
                _ => Err(damaged("an operand is of no kind")),
            })
            .collect()
    }
}
