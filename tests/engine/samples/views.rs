//! Samples of views, indexing and joins.

use rushlight::dtype::Scalar;
use rushlight::ops;
use rushlight::ops::creation::cast;
use rushlight::ops::geometry::split::Sections;
use rushlight::ops::geometry::squeeze::Squeezed;
use rushlight::ops::geometry::{
    expand, join, part, permute, rearrange, reshape, split, squeeze, strided, triangle,
};
use rushlight::ops::indexing::index::Index;
use rushlight::ops::indexing::{along, gather, index, indexed, masked};
use rushlight::{Result, Tensor};

use super::{Sample, positive, sample, signed};

fn integers(shape: &[usize], values: &[i64]) -> Tensor {
    Tensor::from_slice(shape, values).unwrap()
}

fn mask(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    let values: Vec<rushlight::dtype::Bool> =
        (0..count).map(|i| rushlight::dtype::Bool::new(i % 3 != 1)).collect();
    Tensor::from_slice(shape, &values).unwrap()
}

fn range(start: i64, stop: i64, step: i64) -> Index {
    Index::Slice { start: Some(start), stop: Some(stop), step: Some(step) }
}

/// A sample with several outputs.
fn several(
    op: &'static str,
    inputs: Vec<Tensor>,
    call: impl Fn(&[Tensor]) -> Result<Vec<Tensor>> + 'static,
) -> Sample {
    Sample { op, inputs, call: Box::new(call) }
}

/// The samples.
pub fn samples() -> Vec<Sample> {
    let mut samples = views();
    samples.extend(in_place());
    samples.extend(parts());
    samples.extend(indexing());
    samples.extend(slices());
    samples.extend(joins());
    samples
}

fn views() -> Vec<Sample> {
    vec![
        sample("view", vec![signed(&[2, 0])], |x| reshape::view(&x[0], &[0, 3])),
        sample("reshape", vec![signed(&[2, 3])], |x| reshape::reshape(&permute::t(&x[0])?, &[6])),
        sample("reshape", vec![signed(&[2, 3])], |x| {
            reshape::reshape(&part::narrow(&x[0], 1, 0, 2)?, &[2, 2, 1])
        }),
        sample("flatten", vec![signed(&[2, 2, 2])], |x| reshape::flatten(&x[0], 1, -1)),
        sample("flatten", vec![signed(&[])], |x| reshape::flatten(&x[0], 0, -1)),
        sample("unflatten", vec![signed(&[2, 4])], |x| reshape::unflatten(&x[0], -1, &[2, -1])),
        sample("ravel", vec![signed(&[2, 3])], |x| reshape::ravel(&permute::t(&x[0])?)),
        sample("alias", vec![signed(&[2])], |x| reshape::alias(&x[0])),
        sample("expand", vec![signed(&[])], |x| expand::expand(&x[0], &[2, 0, 1])),
        several("expand", vec![signed(&[2, 1]), signed(&[3])], |x| {
            expand::broadcast_tensors(&[&x[0], &x[1]])
        }),
        sample("t", vec![signed(&[2, 3])], |x| permute::t(&x[0])),
        sample("t", vec![signed(&[3])], |x| permute::t(&x[0])),
        sample("transpose", vec![signed(&[2, 3, 2])], |x| permute::transpose(&x[0], 0, -1)),
        sample("permute", vec![signed(&[2, 3, 2])], |x| permute::permute(&x[0], &[2, 0, 1])),
        sample("permute", vec![signed(&[2, 3, 2])], |x| permute::movedim(&x[0], &[0], &[-1])),
        sample("squeeze", vec![signed(&[1, 3, 1])], |x| squeeze::squeeze(&x[0], Squeezed::All)),
        sample("squeeze", vec![signed(&[1, 3, 1])], |x| squeeze::squeeze(&x[0], Squeezed::One(2))),
        sample("squeeze", vec![signed(&[1, 3, 1])], |x| squeeze::squeeze(&x[0], Squeezed::Several(&[0, 1]))),
        sample("unsqueeze", vec![signed(&[2, 3])], |x| squeeze::unsqueeze(&permute::t(&x[0])?, -2)),
    ]
}

fn in_place() -> Vec<Sample> {
    vec![
        sample("t", vec![signed(&[2, 3])], |x| {
            let y = ops::mul(&x[0], &x[0])?;
            permute::t_(&y)?;
            ops::mul(&y, &y)
        }),
        sample("squeeze", vec![signed(&[2, 3])], |x| {
            let y = ops::mul(&x[0], &x[0])?;
            let window = part::narrow(&y, 1, 1, 1)?;
            squeeze::squeeze_(&window, Squeezed::One(1))?;
            ops::mul_(&window, 3.0)?;
            ops::mul(&y, &y)
        }),
        sample("transpose", vec![signed(&[2, 3])], |x| {
            let y = ops::mul(&x[0], 2.0)?;
            let window = part::select(&y, 0, 1)?;
            squeeze::unsqueeze_(&window, 0)?;
            permute::transpose_(&window, 0, 1)?;
            ops::mul(&window, &window)
        }),
        sample("fill_", vec![signed(&[2, 3]), signed(&[])], |x| {
            let y = ops::mul(&x[0], &x[0])?;
            cast::fill_(&part::select(&y, 1, 0)?, &x[1])?;
            ops::mul(&y, &y)
        }),
        sample("clone", vec![signed(&[2, 3])], |x| cast::clone(&permute::t(&x[0])?)),
        sample("clone", vec![signed(&[2, 3])], |x| cast::contiguous(&permute::t(&x[0])?)),
    ]
}

fn parts() -> Vec<Sample> {
    vec![
        sample("select", vec![signed(&[2, 3])], |x| part::select(&x[0], 1, -1)),
        sample("slice", vec![signed(&[2, 5])], |x| part::slice(&x[0], 1, Some(-4), None, 2)),
        sample("slice", vec![signed(&[2])], |x| part::slice(&x[0], 0, Some(5), None, 1)),
        sample("slice", vec![signed(&[4])], |x| part::narrow(&x[0], 0, -3, 2)),
        sample("diagonal", vec![signed(&[2, 3])], |x| part::diagonal(&x[0], 1, 0, 1)),
        sample("diagonal", vec![signed(&[2, 2, 3])], |x| part::diagonal(&x[0], -1, 2, 0)),
        sample("as_strided", vec![signed(&[6])], |x| {
            strided::as_strided(&part::narrow(&x[0], 0, 1, 4)?, &[2, 2], &[2, 1], None)
        }),
        several("unbind", vec![signed(&[2, 3])], |x| split::unbind(&x[0], 1)),
        sample("unbind", vec![signed(&[2, 3])], |x| Ok(split::unbind(&x[0], 0)?.remove(1))),
        several("split", vec![signed(&[2, 5])], |x| split::split(&x[0], 2, 1)),
        several("split", vec![signed(&[3])], |x| split::split_with_sizes(&x[0], &[2, 0, 1], 0)),
        sample("split", vec![signed(&[4])], |x| Ok(split::chunk(&x[0], 3, 0)?.remove(0))),
        several("slice", vec![signed(&[5])], |x| split::tensor_split(&x[0], Sections::Count(3), 0)),
        sample("flip", vec![signed(&[2, 3])], |x| rearrange::flip(&x[0], &[1, 0])),
        sample("flip", vec![signed(&[])], |x| rearrange::flip(&x[0], &[])),
        sample("roll", vec![signed(&[2, 3])], |x| rearrange::roll(&x[0], &[1, -1], &[0, 1])),
        sample("roll", vec![signed(&[2, 3])], |x| rearrange::roll(&permute::t(&x[0])?, &[4], &[])),
        sample("repeat", vec![signed(&[2, 1])], |x| rearrange::repeat(&x[0], &[2, 1, 3])),
        sample("repeat", vec![signed(&[])], |x| rearrange::repeat(&x[0], &[])),
        sample("repeat", vec![signed(&[2])], |x| rearrange::repeat_interleave(&x[0], 2, None)),
        sample("index_select", vec![signed(&[2, 3])], |x| {
            rearrange::repeat_interleave_each(&x[0], &integers(&[3], &[2, 0, 1]), Some(1))
        }),
        sample("tril", vec![signed(&[3, 2])], |x| triangle::tril(&permute::t(&x[0])?, 0)),
        sample("triu", vec![signed(&[2, 2, 2])], |x| triangle::triu(&x[0], 1)),
        sample("diag", vec![signed(&[2, 3])], |x| triangle::diag(&x[0], -1)),
        sample("diag", vec![signed(&[2])], |x| triangle::diag(&x[0], 1)),
    ]
}

fn indexing() -> Vec<Sample> {
    let get = |items: Vec<Index>, shape: &[usize]| {
        sample("index", vec![signed(shape)], move |x| index::get(&x[0], &items))
    };
    let put = |items: Vec<Index>, shape: &[usize], values: &[usize]| {
        sample("index_put", vec![signed(shape), positive(values)], move |x| {
            let y = ops::mul(&x[0], &x[0])?;
            index::put(&y, &items, (&x[1]).into())?;
            ops::mul(&y, &y)
        })
    };
    let tensor = |shape: &[usize], values: &[i64]| Index::Indices(integers(shape, values));
    vec![
        get(vec![Index::Int(-1), Index::NewAxis, range(0, 3, 2)], &[2, 3]),
        get(vec![tensor(&[3], &[1, 0, 1])], &[2, 3]),
        get(vec![range(0, 2, 1), tensor(&[2, 1], &[0, 2]), tensor(&[2], &[0, -1])], &[2, 3, 2]),
        get(vec![tensor(&[2], &[0, 1]), Index::Ellipsis, tensor(&[2], &[1, 1])], &[2, 3, 2]),
        get(vec![Index::Indices(mask(&[2, 3]))], &[2, 3]),
        get(vec![Index::Bool(true), Index::Int(0)], &[2, 3]),
        get(vec![Index::Bool(false)], &[2]),
        put(vec![Index::Int(0)], &[2, 3], &[3]),
        put(vec![Index::Ellipsis], &[2, 3], &[]),
        put(vec![tensor(&[2], &[1, 0])], &[2, 3], &[1, 2, 1]),
        put(vec![range(0, 2, 1), tensor(&[2], &[0, 2])], &[2, 3], &[2]),
        put(vec![Index::Indices(mask(&[2, 3]))], &[2, 3], &[]),
        sample("index_put", vec![signed(&[3]), signed(&[4])], |x| {
            indexed::index_put(&x[0], &[&integers(&[4], &[0, 2, 0, 0])], &x[1], true)
        }),
        sample("index_put", vec![signed(&[2, 3]), signed(&[2])], |x| {
            let rows = integers(&[2], &[0, 1]);
            indexed::index_put(&permute::t(&x[0])?, &[&rows, &rows], &x[1], false)
        }),
        sample("masked_select", vec![signed(&[2, 3])], |x| masked::masked_select(&x[0], &mask(&[3]))),
        sample("masked_select", vec![signed(&[3])], |x| masked::masked_select(&x[0], &mask(&[2, 3]))),
        sample("masked_scatter", vec![signed(&[2, 3]), signed(&[5])], |x| {
            masked::masked_scatter(&x[0], &mask(&[2, 3]), &x[1])
        }),
        sample("take", vec![signed(&[2, 3])], |x| {
            masked::take(&permute::t(&x[0])?, &integers(&[2, 2], &[1, -1, 1, 0]))
        }),
    ]
}

fn slices() -> Vec<Sample> {
    let rows = || integers(&[2, 2], &[0, 1, 1, 1]);
    let columns = || integers(&[2], &[2, 0]);
    let twice = || integers(&[2], &[1, 1]);
    vec![
        sample("gather", vec![signed(&[2, 3])], move |x| gather::gather(&x[0], 0, &rows())),
        sample("gather", vec![signed(&[])], |x| gather::gather(&x[0], 0, &integers(&[2], &[0, 0]))),
        sample("scatter", vec![signed(&[2, 3]), signed(&[1, 2])], |x| {
            gather::scatter(&permute::t(&x[0])?, 0, &integers(&[1, 2], &[1, 0]), &x[1])
        }),
        sample("scatter", vec![signed(&[2, 3])], move |x| {
            gather::scatter(&x[0], 0, &rows(), Scalar::Float(2.0))
        }),
        sample("scatter_add", vec![signed(&[2, 3]), signed(&[2, 2])], move |x| {
            gather::scatter_add(&x[0], 0, &rows(), &x[1])
        }),
        sample("index_select", vec![signed(&[2, 3])], move |x| along::index_select(&x[0], 1, &columns())),
        sample("index_select", vec![signed(&[])], |x| along::index_select(&x[0], 0, &integers(&[1], &[0]))),
        sample("index_add", vec![signed(&[2, 3]), signed(&[2, 2])], move |x| {
            along::index_add(&x[0], 1, &twice(), &x[1], Scalar::Float(1.5))
        }),
        sample("index_copy", vec![signed(&[2, 3]), signed(&[2, 2])], move |x| {
            along::index_copy(&x[0], 1, &columns(), &x[1])
        }),
        sample("index_fill", vec![signed(&[2, 3])], move |x| {
            along::index_fill(&x[0], 1, &columns(), Scalar::Float(0.5))
        }),
        sample("index_fill", vec![signed(&[2, 3]), signed(&[])], move |x| {
            along::index_fill(&permute::t(&x[0])?, 0, &columns(), &x[1])
        }),
    ]
}

fn joins() -> Vec<Sample> {
    vec![
        sample("cat", vec![signed(&[2, 1]), positive(&[2, 2]), signed(&[0])], |x| {
            join::cat(&[&x[0], &x[1], &x[2]], -1)
        }),
        sample("cat", vec![signed(&[2, 3])], |x| join::cat(&[&permute::t(&x[0])?, &permute::t(&x[0])?], 0)),
        sample("cat", vec![signed(&[])], |x| join::hstack(&[&x[0], &x[0]])),
        sample("block_diag", vec![signed(&[2, 1]), positive(&[2]), signed(&[])], |x| {
            join::diagonal::block_diag(&[&x[0], &x[1], &x[2], &x[0]])
        }),
        sample("stack", vec![signed(&[2]), positive(&[2])], |x| join::stack(&[&x[0], &x[1], &x[0]], 1)),
        several("expand", vec![signed(&[2]), signed(&[3])], |x| join::meshgrid(&[&x[0], &x[1]], "xy")),
    ]
}
