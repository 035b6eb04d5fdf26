//! Random graphs against the reference engine: sums, products, exponentials, views, writes in place,
//! joins and reductions, whatever way they come together.

use rushlight::engine::{self, Options};
use rushlight::ops;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::{expand, join, part, permute, reshape};
use rushlight::ops::linalg::products;
use rushlight::ops::reduction::reduce;
use rushlight::shape::signed;
use rushlight::{Result, Tensor};

use crate::tape::Tape;

/// Graphs that are built, and steps that each takes.
const GRAPHS: u64 = 3000;
const STEPS: usize = 40;

/// Random numbers of our own, so that a failure names its graph by a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`.
    pub(crate) fn roll(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// A number between -1 and 1.
    pub(crate) fn real(&mut self) -> f64 {
        self.roll(2001) as f64 / 1000.0 - 1.0
    }
}

/// Memory as the reference sees it: the node of the tape that each element is now.
struct Memory {
    nodes: Vec<usize>,
    /// Whether backward needs the numbers as they are, so that nothing may be written here.
    kept: bool,
}

/// A tensor and its counterpart: elements of some memory, in row-major order.
#[derive(Clone)]
struct Pair {
    tensor: Tensor,
    memory: usize,
    places: Vec<usize>,
    writable: bool,
}

impl Pair {
    fn shape(&self) -> Vec<usize> {
        self.tensor.layout().shape().to_vec()
    }
}

struct World {
    dice: Dice,
    tape: Tape,
    memories: Vec<Memory>,
    pairs: Vec<Pair>,
    leaves: Vec<Pair>,
    writes: usize,
}

impl World {
    fn new(seed: u64) -> World {
        let (tape, dice) = (Tape::default(), Dice::new(seed));
        let mut world = World { dice, tape, memories: vec![], pairs: vec![], leaves: vec![], writes: 0 };
        for shape in [&[2, 3][..], &[3], &[2, 2], &[2, 3], &[]] {
            let count: usize = shape.iter().product();
            let values: Vec<f64> = (0..count).map(|_| world.dice.real()).collect();
            let nodes = values.iter().map(|&value| world.tape.number(value)).collect();
            let tensor = Tensor::from_slice(shape, &values).unwrap();
            let requires_grad = world.leaves.is_empty() || world.dice.roll(4) > 0;
            tensor.set_requires_grad(requires_grad).unwrap();
            let leaf = world.fresh(tensor, nodes, false);
            if requires_grad {
                world.leaves.push(leaf);
            }
        }
        world
    }

    /// A tensor in memory of its own.
    fn fresh(&mut self, tensor: Tensor, nodes: Vec<usize>, writable: bool) -> Pair {
        let places = (0..nodes.len()).collect();
        self.memories.push(Memory { nodes, kept: false });
        let pair = Pair { tensor, memory: self.memories.len() - 1, places, writable };
        self.pairs.push(pair.clone());
        pair
    }

    /// A view: the elements of `x` at `places` among its own.
    fn view(&mut self, x: &Pair, tensor: Tensor, writable: bool, places: impl Iterator<Item = usize>) {
        let places = places.map(|place| x.places[place]).collect();
        self.pairs.push(Pair { tensor, memory: x.memory, places, writable: writable && x.writable });
    }

    fn nodes(&self, x: &Pair) -> Vec<usize> {
        x.places.iter().map(|&place| self.memories[x.memory].nodes[place]).collect()
    }

    fn pick(&mut self) -> Pair {
        self.pairs[self.dice.roll(self.pairs.len())].clone()
    }

    /// Another tensor whose shape `shape` ends in, so that it broadcasts.
    fn partner(&mut self, shape: &[usize]) -> Pair {
        for _ in 0..50 {
            let other = self.pick();
            if shape.ends_with(&other.shape()) {
                return other;
            }
        }
        self.pairs[4].clone()
    }

    fn keep(&mut self, x: &Pair) {
        self.memories[x.memory].kept = true;
    }

    /// `f` of the nodes of `a` and those of `b` repeated.
    fn combine(&mut self, a: &Pair, b: &Pair, f: fn(&mut Tape, usize, usize) -> usize) -> Vec<usize> {
        let (left, right) = (self.nodes(a), self.nodes(b));
        left.iter().enumerate().map(|(i, &node)| f(&mut self.tape, node, right[i % right.len()])).collect()
    }

    fn step(&mut self) -> Result<()> {
        let x = self.pick();
        let (shape, nodes) = (x.shape(), self.nodes(&x));
        let largest = nodes.iter().map(|&node| self.tape.value(node).abs()).fold(0.0, f64::max);
        if largest > 2.0 || nodes.len() > 24 {
            return self.tame(&x, largest);
        }
        match self.dice.roll(13) {
            0 => {
                let y = self.partner(&shape);
                let sum = self.combine(&x, &y, Tape::add);
                self.fresh(ops::add(&x.tensor, &y.tensor)?, sum, true);
            }
            1 | 2 => {
                let y = self.partner(&shape);
                let product = self.combine(&x, &y, Tape::mul);
                self.keep(&x);
                self.keep(&y);
                self.fresh(ops::mul(&x.tensor, &y.tensor)?, product, true);
            }
            3 => {
                let exp = nodes.iter().map(|&node| self.tape.exp(node)).collect();
                let y = self.fresh(ops::exp(&x.tensor)?, exp, true);
                self.keep(&y);
            }
            4 => {
                let flat = reshape::view(&x.tensor, &[-1]);
                // Some strides have no such view.
                if let Ok(flat) = flat {
                    self.view(&x, flat, true, 0..nodes.len());
                }
            }
            5 if shape.len() == 2 => {
                let (rows, columns) = (shape[0], shape[1]);
                let places = (0..columns).flat_map(|j| (0..rows).map(move |i| i * columns + j));
                self.view(&x, permute::t(&x.tensor)?, true, places);
            }
            6 if !shape.is_empty() => {
                let start = self.dice.roll(shape[0]);
                let length = 1 + self.dice.roll(shape[0] - start);
                let inner = nodes.len() / shape[0];
                let part = part::narrow(&x.tensor, 0, start as i64, length as i64)?;
                self.view(&x, part, true, start * inner..(start + length) * inner);
            }
            7 => {
                let larger = [&[2], &shape[..]].concat();
                let count = nodes.len();
                let expanded = expand::expand(&x.tensor, &signed(&larger))?;
                self.view(&x, expanded, false, (0..2 * count).map(|place| place % count));
            }
            8 => drop(self.fresh(cast::clone(&x.tensor)?, nodes, true)),
            9 if !shape.is_empty() => {
                let joined = [&nodes[..], &nodes[..]].concat();
                self.fresh(join::cat(&[&x.tensor, &x.tensor], 0)?, joined, true);
            }
            10 if !shape.is_empty() => {
                let inner = nodes.len() / shape[0];
                let column = |j: usize| nodes.iter().copied().skip(j).step_by(inner).collect::<Vec<_>>();
                let sums = (0..inner).map(|j| self.tape.sum(&column(j))).collect();
                self.fresh(reduce::sum(&x.tensor, Some(&[0]), false, None)?, sums, true);
            }
            11 if shape.len() == 2 => self.product(&x)?,
            _ => self.write(&x)?,
        }
        Ok(())
    }

    /// Keeps numbers small and tensors short: a part of `x`, made smaller.
    fn tame(&mut self, x: &Pair, largest: f64) -> Result<()> {
        let part = match x.shape().is_empty() {
            true => x.tensor.clone(),
            false => part::narrow(&x.tensor, 0, 0, 1)?,
        };
        let factor = 0.5 / largest.max(0.5);
        let nodes = self.nodes(x)[..part.numel()].to_vec();
        let small = nodes.iter().map(|&node| {
            let factor = self.tape.number(factor);
            self.tape.mul(node, factor)
        });
        let small = small.collect();
        self.fresh(ops::mul(&part, factor)?, small, true);
        Ok(())
    }

    /// x xᵀ
    fn product(&mut self, x: &Pair) -> Result<()> {
        let (shape, nodes) = (x.shape(), self.nodes(x));
        let cell = |tape: &mut Tape, i: usize, j: usize| {
            let terms: Vec<usize> =
                (0..shape[1]).map(|k| tape.mul(nodes[i * shape[1] + k], nodes[j * shape[1] + k])).collect();
            tape.sum(&terms)
        };
        let cells =
            (0..shape[0] * shape[0]).map(|at| cell(&mut self.tape, at / shape[0], at % shape[0])).collect();
        self.keep(x);
        self.fresh(products::mm(&x.tensor, &permute::t(&x.tensor)?)?, cells, true);
        Ok(())
    }

    /// Overwrites `x`, or a copy of it if it may not be.
    fn write(&mut self, x: &Pair) -> Result<()> {
        let x = match x.writable && !self.memories[x.memory].kept {
            true => x.clone(),
            false => {
                let nodes = self.nodes(x);
                self.fresh(cast::clone(&x.tensor)?, nodes, true)
            }
        };
        let y = self.partner(&x.shape());
        if y.memory == x.memory {
            return Ok(());
        }
        let nodes = match self.dice.roll(5) {
            0 => {
                ops::add_(&x.tensor, &y.tensor)?;
                self.combine(&x, &y, Tape::add)
            }
            1 => {
                ops::mul_(&x.tensor, &y.tensor)?;
                self.keep(&y);
                self.combine(&x, &y, Tape::mul)
            }
            2 => {
                cast::copy_(&x.tensor, &y.tensor)?;
                self.combine(&x, &y, |_, _, y| y)
            }
            3 => {
                ops::exp_(&x.tensor)?;
                let nodes = self.nodes(&x);
                let exp = nodes.iter().map(|&node| self.tape.exp(node)).collect();
                self.keep(&x);
                exp
            }
            _ => {
                cast::fill_(&x.tensor, 0.25)?;
                x.places.iter().map(|_| self.tape.number(0.25)).collect()
            }
        };
        for (&place, node) in x.places.iter().zip(nodes) {
            self.memories[x.memory].nodes[place] = node;
        }
        self.writes += 1;
        Ok(())
    }

    /// Some tensors as roots, the last among them, with gradients; and Σ ⟨root, gradient⟩ as a node.
    fn roots(&mut self) -> (Vec<Tensor>, Vec<Option<Tensor>>, usize) {
        let (mut roots, mut gradients, mut terms) = (vec![], vec![], vec![]);
        for index in 0..3 {
            let x = if index == 0 { self.pairs[self.pairs.len() - 1].clone() } else { self.pick() };
            if !x.tensor.requires_grad() {
                continue;
            }
            let weights: Vec<f64> = x.places.iter().map(|_| self.dice.real()).collect();
            for (node, &weight) in self.nodes(&x).into_iter().zip(&weights) {
                let weight = self.tape.number(weight);
                terms.push(self.tape.mul(node, weight));
            }
            gradients.push(Some(Tensor::from_slice(&x.shape(), &weights).unwrap()));
            roots.push(x.tensor);
        }
        let total = self.tape.sum(&terms);
        (roots, gradients, total)
    }

    fn leaf_nodes(&self) -> Vec<usize> {
        // Leaves are never written to, so their elements are what they were.
        self.leaves.iter().flat_map(|leaf| self.nodes(leaf)).collect()
    }

    /// Compares gradients, leaf after leaf, with `factor` times the values of nodes.
    fn compare(&self, gradients: &[Option<Tensor>], nodes: &[usize], factor: f64, what: &str) {
        let zeros = |leaf: &Pair| vec![0.0; leaf.places.len()];
        let got = gradients.iter().zip(&self.leaves).flat_map(|(gradient, leaf)| {
            gradient.as_ref().map_or_else(|| zeros(leaf), |gradient| gradient.to_vec::<f64>().unwrap())
        });
        let got: Vec<f64> = got.collect();
        assert_eq!(got.len(), nodes.len(), "{what}: every element has a gradient");
        for (place, (got, &node)) in got.iter().zip(nodes).enumerate() {
            let expected = factor * self.tape.value(node);
            let close = (got - expected).abs() <= 1e-9 * (1.0 + expected.abs());
            assert!(close, "{what}: element {place} is {got}, the reference says {expected}");
        }
    }
}

fn built(seed: u64) -> World {
    let mut world = World::new(seed);
    for step in 0..STEPS {
        world.step().unwrap_or_else(|error| panic!("graph {seed}, step {step}: {error}"));
    }
    world
}

#[test]
fn values_agree_with_the_reference() {
    let mut writes = 0;
    for seed in 0..GRAPHS {
        let world = built(seed);
        writes += world.writes;
        for (number, pair) in world.pairs.iter().enumerate() {
            let expected: Vec<f64> = world.nodes(pair).iter().map(|&node| world.tape.value(node)).collect();
            let got = pair.tensor.to_vec::<f64>().unwrap();
            let close = got.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + b.abs()));
            assert!(
                close && got.len() == expected.len(),
                "graph {seed}, tensor {number}: {got:?}, {expected:?}"
            );
        }
    }
    assert!(writes > 5000, "memory was written to {writes} times");
}

#[test]
fn gradients_agree_with_the_reference_and_accumulate() {
    for seed in 0..GRAPHS {
        let mut world = built(seed);
        let (roots, gradients, total) = world.roots();
        let leaf_nodes = world.leaf_nodes();
        let expected = world.tape.gradient(total, &leaf_nodes);
        for (run, retain_graph) in [(1, true), (2, false)] {
            engine::backward(&roots, &gradients, Options { retain_graph, create_graph: false })
                .unwrap_or_else(|error| panic!("graph {seed}: {error}"));
            let got: Vec<_> = world.leaves.iter().map(|leaf| leaf.tensor.grad()).collect();
            world.compare(&got, &expected, f64::from(run), &format!("graph {seed}, run {run}"));
        }
    }
}

#[test]
fn gradients_of_gradients_agree_with_the_reference() {
    let mut compared = 0;
    for seed in 0..GRAPHS {
        let mut world = built(seed);
        let (roots, gradients, total) = world.roots();
        let leaf_nodes = world.leaf_nodes();
        let slopes = world.tape.gradient(total, &leaf_nodes);
        let weights: Vec<f64> = slopes.iter().map(|_| world.dice.real()).collect();
        let terms: Vec<usize> = slopes
            .iter()
            .zip(&weights)
            .map(|(&slope, &weight)| {
                let weight = world.tape.number(weight);
                world.tape.mul(slope, weight)
            })
            .collect();
        let weighted = world.tape.sum(&terms);
        let expected = world.tape.gradient(weighted, &leaf_nodes);

        let leaves: Vec<Tensor> = world.leaves.iter().map(|leaf| leaf.tensor.clone()).collect();
        let first =
            engine::grad(&roots, &leaves, &gradients, Options { retain_graph: true, create_graph: true })
                .unwrap_or_else(|error| panic!("graph {seed}: {error}"));
        let (mut again, mut cotangents, mut at) = (vec![], vec![], 0);
        for (slope, leaf) in first.into_iter().zip(&leaves) {
            let part = &weights[at..at + leaf.numel()];
            at += leaf.numel();
            if let Some(slope) = slope.filter(Tensor::requires_grad) {
                cotangents.push(Some(Tensor::from_slice(slope.layout().shape(), part).unwrap()));
                again.push(slope);
            }
        }
        if again.is_empty() {
            continue;
        }
        let second = engine::grad(&again, &leaves, &cotangents, Options::default())
            .unwrap_or_else(|error| panic!("graph {seed}, second order: {error}"));
        world.compare(&second, &expected, 1.0, &format!("graph {seed}, second order"));
        compared += 1;
    }
    assert!(compared > GRAPHS / 2, "{compared} graphs had second derivatives");
}
