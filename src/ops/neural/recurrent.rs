//! A layer of an LSTM along a sequence, as one operation; and the numbers of layers with one state.

mod numbers;
mod states;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::memory;
use crate::dispatch::apply::portable;
use crate::dispatch::apply::{Arrays, Keep, Op, Outputs, apply};
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::recomputed::Subgraph;
use crate::dispatch::long_work;
use crate::dispatch::modes::plain::{Row, plain};
use crate::dispatch::modes::recording;
use crate::dispatch::record::records;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::mode::{self, Flags, FlagsGuard};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::kernels::neural::gates::Cell;
use crate::ops::creation::copy;
use crate::ops::geometry::{join, part};
use crate::ops::linalg::linear::linear;
use crate::ops::{add, mul, sigmoid, tanh};
use crate::schema::{Arguments, Entry, Reply, inner};
use crate::storage;
use crate::tensor::{Array, Tensor};

use numbers::Layer;

/// h' and c' of every step, with the sums i, f, n and o of W x + b and V h + a:
/// c' = σ(f) c + σ(i) tanh(n), h' = σ(o) tanh(c')
///
/// Gradients are those of what a step consists of, calculated from the gates that were open and the memories.
#[derive(Clone)]
struct Lstm {
    reverse: bool,
}

/// The input, W, V, b, a, h and c; h' of all steps, and the gates and memories of all.
type Saved = [Option<SavedTensor>; 10];

/// The step at each place, in the order in which they are taken.
fn places(steps: usize, reverse: bool) -> impl Iterator<Item = usize> {
    (0..steps).map(move |step| if reverse { steps - 1 - step } else { step })
}

impl Lstm {
    /// What is shown at every step, and the last of that and of the memories, by other operations.
    fn parts(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let &[x, to_gates, own, bias, own_bias, shown, memory] = inputs else {
            unreachable!("there are seven inputs")
        };
        let steps = x.layout().shape()[0];
        let gates = linear(x, to_gates, Some(bias))?;
        let (mut shown, mut memory) = (shown.clone(), memory.clone());
        let mut all: Vec<Option<Tensor>> = storage::filled(steps, None)?;
        for place in places(steps, self.reverse) {
            let said = part::select(&gates, 0, place as i64)?;
            let sums = add(&linear(&shown, own, Some(own_bias))?, &said)?;
            let size = (sums.layout().shape()[1] / 4) as i64;
            let gate = |index: i64| part::narrow(&sums, 1, index * size, size);
            let kept = mul(&sigmoid(&gate(1)?)?, &memory)?;
            memory = add(&kept, &mul(&sigmoid(&gate(0)?)?, &tanh(&gate(2)?)?)?)?;
            shown = mul(&sigmoid(&gate(3)?)?, &tanh(&memory)?)?;
            all[place] = Some(shown.clone());
        }
        let all: Vec<&Tensor> = storage::collected(steps, all.iter().flatten())?;
        Ok(smallvec![join::stack(&all, 0)?, shown, memory])
    }

    /// The numbers: what `parts` gives, and the gates and memories of all steps.
    fn numbers(&self, inputs: &[Array]) -> Result<[Array; 5]> {
        let arrays = in_order(inputs)?;
        dispatch!(float arrays[0].dtype, T => Layer::<T>::new(&arrays, self.reverse).forward(), else {
            unreachable!("the type was asked for")
        })
    }

    /// The gradients of all inputs, from what was kept and those gradients of outputs that are there.
    fn backward(&self, given: &[&Tensor], there: &[bool]) -> Result<Outputs> {
        let given = in_order(&memory(given))?;
        let (inputs, found) = given.split_at(7);
        let (found, gradients) = found.split_at(3);
        let mut gradients = gradients.iter().cloned();
        let gradients: SmallVec<[Option<Array>; 3]> =
            there.iter().map(|&is_there| if is_there { gradients.next() } else { None }).collect();
        let back = dispatch!(float inputs[0].dtype, T => {
            Layer::<T>::new(inputs, self.reverse).backward(found, &gradients)?
        }, else { unreachable!("the type was asked for") });
        Ok(back.into_iter().map(Tensor::from_array).collect())
    }

    /// The parts, recorded as far as they lead to the inputs that are `wanted`.
    fn recompute(&self, saved: &Saved, at: &At<'_>, wanted: &dyn Fn(usize) -> bool) -> Result<Subgraph> {
        let _counting = FlagsGuard::new(Flags { inference: false, ..mode::flags() });
        let inputs: Vec<Tensor> =
            saved[..7].iter().flatten().map(|input| at.load(input)).collect::<Result<_>>()?;
        Subgraph::record(&|inputs| self.parts(inputs), &inputs, wanted, at.tracking)
    }
}

fn in_order(arrays: &[Array]) -> Result<SmallVec<[Array; 7]>> {
    arrays.iter().map(|array| Ok(copy::in_order(array)?.into_owned())).collect()
}

impl Op for Lstm {
    type Saved = Saved;
    const SAVED: &'static [&'static str] =
        &["input", "weight0", "weight1", "weight2", "weight3", "hx_", "cx_", "result0", "result3", ""];

    fn name(&self) -> &'static str {
        "MkldnnRnnLayerBackward0"
    }

    fn shown(&self, _saved: &Saved) -> Attributes {
        shown! { reverse: self.reverse }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        5
    }

    fn is_together(&self) -> bool {
        true
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        effort(inputs)
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(self.numbers(inputs)?.into_iter().collect())
    }

    fn save(&self, keep: &Keep<'_>) -> Saved {
        let constants = [3, 4].map(|index| Some(keep.constant(index)));
        let [gates, memories] = constants;
        let input = |index| Some(keep.input(index));
        let [x, to_gates, own, bias, own_bias, shown, memory] = [0, 1, 2, 3, 4, 5, 6].map(input);
        [x, to_gates, own, bias, own_bias, shown, memory, Some(keep.output(0)), gates, memories]
    }

    fn vjp(&self, saved: &Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let gradients: Gradients = gradients[..3].iter().cloned().collect();
        let wanted = |index| at.needs(index);
        if at.tracking || !(mode::is_plain() || recording::is_on()) {
            return self.recompute(saved, at, &wanted)?.vjp(&gradients);
        }
        let kept: Vec<Tensor> = saved.iter().flatten().map(|kept| at.load(kept)).collect::<Result<_>>()?;
        let there: SmallVec<[bool; 3]> = gradients.iter().map(Option::is_some).collect();
        let given: Vec<&Tensor> = kept.iter().chain(gradients.iter().flatten()).collect();
        if !(mode::is_plain() || recording::is_alone(&given)) {
            return self.recompute(saved, at, &wanted)?.vjp(&gradients);
        }
        let own = self.clone();
        let back = recording::as_one(self.name(), &given, 7, move |given| own.backward(given, &there))?;
        Ok(back.into_iter().enumerate().map(|(index, found)| wanted(index).then_some(found)).collect())
    }

    fn jvp(&self, saved: &Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let wanted = |index| tangents.get(index).is_some_and(Option::is_some);
        let mut found = self.recompute(saved, at, &wanted)?.jvp(tangents)?;
        found.resize(5, None);
        Ok(found)
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("batched tensors go along step by step")
    }
}

/// Estimated nanoseconds of a layer: some ten steps of a product in one.
fn effort(inputs: &[Array]) -> u64 {
    let [x, to_gates, own] = [0, 1, 2].map(|index| inputs[index].layout.shape());
    (x[0] * x[1] * to_gates[0] * (to_gates[1] + own[1])) as u64 / 10
}

/// Whether these are a sequence, weights of so many gates, and states, of one type, that go together.
fn fits(inputs: &[&Tensor], gates: usize) -> bool {
    let (layouts, states) = inputs.split_at(5);
    let [x, to_gates, own, bias, own_bias] = [0, 1, 2, 3, 4].map(|index| layouts[index].layout());
    let (&[steps, samples, width], &[rows, columns]) = (x.shape(), to_gates.shape()) else { return false };
    let size = rows / gates;
    let dtype = inputs[0].dtype();
    matches!(dtype, DType::Float32 | DType::Float64)
        && inputs.iter().all(|input| input.dtype() == dtype)
        && steps * samples * width * size > 0
        && rows == gates * size
        && columns == width
        && *own.shape() == [rows, size]
        && [bias, own_bias].iter().all(|bias| *bias.shape() == [rows])
        && states.iter().all(|state| *state.layout().shape() == [samples, size])
}

/// What a layer shows at every step of a sequence, and the last of that and of its memories; `None` where torch
/// records every step, and where somebody wants to see them. The inputs are those of `Lstm`.
pub fn lstm(inputs: [&Tensor; 7], reverse: bool) -> Result<Option<[Tensor; 3]>> {
    if mode::special() && !recording::is_alone(&inputs) || !fits(&inputs, 4) {
        return Ok(None);
    }
    let layer = Lstm { reverse };
    let found: Vec<Tensor> = match (records(&inputs), inputs[0].dtype()) {
        (true, DType::Float32) => apply(layer, &inputs)?.into_vec(),
        (true, _) => return Ok(None),
        (false, _) if recording::is_on() => apply(layer, &inputs)?.into_vec(),
        (false, _) => {
            let arrays = memory(&inputs);
            let found = long_work::patiently(effort(&arrays), || layer.numbers(&arrays))?;
            found.into_iter().map(Tensor::from_array).collect()
        }
    };
    Ok(<[Tensor; 5]>::try_from(found).ok().map(|[all, shown, memory, _, _]| [all, shown, memory]))
}

/// What a layer with one state shows at every step, and the last of that; `None` where steps are recorded, and where
/// somebody wants to see them. The inputs are those of `Lstm` but for the memory.
fn state_layer(a: &dyn Arguments, cell: Cell) -> Result<Reply> {
    let [x, to_gates, own, bias, own_bias, state] = [0, 1, 2, 3, 4, 5].map(|index| a.tensor(index));
    let inputs = [x?, to_gates?, own?, bias?, own_bias?, state?];
    if mode::special() || !fits(&inputs, cell.gates()) || records(&inputs) {
        return Ok(Reply::Nothing);
    }
    let (arrays, reverse) = (in_order(&memory(&inputs))?, a.boolean(6));
    let found = long_work::patiently(effort(&arrays), || {
        dispatch!(float arrays[0].dtype, T => states::along::<T>(cell, &arrays, reverse), else {
            unreachable!("the type was asked for")
        })
    })?;
    Ok(Reply::Tensors(found.into_iter().map(Tensor::from_array).collect()))
}

const WITH_ONE_STATE: &[&str] = &[
    "(Tensor input, Tensor weight_ih, Tensor weight_hh, Tensor bias_ih, Tensor bias_hh, Tensor hx, bool reverse)",
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "lstm",
        &[
            "(Tensor input, Tensor weight_ih, Tensor weight_hh, Tensor bias_ih, Tensor bias_hh, Tensor hx, Tensor cx, bool reverse)",
        ],
        "A layer of a long short-term memory over a sequence, if it can be computed as one operation.",
        |a| {
            let [x, to_gates, own, bias, own_bias, shown, memory] =
                [0, 1, 2, 3, 4, 5, 6].map(|index| a.tensor(index));
            let found = lstm([x?, to_gates?, own?, bias?, own_bias?, shown?, memory?], a.boolean(7))?;
            Ok(found.map_or(Reply::Nothing, |found| Reply::Tensors(found.into())))
        },
    ),
    inner(
        "gru",
        WITH_ONE_STATE,
        "A layer of gated units over a sequence, if no step of it is recorded.",
        |a| state_layer(a, Cell::Gated),
    ),
    inner("rnn_tanh", WITH_ONE_STATE, "A layer over a sequence, if no step of it is recorded.", |a| {
        state_layer(a, Cell::Tanh)
    }),
    inner("rnn_relu", WITH_ONE_STATE, "A layer over a sequence, if no step of it is recorded.", |a| {
        state_layer(a, Cell::Relu)
    }),
];

plain! {
    struct Lstm { reverse }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Lstm>("lstm")];
