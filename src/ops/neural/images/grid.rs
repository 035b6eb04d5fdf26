//! Images as seen at the points of a grid, and their gradients, calculated at once. The host says what they are in other
//! operations; that is for those who see the parts and for derivatives of derivatives.

use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::apply::Outputs;
use crate::dispatch::composites::checkpointed::{AtOnce, HostCalculation};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::{Attributes, Shown};
use crate::kernels::neural::grid::{Beyond, View, Way};
use crate::ops::creation::copy;
use crate::ops::neural::scratch::elements;
use crate::shape::SharedLayout;
use crate::tensor::{Array, Tensor};

/// y(n, c, p) = Σ w(p, e) x(n, c, e) over the elements e around the point p, which is what `kernels::neural::grid` has.
struct Grid {
    way: Way,
    beyond: Beyond,
    align_corners: bool,
}

/// The calculation, and the nodes that it serves.
pub const CALCULATION: HostCalculation =
    HostCalculation { nodes: &["GridSampler2DBackward0", "GridSampler3DBackward0"], of: with };

/// The calculation with these parameters.
fn with(parameters: &Attributes) -> Option<Arc<dyn AtOnce>> {
    let find = |name| parameters.iter().find(|(own, _)| *own == name).map(|(_, value)| value);
    let way = match find("interpolation_mode")? {
        Shown::Int(0) => Way::Linear,
        Shown::Int(1) => Way::Nearest,
        _ => Way::Cubic,
    };
    let beyond = match find("padding_mode")? {
        Shown::Int(0) => Beyond::Zeros,
        Shown::Int(1) => Beyond::Edge,
        _ => Beyond::Mirror,
    };
    let align_corners = matches!(find("align_corners")?, Shown::Bool(true));
    Some(Arc::new(Grid { way, beyond, align_corners }))
}

impl Grid {
    fn view(&self, image: &Array, points: &Array) -> View {
        let (image, points) = (image.layout.shape(), points.layout.shape());
        let rank = image.len() - 2;
        let mut sizes = [1; 3];
        sizes[3 - rank..].copy_from_slice(&image[2..]);
        let count = points[1..points.len() - 1].iter().product();
        let Grid { way, beyond, align_corners } = *self;
        View { sizes, counts: [image[0], image[1], count], rank, way, beyond, align_corners }
    }
}

impl AtOnce for Grid {
    fn fits(&self, inputs: &[&Tensor]) -> bool {
        let dtype = inputs[0].dtype();
        let are_there = inputs.iter().all(|input| input.numel() > 0 && input.dtype() == dtype);
        are_there && matches!(dtype, DType::Float32 | DType::Float64)
    }

    fn forward(&self, inputs: &[&Tensor]) -> Result<Outputs> {
        let (image, points) = (inputs[0].array(), inputs[1].array());
        let (image, points) = (copy::in_order(&image)?, copy::in_order(&points)?);
        let (own, grid) = (image.layout.shape(), points.layout.shape());
        let mut y = Array::uninit_shape(&[&own[..2], &grid[1..grid.len() - 1]].concat(), image.dtype)?;
        let view = self.view(&image, &points);
        dispatch!(float image.dtype, T => {
            view.seen(elements::<T>(&image), elements::<T>(&points), y.fresh());
        }, else { unreachable!("the type was asked for") });
        Ok(smallvec![Tensor::from_array(y)])
    }

    fn backward(&self, kept: &[&Tensor], gradient: &Tensor, wanted: &[bool]) -> Result<Outputs> {
        let [image, points, gradient] = [kept[0], kept[1], gradient].map(Tensor::array);
        let [image, points, gradient] = [&image, &points, &gradient].map(copy::in_order);
        let (image, points, gradient) = (image?, points?, gradient?);
        let zeros = |of: &Array, is_wanted: bool| {
            let shape = if is_wanted { of.layout.shape() } else { &[0] };
            Array::zeroed(&SharedLayout::contiguous(shape)?, of.dtype)
        };
        let (mut to_image, mut to_points) = (zeros(&image, wanted[0])?, zeros(&points, wanted[1])?);
        let view = self.view(&image, &points);
        dispatch!(float image.dtype, T => {
            let given = [&image, &points, &gradient].map(|array| elements::<T>(array));
            view.gradients(given, to_image.owned(), to_points.owned());
        }, else { unreachable!("the type was asked for") });
        let found = [to_image, to_points].into_iter().zip(wanted);
        Ok(found.filter(|(_, wanted)| **wanted).map(|(found, _)| Tensor::from_array(found)).collect())
    }
}
