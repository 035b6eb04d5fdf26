//! Recording, which follows every forward: if an input requires grad, the operation's rule becomes a node that
//! leads back to the inputs, and the outputs get edges to it.

use smallvec::{SmallVec, smallvec};

use crate::dispatch::forward_mode::tangents;
use crate::error::{Error, Result};
use crate::graph::node::{RuleBox, boxed};
use crate::graph::observe::detach_site::{Cut, Reason, Standing};
use crate::graph::{Edge, Form, Forms, Node, NodeRef, Rule, check_kept, mode, saved_tensor_hooks};
use crate::tensor::{Array, Arrays, Outputs, Tensor};

/// Makes the rule of an operation, at most once; it is told which inputs need gradients. A trait object, so that the
/// functions that record are compiled once and not for every rule.
pub(crate) trait MakeRule {
    /// The rule.
    fn make(&mut self, needed: u64) -> RuleBox;
}

impl<R: Rule + 'static, F: FnOnce(u64) -> R> MakeRule for Option<F> {
    fn make(&mut self, needed: u64) -> RuleBox {
        match self.take() {
            Some(rule) => boxed(rule(needed)),
            None => unreachable!("the rule is made once"),
        }
    }
}

/// Follows the forward of every operation: records it if any input requires grad, and propagates tangents in forward
/// mode. `rule` is called only if one of the two is due, and told which inputs need gradients.
pub(crate) fn trace<R: Rule + 'static>(
    inputs: &[&Tensor],
    outputs: &[Tensor],
    rule: impl FnOnce(u64) -> R,
) -> Result<()> {
    trace_any(inputs, outputs, &mut Some(rule))
}

/// What is read of the inputs of an operation before it runs.
pub(crate) struct Looked {
    /// Their arrays.
    pub(crate) arrays: SmallVec<[Array; 3]>,
    /// What results inherit of them if nothing is recorded.
    pub(crate) standing: Standing,
    /// Their edges, as far as they are at hand; none where nothing is recorded.
    edges: SmallVec<[Option<Edge>; 2]>,
    /// A bit for each of the first inputs whose edge has to be computed.
    unknown: u64,
}

impl Looked {
    /// The edges of the inputs.
    pub(crate) fn edges(self, inputs: &[&Tensor]) -> Result<SmallVec<[Option<Edge>; 2]>> {
        let mut edges = self.edges;
        for (index, (edge, input)) in edges.iter_mut().zip(inputs).enumerate() {
            if index >= 64 || self.unknown >> index & 1 == 1 {
                *edge = input.gradient_edge()?;
            }
        }
        Ok(edges)
    }
}

/// Looks at each input once.
pub(crate) fn look(inputs: &[&Tensor]) -> Looked {
    let records = mode::is_grad_enabled();
    let mut arrays = SmallVec::with_capacity(inputs.len());
    let mut edges = SmallVec::with_capacity(if records { inputs.len() } else { 0 });
    let (mut all, mut unknown) = (Standing::default(), 0);
    for (index, input) in inputs.iter().enumerate() {
        let reading = input.read();
        arrays.push(reading.array().clone());
        let requires_grad = reading.requires_grad();
        let edge = if records && requires_grad == Some(true) { reading.edge() } else { None };
        let standing = reading.standing();
        drop(reading);
        // The edge of a view follows from its base, and a new leaf makes its node.
        all = all.and(if requires_grad.is_some() { standing } else { input.standing() });
        if records {
            let is_unknown = requires_grad != Some(false) && edge.is_none();
            unknown |= u64::from(is_unknown).checked_shl(index as u32).unwrap_or(0);
            edges.push(edge);
        }
    }
    Looked { arrays, standing: all, edges, unknown }
}

/// Whether an operation on inputs of this standing is recorded, on a thread that is not special.
#[inline]
pub(crate) fn is_recorded(inputs: &[&Tensor], standing: Standing) -> bool {
    standing.requires_grad && mode::is_grad_enabled() && !passes_by(inputs.iter().copied().map(Some))
}

/// The outputs of an operation that was not recorded.
pub(crate) fn unrecorded(numbers: Arrays, standing: Standing) -> Outputs {
    numbers.into_iter().map(|y| Tensor::unrecorded(y, standing)).collect()
}

/// Records a rule, and makes what the operation computed its outputs.
pub(crate) fn record_numbers(
    rule: RuleBox,
    edges: SmallVec<[Option<Edge>; 2]>,
    mut numbers: Arrays,
) -> Result<Outputs> {
    if numbers.len() == 1
        && let Some(only) = numbers.pop()
    {
        return Ok(smallvec![record_new_boxed(rule, edges, only)?]);
    }
    let outputs: Outputs = numbers.into_iter().map(Tensor::from_array).collect();
    record_boxed(rule, edges, &outputs)?;
    Ok(outputs)
}

/// `trace` of any rule.
pub(crate) fn trace_any(inputs: &[&Tensor], outputs: &[Tensor], rule: &mut dyn MakeRule) -> Result<()> {
    if mode::special() {
        let inputs: SmallVec<[Option<&Tensor>; 3]> = inputs.iter().copied().map(Some).collect();
        return tangents::trace_any(&inputs, outputs, &mut saved_tensor_hooks::PackedInputs::default(), rule);
    }
    let standing = inputs.iter().map(|input| input.standing()).fold(Standing::default(), Standing::and);
    if is_recorded(inputs, standing) {
        let edges = gradient_edges(inputs)?;
        let rule = rule.make(needed(&edges));
        record_boxed(rule, edges, outputs)?;
    } else {
        stop(standing, outputs);
    }
    Ok(())
}

/// Whether an operation is not recorded although an input requires grad: all operands are tensors that were made in
/// inference mode.
#[inline]
pub(crate) fn passes_by<'a>(inputs: impl IntoIterator<Item = Option<&'a Tensor>>) -> bool {
    mode::frozen_leaves() && inputs.into_iter().all(|input| input.is_some_and(Tensor::is_inference))
}

/// Makes an `FnMut` of an `FnOnce`: functions that are compiled once for all callers take a `&mut dyn FnMut`.
pub(crate) fn only_once<T>(f: impl FnOnce(&Tensor) -> T) -> impl FnMut(&Tensor) -> T {
    let mut f = Some(f);
    move |x| match f.take() {
        Some(f) => f(x),
        None => unreachable!("it is called once"),
    }
}

/// Notes on outputs without a history where it was lost, if an input had one (for error messages).
pub(crate) fn stop(standing: Standing, outputs: &[Tensor]) {
    if standing == Standing::default() {
        return;
    }
    for output in outputs {
        let reason = if output.dtype().is_differentiable() { Reason::NoGrad } else { Reason::Integer };
        output.set_cut(standing.cut(reason));
    }
}

/// Whether an operation on these inputs is recorded.
pub fn records(inputs: &[&Tensor]) -> bool {
    mode::is_grad_enabled() && inputs.iter().any(|input| input.requires_grad())
}

/// Refuses arguments that no gradients pass, where these would be recorded.
pub(crate) fn refuse_gradients<'a>(
    operation: &'static str,
    arguments: impl IntoIterator<Item = (&'static str, Option<&'a Tensor>)>,
) -> Result<()> {
    for (argument, tensor) in arguments {
        if tensor.is_some_and(|tensor| records(&[tensor])) {
            return Err(Error::ArgumentGradient { operation, argument }.into());
        }
    }
    Ok(())
}

/// Where gradients with respect to the inputs go.
pub fn gradient_edges(inputs: &[&Tensor]) -> Result<SmallVec<[Option<Edge>; 2]>> {
    let mut edges = SmallVec::with_capacity(inputs.len());
    for input in inputs {
        edges.push(input.gradient_edge()?);
    }
    Ok(edges)
}

/// A bit for each edge that leads somewhere.
pub fn needed(edges: &[Option<Edge>]) -> u64 {
    edges.iter().take(64).enumerate().fold(0, |bits, (index, edge)| bits | u64::from(edge.is_some()) << index)
}

/// What a node remembers of its output.
pub(crate) fn form(tensor: &Tensor) -> Form {
    let reading = tensor.read();
    Form { layout: reading.array().layout.clone(), dtype: reading.array().dtype.resolved() }
}

/// Records a rule with one output that is not a tensor yet, and makes it one: the short way for
/// elementwise operations.
pub(crate) fn record_new(
    rule: impl Rule + 'static,
    edges: SmallVec<[Option<Edge>; 2]>,
    y: Array,
) -> Result<Tensor> {
    record_new_boxed(boxed(rule), edges, y)
}

fn record_new_boxed(rule: RuleBox, edges: SmallVec<[Option<Edge>; 2]>, y: Array) -> Result<Tensor> {
    check_kept(&*rule)?;
    let form = Form { layout: y.layout.clone(), dtype: y.dtype.resolved() };
    let differentiable = form.dtype.is_differentiable();
    let node = Node::record_boxed(rule, edges, Forms::one(form));
    Ok(match differentiable {
        true => Tensor::output_of(node, y),
        false => Tensor::unrecorded(y, Standing { requires_grad: true, cut: Cut::NONE }),
    })
}

/// Records a rule and makes the floating-point outputs its outputs.
pub fn record(
    rule: impl Rule + 'static,
    edges: SmallVec<[Option<Edge>; 2]>,
    outputs: &[Tensor],
) -> Result<()> {
    record_boxed(boxed(rule), edges, outputs)
}

fn record_boxed(rule: RuleBox, edges: SmallVec<[Option<Edge>; 2]>, outputs: &[Tensor]) -> Result<()> {
    if let Some(forms) = forms(outputs) {
        check_kept(&*rule)?;
        attach(&Node::record_boxed(rule, edges, forms), outputs);
    }
    Ok(())
}

/// What a node remembers of its outputs, if it has any. Indices and the like that come last are none of
/// its outputs: no gradient arrives there.
pub(crate) fn forms(outputs: &[Tensor]) -> Option<Forms> {
    let (first, further) = outputs.split_first()?;
    if further.is_empty() {
        return Some(Forms::one(form(first)));
    }
    let count =
        further.iter().rposition(|output| output.dtype().is_differentiable()).map_or(0, |last| last + 1);
    let further = &further[..count];
    Some(Forms { first: form(first), further: further.iter().map(form).collect() })
}

/// Makes the floating-point outputs those of a node.
pub(crate) fn attach(node: &NodeRef, outputs: &[Tensor]) {
    for (number, output) in (0..).zip(outputs) {
        if (number as usize) < node.outputs() && node.form(number).dtype.is_differentiable() {
            output.set_edge(Some(Edge { node: node.clone(), output: number }));
        } else {
            output.set_cut(Cut::here(Reason::Integer));
        }
    }
}
