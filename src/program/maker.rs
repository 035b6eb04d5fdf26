//! How a program is made of what was written down.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::backward::{Backward, Carved};
use super::plan::{self, Plan};
use super::record::{Before, Refusal, is_spent};
use super::{Base, Form, Gradient, Instruction, Known, Left, Operand, Place, Program, Undone};
use crate::dispatch::modes::recording::{Computed, Event, Given, Seen};
use crate::dtype::DType;
use crate::graph::Edge;
use crate::graph::observe::spread::SpreadMap;
use crate::shape::SharedLayout;
use crate::tensor::Tensor;

/// Memory that was seen.
#[derive(Default)]
struct Memory {
    /// Which place it is.
    place: Option<usize>,
    /// Whether it came into being meanwhile.
    is_born: bool,
    /// How many writes to it are yet to be counted.
    expected: usize,
}

#[derive(Default)]
pub(super) struct Maker {
    pub(super) places: Vec<Place>,
    pub(super) forms: Vec<Form>,
    pub(super) instructions: Vec<Instruction>,
    /// The forms of each place that begin at the same element.
    alike: SpreadMap<(usize, usize), SmallVec<[usize; 2]>>,
    /// What is known of memory.
    at: SpreadMap<usize, Memory>,
    /// Places that operations write to, and which of them do.
    pub(super) targets: Vec<(usize, usize)>,
    /// Where turns of backward begin, and the places of the gradients that they are given.
    pub(super) turns: Vec<(usize, Vec<Option<usize>>)>,
    /// Views are of these.
    bases: Vec<(Tensor, Base)>,
    /// The first known tensor on the memory of each.
    firsts: Vec<usize>,
}

impl Maker {
    /// One that has all that there is.
    pub(super) fn of(
        places: Vec<Place>,
        forms: Vec<Form>,
        instructions: Vec<Instruction>,
        targets: Vec<(usize, usize)>,
    ) -> Maker {
        let mut alike: SpreadMap<_, SmallVec<[usize; 2]>> = SpreadMap::default();
        for (index, form) in forms.iter().enumerate() {
            alike.entry((form.place, form.layout.offset())).or_default().push(index);
        }
        Maker { places, forms, instructions, targets, alike, ..Maker::default() }
    }

    fn place(&mut self, memory: usize, place: Place) -> usize {
        self.places.push(place);
        self.at.entry(memory).or_default().place = Some(self.places.len() - 1);
        self.places.len() - 1
    }

    /// Which place memory is.
    fn place_at(&self, memory: usize) -> Option<usize> {
        self.at.get(&memory)?.place
    }

    pub(super) fn know(&mut self, before: &[Before]) {
        for (index, tensor) in before.iter().enumerate() {
            let memory = tensor.seen.place.memory;
            let first = match self.place_at(memory).map(|place| &self.places[place]) {
                Some(Place::Known(first)) => *first,
                _ => {
                    self.place(memory, Place::Known(index));
                    index
                }
            };
            self.firsts.push(first);
        }
        for (index, tensor) in before.iter().enumerate() {
            if let Some((_, seen, _)) = &tensor.gradient
                && self.place_at(seen.place.memory).is_none()
            {
                self.place(seen.place.memory, Place::Gradient(index));
            }
        }
    }

    pub(super) fn take(&mut self, event: Event) -> Result<(), Refusal> {
        match event {
            Event::Born(memory) => {
                self.at.insert(memory, Memory { is_born: true, ..Memory::default() });
            }
            Event::Fixed(place, numbers) => {
                self.place(place.memory, Place::Fixed { numbers, shared: true });
            }
            Event::Wrote(place) => {
                match self.at.get_mut(&place.memory) {
                    Some(memory) if memory.expected > 0 => memory.expected -= 1,
                    // What nobody has read yet may be written to by whoever made it.
                    Some(Memory { place: None, is_born: true, .. }) => {}
                    _ => return Err(Refusal::Written),
                }
            }
            Event::Computed(computed) => self.compute(*computed)?,
            Event::Backward(given) => {
                let given = given
                    .into_iter()
                    .enumerate()
                    .map(|(index, place)| place.map(|place| self.place(place.memory, Place::Given(index))));
                let given = given.collect();
                self.turns.push((self.instructions.len(), given));
            }
        }
        Ok(())
    }

    /// The form in which something was seen.
    pub(super) fn form(&mut self, seen: &Seen) -> Option<usize> {
        let place = self.place_at(seen.place.memory)?;
        Some(self.form_of(place, &seen.layout, seen.dtype))
    }

    pub(super) fn form_of(&mut self, place: usize, layout: &SharedLayout, dtype: DType) -> usize {
        let alike = self.alike.entry((place, layout.offset())).or_default();
        let is_it = |form: &Form| form.dtype == dtype && **layout == *form.layout;
        if let Some(&found) = alike.iter().rev().find(|&&index| is_it(&self.forms[index])) {
            return found;
        }
        alike.push(self.forms.len());
        self.forms.push(Form { place, layout: layout.clone(), dtype });
        self.forms.len() - 1
    }

    fn compute(&mut self, computed: Computed) -> Result<(), Refusal> {
        let Computed { name, compute, direct, what, origin, targets, is_sure, operands, outputs } = computed;
        let mut given = SmallVec::new();
        for operand in &operands {
            given.push(match operand {
                Given::Number(number) => Operand::Number(*number),
                Given::Tensor(seen) => {
                    Operand::Form(self.form(seen).ok_or(Refusal::Unknown { name, origin })?)
                }
            });
        }
        for target in &operands[..targets] {
            let Given::Tensor(target) = target else { continue };
            let memory = self.at.entry(target.place.memory).or_default();
            memory.expected += 1;
            self.targets.extend(memory.place.map(|place| (self.instructions.len(), place)));
        }
        let is_there = |maker: &Maker, output: &Seen| maker.place_at(output.place.memory).is_some();
        if !outputs.is_empty() && outputs.iter().all(|output| is_there(self, output)) {
            // Views of what is there.
            return Ok(());
        }
        let mut made = SmallVec::new();
        for output in &outputs {
            made.push(match is_there(self, output) {
                true => None,
                false => {
                    let place = self.place(output.place.memory, Place::Made);
                    Some(self.form_of(place, &output.layout, output.dtype))
                }
            });
        }
        let computing = (compute, direct, what);
        let instruction = Instruction::new(name, computing, (origin, is_sure), given, made);
        self.instructions.push(instruction);
        Ok(())
    }

    /// A tensor that is left behind.
    fn left(&mut self, tensor: &Tensor, outputs: &[Tensor], leads: bool) -> Result<Left, Refusal> {
        let spent = match tensor.edge() {
            Ok(Some(_)) if leads => None,
            Ok(Some(Edge { node, .. })) if is_spent(&node) => Some(node.name()),
            Ok(None) if !tensor.requires_grad() => None,
            _ => return Err(Refusal::LeadsBack { how: "in its gradient" }),
        };
        let form = self.form(&Seen::of(&tensor.memory())).ok_or(Refusal::Origin)?;
        let place = self.forms[form].place;
        let is_own = matches!(self.places[place], Place::Made | Place::Fixed { .. });
        let shares =
            |other: &Tensor| !other.is(tensor) && other.memory().storage.is(&tensor.memory().storage);
        let base = match tensor.base() {
            _ if leads && (!is_own || outputs.iter().any(shares)) => return Err(Refusal::View),
            Some(base) if !leads && spent.is_none() && !outputs.is_empty() => {
                Some((self.base(&base, outputs)?, tensor.creation()))
            }
            Some(_) if !leads => return Err(Refusal::View),
            None if !is_own => return Err(Refusal::View),
            _ => None,
        };
        self.targets.push((0, place));
        // Writes to what was there before are counted there.
        let version = is_own.then(|| AtomicU32::new(tensor.version()));
        Ok(Left { form, version, spent, leads, base })
    }

    /// What a view that is left behind is a view of.
    fn base(&mut self, base: &Tensor, outputs: &[Tensor]) -> Result<usize, Refusal> {
        if let Some(found) = self.bases.iter().position(|(other, _)| other.is(base)) {
            return Ok(found);
        }
        if base.requires_grad() {
            return Err(Refusal::View);
        }
        let form = self.form(&Seen::of(&base.memory())).ok_or(Refusal::Origin)?;
        let found =
            match (outputs.iter().position(|other| other.is(base)), &self.places[self.forms[form].place]) {
                (Some(output), _) => Base::Output(output),
                (None, Place::Known(index)) => Base::Known(*index),
                (None, Place::Made | Place::Fixed { .. }) => Base::Form(form),
                _ => return Err(Refusal::View),
            };
        self.bases.push((base.clone(), found));
        Ok(self.bases.len() - 1)
    }

    pub(super) fn finish(
        mut self,
        known: &[Tensor],
        before: &[Before],
        outputs: &[Tensor],
        backward: Option<Backward>,
    ) -> Result<Program, Refusal> {
        let end = self.turns.first().map_or(self.instructions.len(), |(first, _)| *first);
        let targets: HashSet<usize> =
            self.targets.iter().filter(|(at, _)| *at < end).map(|(_, place)| *place).collect();
        let mut written = Vec::new();
        let mut gradients = Vec::new();
        let mut moved = Vec::new();
        let all = before;
        for (index, (tensor, before)) in known.iter().zip(before).enumerate() {
            let now = Seen::of(&tensor.memory());
            let is_moved = now.place.memory != before.seen.place.memory;
            if now.dtype != before.seen.dtype
                || *now.layout != *before.seen.layout
                || tensor.requires_grad() != before.requires_grad
                || !tensor.is_leaf().unwrap_or(false)
            {
                return Err(Refusal::Moved);
            }
            if is_moved || now.place.block != before.seen.place.block {
                // Whoever has the same memory would see what is written there, and not what comes after.
                let shares = |other: &usize| *other != index && self.firsts[*other] == self.firsts[index];
                let is_alone = !(0..known.len()).any(|other| shares(&other));
                if backward.is_some() || !is_alone || tensor.version() != before.version {
                    return Err(Refusal::Moved);
                }
            }
            if is_moved {
                let was =
                    self.places.iter().position(|place| matches!(place, Place::Known(of) if *of == index));
                if before.stands || was.is_none_or(|was| targets.contains(&was)) {
                    return Err(Refusal::Moved);
                }
                let left = self.left(&Tensor::from_array(tensor.memory()), &[], false)?;
                moved.push((index, Left::kept(left.form)));
            }
            let is_other_count = !is_moved && now.place.block != all[self.firsts[index]].seen.place.block;
            if is_other_count && tensor.version() != before.version {
                return Err(Refusal::Written);
            }
            if self.firsts[index] == index && !is_moved {
                let place = self.place_at(now.place.memory).ok_or(Refusal::Moved)?;
                let count = tensor.version().wrapping_sub(before.version);
                if count > 0 || targets.contains(&place) {
                    let same = |other: &usize| self.firsts[*other] == index;
                    if (0..known.len()).filter(same).any(|other| all[other].stands) {
                        return Err(Refusal::Written);
                    }
                    written.push((place, count));
                }
            }
            if before.stands && tensor.grad().is_some() {
                return Err(Refusal::Moved);
            }
            match (tensor.grad(), &before.gradient) {
                (None, None) => {}
                (Some(now), Some((grad, seen, version))) if now.is(grad) => {
                    let count = now.version().wrapping_sub(*version);
                    let place = self.place_at(seen.place.memory).ok_or(Refusal::Moved)?;
                    if count > 0 || targets.contains(&place) {
                        written.push((place, count));
                    }
                }
                (None, Some(_)) => gradients.push((index, Gradient::None)),
                (Some(now), _) => gradients.push((index, Gradient::Is(self.left(&now, &[], false)?))),
            }
        }
        let changes_gradients = |(place, _): &(usize, u32)| matches!(self.places[*place], Place::Gradient(_));
        if backward.is_some() && (!gradients.is_empty() || written.iter().any(changes_gradients)) {
            return Err(Refusal::LeadsBack { how: "beside gradients that it changes" });
        }
        let leads = |index| backward.as_ref().is_some_and(|backward| backward.leading.contains(&index));
        let mut left: Vec<Left> = Vec::with_capacity(outputs.len());
        for (index, output) in outputs.iter().enumerate() {
            left.push(self.left(output, outputs, leads(index))?);
        }
        let shown = left.len();
        let back = match backward {
            None => None,
            Some(backward) => {
                let Carved { back, kept } = backward.carve(&mut self)?;
                for place in kept {
                    let form = self.forms.iter().position(|form| form.place == place);
                    let Some(form) = form else { return Err(Refusal::Origin) };
                    left.push(Left::kept(form));
                }
                Some(Arc::new(back))
            }
        };
        self.share(0..end.max(1));
        let bases: Vec<Base> = std::mem::take(&mut self.bases).into_iter().map(|(_, base)| base).collect();
        let stays = left.iter().chain(moved.iter().map(|(_, left)| left)).chain(gradients.iter().filter_map(
            |(_, gradient)| match gradient {
                Gradient::Is(left) => Some(left),
                Gradient::None => None,
            },
        ));
        let forms =
            bases.iter().filter_map(|base| if let Base::Form(form) = base { Some(*form) } else { None });
        let stays: HashSet<usize> = stays.map(|left| left.form).chain(forms).collect();
        let known = before.iter().enumerate().map(|(index, before)| Known {
            layout: before.seen.layout.clone(),
            dtype: before.seen.dtype,
            requires_grad: before.requires_grad,
            stands: before.stands,
            gradient: before.gradient.as_ref().map(|(_, seen, _)| (seen.layout.clone(), seen.dtype)),
            first: self.firsts[index],
        });
        let known = known.collect();
        let program = self.planned(&stays);
        Ok(Program { outputs: left, shown, bases, gradients, moved, written, known, back, ..program })
    }

    /// Numbers that some of these instructions write to are not shared between runs.
    pub(super) fn share(&mut self, among: std::ops::Range<usize>) {
        for (at, target) in &self.targets {
            if let Place::Fixed { shared, .. } = &mut self.places[*target]
                && among.contains(at)
            {
                *shared = false;
            }
        }
    }

    /// The program of what there is, which leaves nothing behind yet.
    pub(super) fn planned(mut self, stays: &HashSet<usize>) -> Program {
        self.fold(stays);
        self.leave_out_copies(stays);
        self.instructions.iter_mut().enumerate().for_each(|(at, instruction)| instruction.at = at);
        let mut given = self.order(stays);
        given.sort_by_key(|&form| self.forms[form].place);
        let Plan { rooms, files, kept, passing } =
            plan::plan(&self.places, &self.forms, &mut self.instructions, stays);
        let undone = self.undone();
        let Maker { places, forms, instructions, .. } = self;
        Program {
            places,
            forms,
            instructions,
            outputs: Vec::new(),
            shown: 0,
            bases: Vec::new(),
            gradients: Vec::new(),
            moved: Vec::new(),
            written: Vec::new(),
            undone,
            given,
            known: Vec::new(),
            rooms,
            files,
            kept,
            passing,
            back: None,
            frame: Mutex::new(None),
            failed: AtomicUsize::new(0),
        }
    }

    /// What is undone where an operation fails: what was written to before the last one that may.
    fn undone(&self) -> Undone {
        let may_fail = |instruction: &Instruction| {
            !instruction.is_sure && instruction.way.as_ref().is_none_or(|way| way.direct.may_fail())
        };
        let end = self.instructions.iter().rposition(may_fail).unwrap_or(0);
        let was_there = |place: usize| matches!(self.places[place], Place::Known(_) | Place::Gradient(_));
        let before = self.targets.iter().filter(|(at, place)| *at < end && was_there(*place));
        Undone { places: before.map(|(_, place)| *place).collect(), end, draws: AtomicBool::new(end > 0) }
    }
}
