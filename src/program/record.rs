//! How a program is made of what was written down.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU32;

use parking_lot::Mutex;
use smallvec::SmallVec;

use super::plan::{self, Plan};
use super::{Form, Gradient, Instruction, Known, Left, Operand, Place, Program};
use crate::dispatch::modes::recording::{Computed, Event, Given, Recording, Seen};
use crate::dtype::DType;
use crate::graph::following::Leak;
use crate::graph::{Edge, NodeRef};
use crate::origin::Origin;
use crate::shape::SharedLayout;
use crate::tensor::Tensor;

/// Why nothing can be made of what was written down.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// Numbers have left, by what is named: what came after may depend on them.
    Left {
        /// By what.
        what: &'static str,
        /// Where.
        origin: Origin,
    },
    /// An operation was given memory that nobody knows the origin of.
    Unknown {
        /// torch's name of its node.
        name: &'static str,
    },
    /// Something that is not written down has written to memory.
    Written,
    /// A known tensor got other memory, or another form.
    Moved,
    /// A tensor was left behind whose numbers nobody knows the origin of.
    Origin,
    /// A tensor was left behind that still leads back.
    LeadsBack,
    /// A tensor was left behind that is a view of another one.
    View,
    /// A known tensor has hooks, or is not on its own.
    Unusual,
}

/// What a known tensor was before.
struct Before {
    seen: Seen,
    version: u32,
    requires_grad: bool,
    gradient: Option<(Tensor, Seen, u32)>,
}

/// A record that is being made.
pub struct Begun {
    recording: Recording,
    known: Vec<Tensor>,
    before: Vec<Before>,
}

impl Begun {
    /// Begins one. The known tensors are those that the host's program is given, and all that it holds.
    pub fn new(known: Vec<Tensor>) -> Result<Begun, Refusal> {
        let unusual = |x: &Tensor| {
            x.differs()
                || x.is_followed()
                || x.is_subclassed()
                || x.hooks_if_any().is_some_and(|hooks| !hooks.is_empty())
        };
        let is_leaf = |x: &Tensor| x.edge().is_ok_and(|edge| edge.is_none());
        if known.iter().any(|x| unusual(x) || !is_leaf(x)) {
            return Err(Refusal::Unusual);
        }
        let before = known.iter().map(|x| Before {
            seen: Seen::of(&x.memory()),
            version: x.version(),
            requires_grad: x.requires_grad(),
            gradient: x.grad().map(|grad| (grad.clone(), Seen::of(&grad.memory()), grad.version())),
        });
        let before = before.collect();
        Ok(Begun { recording: Recording::new(), known, before })
    }

    /// Ends it. What was computed is a program that gives `outputs`.
    pub fn end(self, outputs: &[Tensor]) -> Result<Program, Refusal> {
        let Begun { recording, known, before } = self;
        let (events, leak) = recording.end();
        if let Some(Leak { what, origin }) = leak {
            return Err(Refusal::Left { what, origin });
        }
        let mut maker = Maker::default();
        maker.know(&before);
        events.into_iter().try_for_each(|event| maker.take(event))?;
        maker.finish(&known, &before, outputs)
    }
}

#[derive(Default)]
struct Maker {
    places: Vec<Place>,
    forms: Vec<Form>,
    instructions: Vec<Instruction>,
    /// Which place is where.
    at: HashMap<usize, usize>,
    /// Memory that came into being meanwhile.
    born: HashSet<usize>,
    /// How many writes to a place are yet to be counted.
    expected: HashMap<usize, usize>,
    /// Places that operations write to.
    targets: HashSet<usize>,
    /// The first known tensor on the memory of each.
    firsts: Vec<usize>,
}

impl Maker {
    fn place(&mut self, memory: usize, place: Place) -> usize {
        self.places.push(place);
        self.at.insert(memory, self.places.len() - 1);
        self.places.len() - 1
    }

    fn know(&mut self, before: &[Before]) {
        for (index, tensor) in before.iter().enumerate() {
            let memory = tensor.seen.place.memory;
            let first = match self.at.get(&memory).map(|&place| &self.places[place]) {
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
                && !self.at.contains_key(&seen.place.memory)
            {
                self.place(seen.place.memory, Place::Gradient(index));
            }
        }
    }

    fn take(&mut self, event: Event) -> Result<(), Refusal> {
        match event {
            Event::Born(memory) => {
                self.at.remove(&memory);
                self.expected.remove(&memory);
                self.born.insert(memory);
            }
            Event::Fixed(place, numbers) => {
                self.place(place.memory, Place::Fixed { numbers, shared: true });
            }
            Event::Wrote(place) => {
                let is_known = self.at.contains_key(&place.memory);
                match self.expected.get_mut(&place.memory).filter(|expected| **expected > 0) {
                    Some(expected) => *expected -= 1,
                    // What nobody has read yet may be written to by whoever made it.
                    None if !is_known && self.born.contains(&place.memory) => {}
                    None => return Err(Refusal::Written),
                }
            }
            Event::Computed(computed) => self.compute(computed)?,
        }
        Ok(())
    }

    /// The form in which something was seen.
    fn form(&mut self, seen: &Seen) -> Option<usize> {
        let place = *self.at.get(&seen.place.memory)?;
        Some(self.form_of(place, &seen.layout, seen.dtype))
    }

    fn form_of(&mut self, place: usize, layout: &SharedLayout, dtype: DType) -> usize {
        let alike = |form: &Form| form.place == place && form.dtype == dtype && **layout == *form.layout;
        if let Some(found) = self.forms.iter().rposition(alike) {
            return found;
        }
        self.forms.push(Form { place, layout: layout.clone(), dtype });
        self.forms.len() - 1
    }

    fn compute(&mut self, computed: Computed) -> Result<(), Refusal> {
        let Computed { name, compute, direct, targets, operands, outputs } = computed;
        let mut given = SmallVec::new();
        for operand in &operands {
            given.push(match operand {
                Given::Number(number) => Operand::Number(*number),
                Given::Tensor(seen) => Operand::Form(self.form(seen).ok_or(Refusal::Unknown { name })?),
            });
        }
        for target in &operands[..targets] {
            let Given::Tensor(target) = target else { continue };
            *self.expected.entry(target.place.memory).or_default() += 1;
            self.targets.insert(self.at[&target.place.memory]);
        }
        if !outputs.is_empty() && outputs.iter().all(|output| self.at.contains_key(&output.place.memory)) {
            // Views of what is there.
            return Ok(());
        }
        let mut made = SmallVec::new();
        for output in &outputs {
            made.push(match self.at.contains_key(&output.place.memory) {
                true => None,
                false => {
                    let place = self.place(output.place.memory, Place::Made);
                    Some(self.form_of(place, &output.layout, output.dtype))
                }
            });
        }
        let (shown, last, dropped) = (SmallVec::new(), SmallVec::new(), SmallVec::new());
        let (operands, outputs, way) = (given, made, None);
        let instruction =
            Instruction { name, compute, direct, way, together: 1, operands, outputs, shown, last, dropped };
        self.instructions.push(instruction);
        Ok(())
    }

    /// A tensor that is left behind.
    fn left(&mut self, tensor: &Tensor) -> Result<Left, Refusal> {
        let spent = match tensor.edge() {
            Ok(Some(Edge { node, .. })) if is_spent(&node) => Some(node.name()),
            Ok(None) if !tensor.requires_grad() => None,
            _ => return Err(Refusal::LeadsBack),
        };
        let form = self.form(&Seen::of(&tensor.memory())).ok_or(Refusal::Origin)?;
        let place = self.forms[form].place;
        if tensor.is_view() || !matches!(self.places[place], Place::Made | Place::Fixed { .. }) {
            return Err(Refusal::View);
        }
        self.targets.insert(place);
        Ok(Left { form, version: AtomicU32::new(tensor.version()), spent })
    }

    fn finish(mut self, known: &[Tensor], before: &[Before], outputs: &[Tensor]) -> Result<Program, Refusal> {
        let mut written = Vec::new();
        let mut gradients = Vec::new();
        let all = before;
        for (index, (tensor, before)) in known.iter().zip(before).enumerate() {
            let now = Seen::of(&tensor.memory());
            if now.place != before.seen.place
                || *now.layout != *before.seen.layout
                || tensor.requires_grad() != before.requires_grad
                || !tensor.is_leaf().unwrap_or(false)
            {
                return Err(Refusal::Moved);
            }
            let is_other_count = now.place.block != all[self.firsts[index]].seen.place.block;
            if is_other_count && tensor.version() != before.version {
                return Err(Refusal::Written);
            }
            if self.firsts[index] == index {
                let place = self.at[&now.place.memory];
                let count = tensor.version().wrapping_sub(before.version);
                if count > 0 || self.targets.contains(&place) {
                    written.push((place, count));
                }
            }
            match (tensor.grad(), &before.gradient) {
                (None, None) => {}
                (Some(now), Some((grad, seen, version))) if now.is(grad) => {
                    let count = now.version().wrapping_sub(*version);
                    let place = self.at.get(&seen.place.memory).copied().ok_or(Refusal::Moved)?;
                    if count > 0 || self.targets.contains(&place) {
                        written.push((place, count));
                    }
                }
                (None, Some(_)) => gradients.push((index, Gradient::None)),
                (Some(now), _) => gradients.push((index, Gradient::Is(self.left(&now)?))),
            }
        }
        let outputs: Vec<Left> = outputs.iter().map(|output| self.left(output)).collect::<Result<_, _>>()?;
        for &target in &self.targets {
            if let Place::Fixed { shared, .. } = &mut self.places[target] {
                *shared = false;
            }
        }
        let stays = outputs.iter().chain(gradients.iter().filter_map(|(_, gradient)| match gradient {
            Gradient::Is(left) => Some(left),
            Gradient::None => None,
        }));
        let stays: HashSet<usize> = stays.map(|left| left.form).collect();
        let mut given = self.order(&stays);
        given.sort_by_key(|&form| self.forms[form].place);
        let Plan { rooms, kept, passing } =
            plan::plan(&self.places, &self.forms, &mut self.instructions, &stays);
        let known = before.iter().enumerate().map(|(index, before)| Known {
            layout: before.seen.layout.clone(),
            dtype: before.seen.dtype,
            requires_grad: before.requires_grad,
            gradient: before.gradient.as_ref().map(|(_, seen, _)| (seen.layout.clone(), seen.dtype)),
            first: self.firsts[index],
        });
        let known = known.collect();
        let Maker { places, forms, instructions, .. } = self;
        let frame = Mutex::new(None);
        Ok(Program {
            places,
            forms,
            instructions,
            outputs,
            gradients,
            written,
            given,
            known,
            rooms,
            kept,
            passing,
            frame,
        })
    }

    /// Finds out when each form comes into being and when it may go. Answers those that are there at first.
    fn order(&mut self, stays: &HashSet<usize>) -> Vec<usize> {
        // The form of a place that is there as long as the place is; others are made of it.
        let mut home: Vec<Option<usize>> = vec![None; self.places.len()];
        let mut there = vec![false; self.forms.len()];
        let mut given = Vec::new();
        for (index, form) in self.forms.iter().enumerate() {
            if !matches!(self.places[form.place], Place::Made) {
                home[form.place].get_or_insert(index);
                there[index] = true;
                given.push(index);
            }
        }
        for instruction in &mut self.instructions {
            for operand in &instruction.operands {
                let Operand::Form(form) = *operand else { continue };
                if !std::mem::replace(&mut there[form], true)
                    && let Some(home) = home[self.forms[form].place]
                {
                    instruction.shown.push((form, home));
                }
            }
            for &form in instruction.outputs.iter().flatten() {
                home[self.forms[form].place] = Some(form);
                there[form] = true;
            }
        }
        let mut last: HashMap<usize, usize> = HashMap::new();
        for (at, instruction) in self.instructions.iter().enumerate() {
            let read = instruction.operands.iter().filter_map(|operand| match operand {
                Operand::Form(form) => Some(*form),
                Operand::Number(_) => None,
            });
            let shown = instruction.shown.iter().map(|(_, home)| *home);
            for form in read.chain(shown).chain(instruction.outputs.iter().flatten().copied()) {
                last.insert(form, at);
            }
        }
        // What is left behind may be made of the form that its place came into being with.
        for &form in stays {
            last.remove(&form);
            if let Some(home) = home[self.forms[form].place] {
                last.remove(&home);
            }
        }
        for (form, at) in last {
            if matches!(self.places[self.forms[form].place], Place::Made) {
                self.instructions[at].last.push(form);
            }
        }
        given
    }
}

/// Whether backward has been through the graph behind a node, so that it cannot go there again.
fn is_spent(node: &NodeRef) -> bool {
    let (mut seen, mut next) = (HashSet::new(), vec![node.clone()]);
    while let Some(node) = next.pop() {
        if node.is_released() {
            return true;
        }
        if seen.insert(node.id()) {
            next.extend(node.edges().iter().flatten().map(|edge| edge.node.clone()));
        }
    }
    false
}
