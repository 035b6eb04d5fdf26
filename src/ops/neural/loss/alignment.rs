//! The loss of labels whose places in a sequence are not known, and its gradient, calculated at once. The host says
//! what it is in other operations; that is for those who see the parts and for derivatives of derivatives.

use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::apply::Outputs;
use crate::dispatch::composites::checkpointed::{AtOnce, HostCalculation};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{Attributes, Shown};
use crate::kernels::neural::alignment::Labels;
use crate::ops::creation::copy;
use crate::ops::neural::scratch::elements;
use crate::shape::Layout;
use crate::tensor::{Array, Tensor};

/// -ln Σ Π pₜ over all ways to spell the labels, which is what `kernels::neural::alignment` has; the gradient there is
/// that of logits.
struct Alignment {
    blank: usize,
    steps: Vec<usize>,
    counts: Vec<usize>,
}

/// The states of samples, as `Labels` borrows them.
struct States {
    width: usize,
    classes: Vec<usize>,
    skips: Vec<bool>,
}

/// The calculation, and the node that it serves.
pub const CALCULATION: HostCalculation = HostCalculation { nodes: &["CtcLossBackward0"], of: with };

/// The calculation with these parameters.
fn with(parameters: &Attributes) -> Option<Arc<dyn AtOnce>> {
    let find = |name| parameters.iter().find(|(own, _)| *own == name).map(|(_, value)| value);
    let lengths = |name| match find(name) {
        Some(Shown::Ints(lengths)) => lengths.iter().map(|&length| usize::try_from(length).ok()).collect(),
        _ => None,
    };
    let Some(&Shown::Int(blank)) = find("blank") else { return None };
    let blank = usize::try_from(blank).ok()?;
    Some(Arc::new(Alignment { blank, steps: lengths("input_lengths")?, counts: lengths("target_lengths")? }))
}

impl Alignment {
    /// The states that targets make, which have to be classes.
    fn states(&self, targets: &Array, classes: usize) -> Result<States> {
        let targets = copy::as_type(targets, DType::Int64)?;
        let targets = copy::in_order(&targets)?;
        let all = targets.slice::<i64>().unwrap_or_else(|| unreachable!("they were laid out in order"));
        let width = 2 * self.counts.iter().max().copied().unwrap_or_default() + 1;
        let mut states = States { width, classes: Vec::new(), skips: Vec::new() };
        let mut start = 0;
        for (sample, &count) in self.counts.iter().enumerate() {
            if let &[_, row] = targets.layout.shape() {
                start = sample * row;
            }
            let labels = &all[start..start + count];
            start += count;
            for place in 0..width {
                let label = labels.get(place / 2).filter(|_| place % 2 == 1);
                let class = label.copied().unwrap_or(self.blank as i64);
                if class < 0 || class >= classes as i64 {
                    return Err(Error::GatherRange { index: class, dim: 2, size: classes }.into());
                }
                let class = class as usize;
                let earlier = states.classes.len().wrapping_sub(2);
                // A label may follow the one before it directly if the two differ: the blank between is left out.
                let is_apart = place >= 2 && class != self.blank && class != states.classes[earlier];
                states.classes.push(class);
                states.skips.push(is_apart);
            }
        }
        Ok(states)
    }

    fn labels<'a>(&'a self, shape: [usize; 3], states: &'a States) -> Labels<'a> {
        let States { width, classes, skips } = states;
        Labels { shape, width: *width, classes, skips, steps: &self.steps, counts: &self.counts }
    }
}

impl AtOnce for Alignment {
    fn fits(&self, inputs: &[&Tensor]) -> bool {
        matches!(inputs[0].dtype(), DType::Float32 | DType::Float64)
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let given = inputs[0].array();
        let given = copy::in_order(&given)?;
        let &[steps, samples, classes] = given.layout.shape() else {
            unreachable!("there are steps, samples and classes")
        };
        let states = self.states(&inputs[1].array(), classes)?;
        let mut losses = Array::uninit_shape(&[samples], given.dtype)?;
        let layout = Layout::contiguous(&[samples, steps, states.width])?;
        let mut found = Array::zeroed(&layout.into(), given.dtype)?;
        let labels = self.labels([steps, samples, classes], &states);
        dispatch!(float given.dtype, T => {
            labels.losses(elements::<T>(&given), found.owned(), losses.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(losses), Tensor::from_array(found)])
    }

    fn backward(&self, kept: &[&Tensor], gradient: &Tensor, _wanted: &[bool]) -> Result<Outputs> {
        let &[given, targets, losses, found] = kept else {
            unreachable!("two inputs and two outputs are kept")
        };
        let given = given.array();
        let given = copy::in_order(&given)?;
        let &[steps, samples, classes] = given.layout.shape() else {
            unreachable!("there are steps, samples and classes")
        };
        let states = self.states(&targets.array(), classes)?;
        let [losses, found, gradient] = [losses, found, gradient].map(Tensor::array);
        let [losses, found] = [&losses, &found].map(copy::in_order);
        let (losses, found, gradient) = (losses?, found?, copy::as_type(&gradient, given.dtype)?);
        let gradient = copy::in_order(&gradient)?;
        let mut y = Array::uninit_shape(given.layout.shape(), given.dtype)?;
        let labels = self.labels([steps, samples, classes], &states);
        dispatch!(float given.dtype, T => {
            let beside = [elements::<T>(&losses), elements::<T>(&gradient)];
            labels.gradients(elements::<T>(&given), elements::<T>(&found), beside, y.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(y)])
    }
}
