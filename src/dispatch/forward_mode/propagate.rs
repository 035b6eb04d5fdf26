//! Forward mode through an operation: the tangents of its inputs are collected level by level, and the `jvp` of its rule
//! computes those of the outputs.

use smallvec::SmallVec;

use crate::dispatch::forward_mode::tangents::{fit, is_shared, tangent, write};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, Level, NodeRef, mode, tangents};
use crate::ops::creation::cast;
use crate::tensor::Tensor;

/// How an output of a custom function of the host relates to its inputs.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    /// New, or a view of something else.
    New,
    /// A view of this input, or the input itself once more.
    Shown(usize),
    /// An input that was written to.
    Written,
    /// A constant with respect to the inputs.
    Constant,
}

/// The tangents of the inputs of an operation.
pub(crate) struct Propagation {
    /// A bit for each input that has a tangent.
    pub(crate) needed: u64,
    /// The tangents of the inputs by level, in ascending order.
    levels: SmallVec<[(Level, Gradients); 1]>,
}

impl Propagation {
    /// The tangents of the inputs, if there are any.
    #[cold]
    pub(crate) fn of(inputs: &[Option<&Tensor>]) -> Result<Option<Propagation>> {
        let mut propagation = Propagation { needed: 0, levels: SmallVec::new() };
        for level in tangents::live() {
            let tangents = inputs
                .iter()
                .map(|input| input.map_or(Ok(None), |input| tangent(input, level)))
                .collect::<Result<Gradients>>()?;
            if tangents.iter().all(Option::is_none) {
                continue;
            }
            for (index, _) in tangents.iter().enumerate().take(64).filter(|(_, tangent)| tangent.is_some()) {
                propagation.needed |= 1 << index;
            }
            propagation.levels.push((level, tangents));
        }
        Ok(if propagation.levels.is_empty() { None } else { Some(propagation) })
    }

    /// Puts copies in the place of tangents in the memory of that of the first input, which is about
    /// to be written to: they are still read then, and may be kept for backward.
    pub(crate) fn before_write(mut self) -> Result<Propagation> {
        for (level, tangents) in &mut self.levels {
            let _below = tangents::Ceiling::below(*level);
            let Some(Some(written)) = tangents.first().cloned() else { continue };
            for tangent in tangents.iter_mut().flatten() {
                if is_shared(tangent, &written) {
                    *tangent = cast::clone(tangent)?;
                }
            }
        }
        Ok(self)
    }

    /// Gives new outputs their tangents. Lower levels come first, since the outputs that a rule has
    /// kept carry them into the tangents of the higher ones.
    pub(crate) fn into_outputs(self, node: &NodeRef, outputs: &[Tensor]) -> Result<()> {
        for (level, tangents) in self.levels {
            // A new view that is apart at this level gets its tangent from who makes it.
            let apart = |output: &Tensor| output.is_apart(level) && output.own_tangent(level).is_none();
            if outputs.iter().any(apart) {
                continue;
            }
            let _below = tangents::Ceiling::below(level);
            let results = run(node, &tangents)?;
            for (output, result) in outputs.iter().zip(results) {
                let Some(result) = result.filter(|_| output.dtype().is_differentiable()) else { continue };
                let is_new = output.forward_base(level).is_some()
                    || !tangents.iter().flatten().any(|tangent| is_shared(&result, tangent));
                let result = if is_new { result } else { cast::clone(&result)? };
                let fitting = match output.layout().is_non_overlapping() {
                    true => fit(&result, output, output.dtype())?,
                    false => cast::to_dtype(&result, output.dtype())?,
                };
                output.set_tangent(level, Some(fitting));
            }
        }
        Ok(())
    }

    /// Gives the outputs of a function of the host their tangents; `None` stands for what is no tensor.
    pub(crate) fn into_roles(self, node: &NodeRef, outputs: &[Option<(&Tensor, Role)>]) -> Result<()> {
        for (level, tangents) in self.levels {
            let mut versions: SmallVec<[u32; 2]> = SmallVec::new();
            for output in outputs {
                let written = match output {
                    Some((output, Role::Written)) => tangent(output, level)?,
                    _ => None,
                };
                versions.push(written.map_or(0, |tangent| tangent.version()));
            }
            let results = {
                let _below = tangents::Ceiling::below(level);
                run(node, &tangents)?
            };
            for (position, (output, result)) in outputs.iter().zip(results).enumerate() {
                let Some((output, role)) = output else { continue };
                let Some(result) = result else {
                    if matches!(role, Role::Written) && tangent(output, level)?.is_some() {
                        return Err(Error::TangentNotWritten {}.into());
                    }
                    continue;
                };
                match role {
                    Role::Constant => return Err(Error::TangentOfConstant { position }.into()),
                    Role::Shown(input) => {
                        check_shown(&result, output, tangents.get(*input).and_then(Option::as_ref))?;
                    }
                    Role::New | Role::Written => {}
                }
                check_shape(&result, output)?;
                if let Role::Written = role {
                    check_written(&result, tangent(output, level)?, versions[position])?;
                    write(output, level, Some(&result))?;
                } else {
                    let _below = tangents::Ceiling::below(level);
                    // A real tangent stays as precise as the host has made it.
                    let both_real = result.dtype().is_float() && output.dtype().is_float();
                    let dtype = if both_real { result.dtype() } else { output.dtype() };
                    output.set_tangent(level, Some(fit(&result, output, dtype)?));
                }
            }
        }
        Ok(())
    }

    /// Gives a tensor that was written to its tangents.
    pub(crate) fn into_written(self, node: &NodeRef, x: &Tensor) -> Result<()> {
        for (level, tangents) in self.levels {
            let result = {
                let _below = tangents::Ceiling::below(level);
                run(node, &tangents)?.first_mut().and_then(Option::take)
            };
            write(x, level, result.as_ref())?;
        }
        Ok(())
    }
}

/// A tangent that a tensor had when it was written to has been written to as well, where it lies.
fn check_written(result: &Tensor, before: Option<Tensor>, version: u32) -> Result<()> {
    match before {
        Some(_) if result.version() == version => Err(Error::TangentNotWritten {}.into()),
        Some(before) if !before.is(result) => Err(Error::TangentReplaced {}.into()),
        _ => Ok(()),
    }
}

/// A tangent has the shape of its tensor.
pub(crate) fn check_shape(tangent: &Tensor, x: &Tensor) -> Result<()> {
    let (got, expected) = (tangent.layout().shape().to_vec(), x.layout().shape().to_vec());
    if got == expected { Ok(()) } else { Err(Error::TangentShape { got, expected }.into()) }
}

/// The tangent of a view of an input is a view of the tangent of that input, if it has one.
fn check_shown(tangent: &Tensor, x: &Tensor, of_input: Option<&Tensor>) -> Result<()> {
    if x.is_batched() {
        return Ok(());
    }
    let Some(base) = tangent.base() else { return Err(Error::TangentNoView {}.into()) };
    let (whose, wanted) = match of_input.map(|whole| (whole, whole.base())) {
        None => return Ok(()),
        Some((_, Some(whole))) => ("same base as the given", whole),
        Some((whole, None)) => ("given", whole.clone()),
    };
    if base.is(&wanted) { Ok(()) } else { Err(Error::TangentElsewhere { whose }.into()) }
}

fn run(node: &NodeRef, tangents: &Gradients) -> Result<Gradients> {
    // What is not recorded has no history, not even that of its outputs.
    let tracking = mode::is_grad_enabled() && node.edges().iter().any(Option::is_some);
    let at = At { node, needed: u64::MAX, tracking, seen: false };
    node.rule().jvp(&at, tangents)
}
