//! Backward of what a program gives, where somebody else differentiates that: further programs, each of which is given
//! gradients of some of the outputs and gives those of what the first program was called with. `node` runs them.
//!
//! Note [Turns of backward]
//! ----
//! Which outputs get a gradient, and how it lies, decides what backward computes: for each way that is to be expected
//! there is a *turn*, recorded by running backward once on what was recorded. What a turn reads of the first program is
//! *held*: known tensors, and results, which that leaves behind for it. Whatever comes otherwise (another layout, a graph
//! that is wanted of backward) is done by the host's program itself, once more.
//!
//! What arrives at a known tensor is not added up by a turn: there is an edge for each gradient, so that whoever runs
//! backward adds them to those of other uses in the order in which it would have done so.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;

use super::maker::Maker;
use super::record::{Refusal, is_spent};
use super::{Instruction, Left, Operand, Place, Program};
use crate::dispatch::modes::recording::{Recording, Seen};
use crate::dtype::DType;
use crate::engine::{self, Options};
use crate::error;
use crate::graph::NodeRef;
use crate::graph::following::Known;
use crate::ops::creation::cast;
use crate::ops::sampling::random::Generator;
use crate::shape::{Layout, SharedLayout};
use crate::storage;
use crate::tensor::{Array, Tensor};

/// More turns than this are not recorded.
const MOST: usize = 8;

/// The gradients that a turn is given: how each lies, and of which type it is.
pub(super) type Given = SmallVec<[Option<(SharedLayout, DType)>; 2]>;

/// A way in which gradients may come.
pub(super) struct Turn {
    pub(super) given: Given,
    pub(super) program: Program,
    /// Which of what it gives is the gradient of each edge.
    pub(super) gradients: Vec<Option<usize>>,
}

/// What a turn needs of the first program.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Held {
    /// A known tensor.
    Known(usize),
    /// What is kept for it.
    Kept(usize),
}

/// Backward of a program.
pub(super) struct Back {
    /// Outputs that lead back.
    pub(super) leading: Vec<usize>,
    /// Known tensors that gradients are of, and how many edges lead to each.
    pub(super) leaves: Vec<(usize, usize)>,
    pub(super) held: Vec<Held>,
    pub(super) turns: Vec<Turn>,
    /// Whether random numbers are drawn.
    pub(super) draws: bool,
}

/// Backward as it was recorded.
pub(super) struct Backward {
    pub(super) leading: Vec<usize>,
    leaves: Vec<usize>,
    turns: Vec<(Given, Vec<Vec<Tensor>>)>,
    draws: bool,
}

/// Backward, and the places of the first program that are kept for it.
pub(super) struct Carved {
    pub(super) back: Back,
    pub(super) kept: Vec<usize>,
}

/// Gradients of this form whose numbers are nothing special.
pub(super) fn example((layout, dtype): &(SharedLayout, DType)) -> error::Result<Tensor> {
    let count = layout.end().max(1);
    let number = |at: usize| ((at * 37 + 11) % 64) as f64 / 16.0 - 1.9375;
    let numbers: Vec<f64> = storage::collected(count, (0..count).map(number))?;
    let numbers = cast::to_dtype(&Tensor::from_slice(&[count], &numbers)?, *dtype)?.memory();
    Ok(Tensor::from_array(Array { layout: layout.clone(), ..numbers }))
}

/// The ways in which gradients of these outputs are to be expected: packed, one number for all, or not at all.
fn ways(outputs: &[&Tensor]) -> Vec<Given> {
    let forms = outputs.iter().map(|output| {
        let (layout, dtype) = (output.layout(), output.dtype());
        let packed = Some((SharedLayout::new(layout.fresh()), dtype));
        let zeros = layout.shape().iter().map(|_| 0).collect();
        let all = Layout::strided(layout.shape().into(), zeros, 0).ok().filter(|_| layout.numel() > 1);
        (packed, all.map(|all| (SharedLayout::new(all), dtype)))
    });
    let forms: Vec<_> = forms.collect();
    let among = |is_each: bool| {
        let mut ways = vec![Given::new()];
        for (packed, all) in &forms {
            let mut choices = vec![packed.clone(), None];
            choices.extend(all.clone().filter(|_| is_each).map(Some));
            let further = choices.iter().flat_map(|choice| {
                ways.iter().map(|way| way.iter().cloned().chain([choice.clone()]).collect::<Given>())
            });
            ways = further.collect();
            if ways.len() > 2 * MOST {
                break;
            }
        }
        ways.retain(|way| way.len() == forms.len() && way.iter().any(Option::is_some));
        ways
    };
    let ways = [among(true), among(false)].into_iter().find(|ways| (1..=MOST).contains(&ways.len()));
    ways.unwrap_or_else(|| vec![forms.into_iter().map(|(packed, _)| packed).collect()])
}

fn refused(how: &'static str) -> Refusal {
    Refusal::LeadsBack { how }
}

impl Backward {
    /// Runs backward from those outputs that lead back, in each way, where it is written down.
    pub(super) fn record(
        recording: &Recording,
        known: &[Tensor],
        outputs: &[Tensor],
        drawn: &Tensor,
    ) -> Result<Option<Backward>, Refusal> {
        let edge = |output: &Tensor| output.edge().ok().flatten().filter(|edge| !is_spent(&edge.node));
        let leading: Vec<usize> =
            (0..outputs.len()).filter(|&index| edge(&outputs[index]).is_some()).collect();
        if leading.is_empty() {
            return Ok(None);
        }
        let roots: Vec<&Tensor> = leading.iter().map(|&index| &outputs[index]).collect();
        if hooked(roots.iter().filter_map(|root| edge(root)).map(|edge| edge.node).collect()) {
            return Err(refused("through hooks"));
        }
        let draws = {
            let _known = Known::new();
            let state = Generator::process_wide().state().map_err(|_| Refusal::Origin)?;
            state.to_vec::<u8>().ok() != drawn.to_vec::<u8>().ok()
        };
        let leaves: Vec<usize> = (0..known.len()).filter(|&index| known[index].requires_grad()).collect();
        let inputs: Vec<Tensor> = leaves.iter().map(|&index| known[index].clone()).collect();
        let mut turns = Vec::new();
        for given in ways(&roots) {
            let seeds: error::Result<Vec<Option<Tensor>>> = {
                let _known = Known::new();
                given.iter().map(|form| form.as_ref().map(example).transpose()).collect()
            };
            let seeds = seeds.map_err(|_| refused("from an output of its kind"))?;
            recording.backward(&seeds);
            let gradients = differentiate(&roots, &seeds, &inputs, false);
            turns.push((given, gradients.map_err(|_| refused("where backward fails"))?));
        }
        Ok(Some(Backward { leading, leaves, turns, draws }))
    }

    /// Makes programs of what was recorded since the first turn began.
    pub(super) fn carve(self, maker: &mut Maker) -> Result<Carved, Refusal> {
        let Backward { leading, leaves, turns: recorded, draws } = self;
        let begun = std::mem::take(&mut maker.turns);
        let arrivals =
            |at: usize| recorded.iter().map(|(_, gradients)| gradients[at].len()).max().unwrap_or(0);
        let leaves: Vec<(usize, usize)> =
            leaves.into_iter().enumerate().map(|(at, leaf)| (leaf, arrivals(at))).collect();
        let mut results = Vec::new();
        for (_, gradients) in &recorded {
            let mut forms = Vec::new();
            for gradient in by_edge(gradients, &leaves).unwrap_or_default() {
                let form =
                    |gradient: Tensor| maker.form(&Seen::of(&gradient.memory())).ok_or(Refusal::Origin);
                forms.push(gradient.map(form).transpose()?);
            }
            results.push(forms);
        }
        let first = begun.first().map_or(maker.instructions.len(), |(first, _)| *first);
        let written: HashSet<usize> =
            maker.targets.iter().filter(|(at, _)| *at < first).map(|(_, place)| *place).collect();
        let mut rest = maker.instructions.split_off(first);
        let mut carver = Carver {
            maker,
            made: HashSet::new(),
            written,
            given: leading.len(),
            held: Vec::new(),
            kept: Vec::new(),
        };
        for instruction in &carver.maker.instructions {
            let outputs = instruction.outputs.iter().flatten();
            carver.made.extend(outputs.map(|&form| carver.maker.forms[form].place));
        }
        let mut turns: Vec<Turn> = Vec::new();
        for (((start, _), (given, _)), forms) in begun.into_iter().zip(recorded).zip(results).rev() {
            let instructions = rest.split_off(start - first);
            let (program, gradients) = carver.turn(start, instructions, &forms)?;
            turns.push(Turn { given, program, gradients });
        }
        let Carver { held, kept, .. } = carver;
        Ok(Carved { back: Back { leading, leaves, held, turns, draws }, kept })
    }
}

/// Whether somebody is shown gradients on the way.
fn hooked(mut next: Vec<NodeRef>) -> bool {
    let mut seen = HashSet::new();
    while let Some(node) = next.pop() {
        if node.extras().is_some_and(|extras| !extras.hooks.is_empty()) {
            return true;
        }
        if seen.insert(node.id()) {
            next.extend(node.edges().iter().flatten().map(|edge| edge.node.clone()));
        }
    }
    false
}

/// What arrives at inputs from gradients of the outputs that have one.
pub(super) fn differentiate(
    outputs: &[&Tensor],
    given: &[Option<Tensor>],
    inputs: &[Tensor],
    create_graph: bool,
) -> error::Result<Vec<Vec<Tensor>>> {
    let some = outputs.iter().zip(given).filter(|(_, given)| given.is_some());
    let (roots, given): (Vec<Tensor>, Vec<Option<Tensor>>) =
        some.map(|(&root, given)| (root.clone(), given.clone())).unzip();
    engine::arrivals(&roots, inputs, &given, Options { retain_graph: true, create_graph })
}

/// What has arrived at each leaf, an edge after the other; nothing if there are too few of them.
pub(super) fn by_edge(arrivals: &[Vec<Tensor>], leaves: &[(usize, usize)]) -> Option<Vec<Option<Tensor>>> {
    let mut gradients = Vec::new();
    for (arrived, &(_, edges)) in arrivals.iter().zip(leaves) {
        let missing = edges.checked_sub(arrived.len())?;
        gradients.extend(arrived.iter().cloned().map(Some));
        gradients.extend(std::iter::repeat_n(None, missing));
    }
    Some(gradients)
}

/// Takes turns out of a record.
struct Carver<'a> {
    maker: &'a mut Maker,
    /// Places that the first program makes, and those that it writes to.
    made: HashSet<usize>,
    written: HashSet<usize>,
    /// How many gradients a turn is given.
    given: usize,
    held: Vec<Held>,
    kept: Vec<usize>,
}

impl Carver<'_> {
    /// The place in a turn of a place in the record.
    fn place(&mut self, place: usize, own: &HashSet<usize>) -> Result<Place, Refusal> {
        let held = match &self.maker.places[place] {
            Place::Given(index) => return Ok(Place::Known(*index)),
            Place::Made if own.contains(&place) => return Ok(Place::Made),
            Place::Fixed { numbers, .. } if !self.written.contains(&place) => {
                return Ok(Place::Fixed { numbers: numbers.clone(), shared: true });
            }
            Place::Known(index) => Held::Known(*index),
            Place::Made if !self.made.contains(&place) => return Err(refused("by turns that are one")),
            Place::Made | Place::Fixed { .. } => {
                let found = self.kept.iter().position(|&kept| kept == place);
                Held::Kept(found.unwrap_or_else(|| {
                    self.kept.push(place);
                    self.kept.len() - 1
                }))
            }
            Place::Gradient(_) => return Err(refused("to a gradient that was there before")),
        };
        let found = self.held.iter().position(|&other| other == held);
        let at = found.unwrap_or_else(|| {
            self.held.push(held);
            self.held.len() - 1
        });
        Ok(Place::Known(self.given + at))
    }

    /// The program of these instructions, the first of which was this one, and where it gives what these forms are.
    fn turn(
        &mut self,
        start: usize,
        instructions: Vec<Instruction>,
        results: &[Option<usize>],
    ) -> Result<(Program, Vec<Option<usize>>), Refusal> {
        let end = start + instructions.len();
        let outputs = instructions.iter().flat_map(|instruction| instruction.outputs.iter().flatten());
        let own: HashSet<usize> = outputs.map(|&form| self.maker.forms[form].place).collect();
        let mut turn = Maker::default();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut moved = |carver: &mut Self, turn: &mut Maker, form: usize| -> Result<usize, Refusal> {
            let form = &carver.maker.forms[form];
            let (old, layout, dtype) = (form.place, form.layout.clone(), form.dtype);
            let place = match places.get(&old) {
                Some(&place) => place,
                None => {
                    turn.places.push(carver.place(old, &own)?);
                    places.insert(old, turn.places.len() - 1);
                    turn.places.len() - 1
                }
            };
            Ok(turn.form_of(place, &layout, dtype))
        };
        for mut instruction in instructions {
            for operand in &mut instruction.operands {
                if let Operand::Form(form) = operand {
                    *form = moved(self, &mut turn, *form)?;
                }
            }
            for form in instruction.outputs.iter_mut().flatten() {
                *form = moved(self, &mut turn, *form)?;
            }
            turn.instructions.push(instruction);
        }
        let mut left: Vec<Left> = Vec::new();
        let mut gradients = Vec::new();
        for result in results {
            gradients.push(match result {
                None => None,
                Some(form) => {
                    let form = moved(self, &mut turn, *form)?;
                    left.push(Left::kept(form));
                    Some(left.len() - 1)
                }
            });
        }
        let targets = self.maker.targets.iter().filter(|(at, _)| (start..end).contains(at));
        for (at, place) in targets {
            let Some(&place) = places.get(place) else { continue };
            if matches!(turn.places[place], Place::Known(_)) {
                return Err(refused("where backward writes to what is not its own"));
            }
            turn.targets.push((at - start, place));
        }
        let handed = left.iter().map(|left| (0, turn.forms[left.form].place));
        turn.targets.extend(handed.collect::<Vec<_>>());
        turn.share(0..usize::MAX);
        let stays = left.iter().map(|left| left.form).collect();
        let program = turn.planned(&stays);
        Ok((Program { shown: left.len(), outputs: left, ..program }, gradients))
    }
}
