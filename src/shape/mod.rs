//! Shapes and strides: pure functions on slices. `Layout` puts them together. No memory here.

use smallvec::SmallVec;

use crate::error::{Error, Result};

mod layout;
mod order;
mod shared;

pub use layout::Layout;
pub use order::{
    channels_last_strides, is_channels_last, memory_order, order_of_strides, result_strides, strides_in,
    suggests_channels_last,
};
pub use shared::SharedLayout;

/// Sizes, strides or dimension numbers; inline up to four.
pub type Dims = SmallVec<[usize; 4]>;

/// How many elements a shape has, if that can be counted with. A dimension without elements does not rescue the
/// others: whoever leaves it out, or multiplies some of the sizes, must be able to count too.
pub fn element_count(shape: &[usize]) -> Option<usize> {
    let places = shape.iter().try_fold(1usize, |places, &size| places.checked_mul(size.max(1)))?;
    isize::try_from(places).is_ok().then(|| if shape.contains(&0) { 0 } else { places })
}

/// How many elements something new of this shape has.
pub fn counted(shape: &[usize]) -> Result<usize> {
    element_count(shape).ok_or_else(|| Error::TooManyElements { shape: signed(shape) }.into())
}

/// Strides of row-major elements, as torch gives them: sizes of zero count as one.
pub fn contiguous_strides(shape: &[usize]) -> Dims {
    let mut strides: Dims = SmallVec::from_elem(1, shape.len());
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim].max(1);
    }
    strides
}

/// Whether the strides are row-major, whatever the strides of dimensions of size one say.
pub fn is_contiguous(shape: &[usize], strides: &[usize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1;
    for (&size, &stride) in shape.iter().zip(strides).rev() {
        if size != 1 {
            if stride != expected {
                return false;
            }
            expected *= size;
        }
    }
    true
}

/// Checks sizes given from outside: none negative, and their product addressable.
pub fn checked_shape(shape: &[i64]) -> Result<Dims> {
    if let Some(&dim) = shape.iter().find(|&&size| size < 0) {
        return Err(Error::NegativeDimension { dim, shape: shape.to_vec() }.into());
    }
    let sizes: Dims = shape.iter().map(|&size| size as usize).collect();
    counted(&sizes)?;
    Ok(sizes)
}

/// Sizes as they are given from outside.
pub fn signed(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

/// A dimension given from outside, counted from the end when negative.
/// A tensor without dimensions answers to `0` and `-1`.
pub fn normalize_dim(dim: i64, ndim: usize) -> Result<usize> {
    let count = ndim.max(1) as i64;
    if dim < -count || dim >= count {
        return Err(Error::DimOutOfRange { dim, low: -count, high: count - 1 }.into());
    }
    Ok(if dim < 0 { dim + count } else { dim } as usize)
}

/// Up to how many dimensions of a tensor one names some: torch keeps a bit for each.
const NAMED: usize = 64;

/// Dimensions given from outside, each once, in ascending order. None given means all of them.
pub fn normalize_dims(dims: &[i64], ndim: usize) -> Result<Dims> {
    if !dims.is_empty() && ndim > NAMED {
        return Err(Error::TooManyToName {}.into());
    }
    let mut normal = Dims::with_capacity(dims.len());
    for &dim in dims {
        let dim = normalize_dim(dim, ndim)?;
        if normal.contains(&dim) {
            return Err(Error::DimRepeated { dim }.into());
        }
        normal.push(dim);
    }
    normal.sort_unstable();
    if ndim == 0 {
        normal.clear();
    } else if dims.is_empty() {
        normal.extend(0..ndim);
    }
    Ok(normal)
}

/// The shape that both broadcast to.
pub fn broadcast(left: &[usize], right: &[usize]) -> Result<Dims> {
    let ndim = left.len().max(right.len());
    let mut shape: Dims = SmallVec::from_elem(1, ndim);
    // Of several mismatches the innermost is told of.
    for dim in (0..ndim).rev() {
        let a = (dim + left.len()).checked_sub(ndim).map_or(1, |d| left[d]);
        let b = (dim + right.len()).checked_sub(ndim).map_or(1, |d| right[d]);
        shape[dim] = match (a, b) {
            (a, b) if a == b => a,
            (1, b) => b,
            (a, 1) => a,
            (left, right) => return Err(Error::NotBroadcastable { left, right, dim }.into()),
        };
    }
    Ok(shape)
}

/// Whether a tensor of shape `from` can be expanded to `to`.
pub fn is_expandable(from: &[usize], to: &[usize]) -> bool {
    from.len() <= to.len() && from.iter().rev().zip(to.iter().rev()).all(|(&a, &b)| a == b || a == 1)
}

/// Refuses to expand to the shape of a result what cannot be.
pub fn check_expandable(from: &[usize], to: &[usize]) -> Result<()> {
    if is_expandable(from, to) {
        return Ok(());
    }
    let broadcast = broadcast(to, from)?.to_vec();
    Err(Error::OutputShape { output: to.to_vec(), broadcast }.into())
}

/// Strides with which elements of `shape` stand for the larger shape `target`: zero where one
/// element serves many. The caller has checked `is_expandable`.
pub fn expanded_strides(shape: &[usize], strides: &[usize], target: &[usize]) -> Dims {
    let lead = target.len() - shape.len();
    let mut expanded: Dims = SmallVec::from_elem(0, target.len());
    for dim in 0..shape.len() {
        expanded[lead + dim] = if shape[dim] == 1 && target[lead + dim] != 1 { 0 } else { strides[dim] };
    }
    // A dimension in front that repeats nothing lies as if all that follow were one element of it.
    for dim in (0..lead).rev().filter(|_| !shape.is_empty()) {
        if target[dim] == 1 {
            expanded[dim] = target[dim + 1] * expanded[dim + 1];
        }
    }
    expanded
}

/// The shape without the given (ascending) dimensions, or with ones in their place.
pub fn reduced_shape(shape: &[usize], dims: &[usize], keepdim: bool) -> Dims {
    let mut reduced = Dims::new();
    for (dim, &size) in shape.iter().enumerate() {
        if !dims.contains(&dim) {
            reduced.push(size);
        } else if keepdim {
            reduced.push(1);
        }
    }
    reduced
}

/// Strides that show the elements of (`shape`, `strides`) as `target` without moving them, if
/// there are any. Both shapes have the same number of elements.
pub fn view_strides(shape: &[usize], strides: &[usize], target: &[usize]) -> Option<Dims> {
    if shape.iter().product::<usize>() == 0 {
        return Some(if shape == target { strides.into() } else { contiguous_strides(target) });
    }
    let mut result: Dims = SmallVec::from_elem(1, target.len());
    let mut open = target.len();
    let mut chunk_stride = strides.last().copied().unwrap_or(1);
    let (mut source_size, mut target_size) = (1, 1);
    for dim in (0..shape.len()).rev() {
        source_size *= shape[dim];
        let ends_chunk = dim == 0 || (shape[dim - 1] != 1 && strides[dim - 1] != source_size * chunk_stride);
        if !ends_chunk {
            continue;
        }
        while open > 0 && (target_size < source_size || target[open - 1] == 1) {
            open -= 1;
            result[open] = target_size * chunk_stride;
            target_size *= target[open];
        }
        if target_size != source_size {
            return None;
        }
        if dim > 0 {
            chunk_stride = strides[dim - 1];
            (source_size, target_size) = (1, 1);
        }
    }
    while open > 0 {
        open -= 1;
        result[open] = target_size * chunk_stride;
    }
    Some(result)
}

/// Fills in the one `-1` of a shape given from outside.
pub fn infer_shape(shape: &[i64], numel: usize) -> Result<Dims> {
    let mut inferred = None;
    let mut known: usize = 1;
    for (dim, &size) in shape.iter().enumerate() {
        match size {
            -1 if inferred.is_some() => return Err(Error::ViewInferTwice {}.into()),
            -1 => inferred = Some(dim),
            size if size < 0 => {
                return Err(Error::ViewNegative { size, index: dim, shape: shape.to_vec() }.into());
            }
            size => {
                known = known
                    .checked_mul(size as usize)
                    .ok_or_else(|| Error::TooManyElements { shape: shape.to_vec() })?;
            }
        }
    }
    let mut sizes: Dims = shape.iter().map(|&size| size.max(0) as usize).collect();
    match inferred {
        Some(_) if known == 0 && numel == 0 => {
            return Err(Error::ViewAmbiguous { shape: shape.to_vec() }.into());
        }
        Some(dim) if known != 0 && numel.is_multiple_of(known) => sizes[dim] = numel / known,
        None if known == numel => {}
        _ => return Err(Error::ViewSize { shape: shape.to_vec(), numel }.into()),
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_from_the_end() {
        assert_eq!(broadcast(&[2, 1, 3], &[4, 1]).unwrap().as_slice(), [2, 4, 3]);
        assert_eq!(broadcast(&[], &[0, 1]).unwrap().as_slice(), [0, 1]);
        let error = broadcast(&[2, 3], &[2]).unwrap_err();
        assert!(matches!(*error, Error::NotBroadcastable { left: 3, right: 2, dim: 1 }));
    }

    #[test]
    fn one_size_may_be_inferred() {
        assert_eq!(infer_shape(&[2, -1], 6).unwrap().as_slice(), [2, 3]);
        assert!(infer_shape(&[-1, -1], 6).is_err());
        assert!(infer_shape(&[4, -1], 6).is_err());
        assert!(infer_shape(&[-1, 0], 0).is_err());
        assert!(infer_shape(&[i64::MAX, i64::MAX], 6).is_err());
    }

    #[test]
    fn views_exist_where_chunks_match() {
        // A transposed 2x3 tensor has no flat view, but splits inside its dimensions.
        assert_eq!(view_strides(&[3, 2], &[1, 3], &[6]), None);
        assert_eq!(view_strides(&[4, 2], &[1, 4], &[2, 2, 2]).unwrap().as_slice(), [2, 1, 4]);
        assert_eq!(view_strides(&[2, 3], &[3, 1], &[3, 1, 2]).unwrap().as_slice(), [2, 2, 1]);
        assert_eq!(view_strides(&[], &[], &[1, 1]).unwrap().as_slice(), [1, 1]);
    }

    #[test]
    fn absurd_shapes_are_refused() {
        assert!(checked_shape(&[1 << 40, 1 << 40]).is_err());
        assert!(checked_shape(&[0, i64::MAX, 2]).is_err());
        assert!(checked_shape(&[-1]).is_err());
        assert_eq!(checked_shape(&[0, 3]).unwrap().as_slice(), [0, 3]);
    }

    #[test]
    fn dimensions_count_from_both_ends() {
        assert_eq!(normalize_dim(-1, 3).unwrap(), 2);
        assert_eq!(normalize_dim(-1, 0).unwrap(), 0);
        assert!(normalize_dim(3, 3).is_err());
        assert!(normalize_dims(&[0, -3], 3).is_err());
        assert_eq!(normalize_dims(&[], 3).unwrap().as_slice(), [0, 1, 2]);
    }
}
