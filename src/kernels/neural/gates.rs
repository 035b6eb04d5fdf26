//! One step of a recurrent layer for some samples, all gates in one pass, and the way back for an LSTM. Products of
//! matrices are made elsewhere.
//!
//! The gates of a sample are rows of `size` numbers: enter, forget, new, leave in an LSTM; reset, update, new in a GRU.

use crate::dtype::Real;
use crate::kernels::pointwise::math::{Arithmetic, sigmoid, tanh};
use crate::kernels::simd::{Calculation, calculated};

/// A step of each sample: sums of inputs become open gates, and of the memory before and these come another and what
/// is shown.
pub struct Step<'a, T> {
    /// How many numbers a sample remembers.
    pub size: usize,
    /// What inputs say to each gate; then how far it is open.
    pub gates: &'a mut [T],
    /// What is shown so far says to each gate.
    pub own: &'a [T],
    /// Said to each gate for every sample.
    pub bias: &'a [T],
    /// The memory before.
    pub before: &'a [T],
    /// The memory.
    pub memory: &'a mut [T],
    /// What is shown.
    pub shown: &'a mut [T],
}

impl<T: Real> Step<'_, T> {
    /// c' = σ(f) c + σ(i) tanh(n), h' = σ(o) tanh(c')
    pub fn take(self) {
        calculated(self);
    }
}

impl<T: Real> Calculation<T> for Step<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Step { size, gates, own, bias, before, memory, shown } = self;
        let states =
            before.chunks_exact(size).zip(memory.chunks_exact_mut(size).zip(shown.chunks_exact_mut(size)));
        for ((gates, own), (before, (memory, shown))) in
            gates.chunks_exact_mut(4 * size).zip(own.chunks_exact(4 * size)).zip(states)
        {
            for ((gate, &own), &bias) in gates.iter_mut().zip(own).zip(bias) {
                *gate = (A::new(*gate) + A::new(bias) + A::new(own)).get();
            }
            let (ways, rest) = gates.split_at_mut(2 * size);
            let (new, leave) = rest.split_at_mut(size);
            for gate in ways.iter_mut() {
                *gate = sigmoid(A::new(*gate)).get();
            }
            for gate in new.iter_mut() {
                *gate = tanh(A::new(*gate)).get();
            }
            for gate in leave.iter_mut() {
                *gate = sigmoid(A::new(*gate)).get();
            }
            let (enter, forget) = ways.split_at(size);
            let kept = before.iter().zip(forget).zip(enter.iter().zip(&*new));
            for (memory, ((&before, &forget), (&enter, &new))) in memory.iter_mut().zip(kept) {
                *memory = (A::new(forget) * A::new(before) + A::new(enter) * A::new(new)).get();
            }
            for ((shown, &memory), &leave) in shown.iter_mut().zip(&*memory).zip(&*leave) {
                *shown = (A::new(leave) * tanh(A::new(memory))).get();
            }
        }
    }
}

/// The way back through a step of each sample.
pub struct Back<'a, T> {
    /// How many numbers a sample remembers.
    pub size: usize,
    /// How far the gates were open.
    pub gates: &'a [T],
    /// The memory before.
    pub before: &'a [T],
    /// The memory.
    pub memory: &'a [T],
    /// The gradient of what is shown.
    pub shown: &'a [T],
    /// The gradient of the memory; then of that before.
    pub remembered: &'a mut [T],
    /// The gradients of what is said to the gates.
    pub said: &'a mut [T],
}

impl<T: Real> Back<'_, T> {
    /// ō = h̄' tanh(c') σ'(o), c̄' += h̄' σ(o) (1 - tanh²(c')), ī = c̄' tanh(n) σ'(i), f̄ = c̄' c σ'(f),
    /// n̄ = c̄' σ(i) (1 - tanh²(n)), c̄ = c̄' σ(f)
    pub fn take(self) {
        calculated(self);
    }
}

impl<T: Real> Calculation<T> for Back<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let Back { size, gates, before, memory, shown, remembered, said } = self;
        let one = A::from_f64(1.0);
        let states = before.chunks_exact(size).zip(memory.chunks_exact(size)).zip(shown.chunks_exact(size));
        let opened = gates.chunks_exact(4 * size).zip(said.chunks_exact_mut(4 * size));
        for (((before, memory), shown), (remembered, (gates, said))) in
            states.zip(remembered.chunks_exact_mut(size).zip(opened))
        {
            let (enter, rest) = gates.split_at(size);
            let (forget, rest) = rest.split_at(size);
            let (new, leave) = rest.split_at(size);
            let (to_enter, rest) = said.split_at_mut(size);
            let (to_forget, rest) = rest.split_at_mut(size);
            let (to_new, to_leave) = rest.split_at_mut(size);
            let leaving = leave.iter().zip(to_leave).zip(memory.iter().zip(shown));
            for (remembered, ((&leave, to_leave), (&memory, &shown))) in remembered.iter_mut().zip(leaving) {
                let (leave, bent, shown) = (A::new(leave), tanh(A::new(memory)), A::new(shown));
                *to_leave = (shown * bent * (leave * (one - leave))).get();
                *remembered = (A::new(*remembered) + shown * leave * (one - bent * bent)).get();
            }
            let entering = enter.iter().zip(new).zip(to_enter.iter_mut().zip(to_new));
            for (&remembered, ((&enter, &new), (to_enter, to_new))) in remembered.iter().zip(entering) {
                let (g, enter, new) = (A::new(remembered), A::new(enter), A::new(new));
                *to_enter = (g * new * (enter * (one - enter))).get();
                *to_new = (g * enter * (one - new * new)).get();
            }
            let forgetting = forget.iter().zip(before).zip(to_forget);
            for (remembered, ((&forget, &before), to_forget)) in remembered.iter_mut().zip(forgetting) {
                let (g, forget) = (A::new(*remembered), A::new(forget));
                *to_forget = (g * A::new(before) * (forget * (one - forget))).get();
                *remembered = (g * forget).get();
            }
        }
    }
}

/// A layer with one state: how the sums of inputs and of the state become the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// h' = tanh(n)
    Tanh,
    /// h' = max(n, 0)
    Relu,
    /// r and z are open as far as their sums say, n = tanh(nₓ + r nₕ), h' = (h - n) z + n
    Gated,
}

impl Cell {
    /// How many sums there are for each number of the state.
    pub fn gates(self) -> usize {
        if self == Cell::Gated { 3 } else { 1 }
    }
}

/// A step of each sample of a layer with one state.
pub struct StateStep<'a, T> {
    pub cell: Cell,
    /// How many numbers the state of a sample has.
    pub size: usize,
    /// What inputs say to each gate, and what is said for every sample besides.
    pub said: &'a [T],
    pub bias: &'a [T],
    /// What the state says to each gate, and what is said for every sample besides.
    pub own: &'a mut [T],
    pub own_bias: &'a [T],
    /// The state before.
    pub before: &'a [T],
    /// The state.
    pub state: &'a mut [T],
}

impl<T: Real> StateStep<'_, T> {
    /// Writes the next states, as `Cell` has it.
    pub fn take(self) {
        calculated(self);
    }
}

impl<T: Real> Calculation<T> for StateStep<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic<Plain = T>>(self) {
        let StateStep { cell, size, said, bias, own, own_bias, before, state } = self;
        let gates = cell.gates() * size;
        let samples = said.chunks_exact(gates).zip(own.chunks_exact_mut(gates));
        let states = before.chunks_exact(size).zip(state.chunks_exact_mut(size));
        for ((said, own), (before, state)) in samples.zip(states) {
            for (own, &bias) in own.iter_mut().zip(own_bias) {
                *own = (A::new(*own) + A::new(bias)).get();
            }
            let together = 2 * size * usize::from(cell == Cell::Gated);
            let (ways, new) = own.split_at_mut(together);
            for ((way, &said), &bias) in ways.iter_mut().zip(said).zip(bias) {
                *way = sigmoid(A::new(*way) + (A::new(said) + A::new(bias))).get();
            }
            let new = new.iter().zip(&said[together..]).zip(&bias[together..]);
            let sums = |((&own, &said), &bias): ((&T, &T), &T)| (A::new(own), A::new(said) + A::new(bias));
            let states = state.iter_mut().zip(new.map(sums));
            match cell {
                Cell::Tanh => states.for_each(|(state, (own, said))| *state = tanh(own + said).get()),
                // What is not a number stays so.
                Cell::Relu => states.for_each(|(state, (own, said))| {
                    let sum = (own + said).get();
                    *state = if sum < T::ZERO { T::ZERO } else { sum };
                }),
                Cell::Gated => {
                    let (reset, update) = ways.split_at(size);
                    let ways = reset.iter().zip(update).zip(before);
                    for ((state, (own, said)), ((&reset, &update), &before)) in states.zip(ways) {
                        let new = tanh(said + own * A::new(reset));
                        *state = ((A::new(before) - new) * A::new(update) + new).get();
                    }
                }
            }
        }
    }
}
