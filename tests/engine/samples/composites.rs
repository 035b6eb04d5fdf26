//! Samples of operations that are composed of others, and of those that belong to no other file.

use rushlight::Tensor;
use rushlight::dispatch::unary;
use rushlight::dtype::{DType, Scalar};
use rushlight::ops::complex::angle;
use rushlight::ops::composite::contract::{addbmm, addr};
use rushlight::ops::composite::distances::{ByProducts, cdist, dist};
use rushlight::ops::composite::places::rot90;
use rushlight::ops::composite::series::{cross, renorm};
use rushlight::ops::creation::cast::{Order, to_copy};
use rushlight::ops::geometry::part;
use rushlight::ops::linalg::elimination::lu;
use rushlight::ops::linalg::factors::lu_unpack;
use rushlight::ops::neural::labelling::label_states;
use rushlight::ops::pointwise::gamma::mvlgamma;
use rushlight::ops::pointwise::special::Ndtri;
use rushlight::ops::reduction::extremes_over::aminmax;
use rushlight::ops::{add, mul};

use super::{Sample, positive, sample, signed};

const BETA: Scalar = Scalar::Float(0.7);
const ALPHA: Scalar = Scalar::Float(-1.5);

/// The samples.
pub fn samples() -> Vec<Sample> {
    let mut samples = vec![
        sample("addbmm", vec![signed(&[2, 2]), signed(&[3, 2, 3]), positive(&[3, 3, 2])], |x| {
            addbmm(&x[0], &x[1], &x[2], BETA, ALPHA)
        }),
        sample("addr", vec![signed(&[2, 3]), signed(&[2]), positive(&[3])], |x| {
            addr(&x[0], &x[1], &x[2], BETA, ALPHA)
        }),
        sample("dist", vec![signed(&[3]), positive(&[2, 3])], |x| dist(&x[0], &x[1], 3.0.into())),
        sample("rot90", vec![signed(&[2, 3])], |x| rot90(&x[0], 1, &[0, 1])),
        sample("renorm", vec![signed(&[3, 4])], |x| renorm(&x[0], 2.0.into(), 0, 0.9.into())),
        sample("cross", vec![signed(&[2, 3]), positive(&[2, 3])], |x| cross(&x[0], &x[1], -1)),
        sample("to_copy", vec![signed(&[2, 3])], |x| to_copy(&x[0], DType::Float64, Order::RowMajor)),
        sample("mvlgamma", vec![positive(&[2, 3])], |x| mvlgamma(&add(&x[0], 1.0)?, 2)),
        sample("angle", vec![signed(&[3])], |x| angle(&x[0])),
        sample("special_ndtri", vec![positive(&[3])], |x| unary::apply(Ndtri, &mul(&x[0], 0.5)?)),
        sample("label_states", vec![signed(&[3, 3])], |x| {
            let skips = Tensor::from_slice(&[3], &[0.0, 0.0, 1.0])?;
            let skips = rushlight::ops::creation::cast::to_dtype(&skips, DType::Bool)?;
            part::select(&label_states(&x[0], &skips)?, 0, 2)
        }),
        sample("lu_unpack", vec![signed(&[3, 3])], |x| {
            let (_, lower, upper) = lu_unpack(&x[0], &Tensor::from_slice(&[3], &[2i32, 3, 3])?)?;
            add(&lower, &upper)
        }),
        Sample {
            op: "lu",
            inputs: vec![signed(&[3, 3])],
            call: Box::new(|x| lu(&x[0], true).map(|(_, lower, upper)| vec![lower, upper])),
        },
        Sample {
            op: "aminmax",
            inputs: vec![signed(&[2, 3])],
            call: Box::new(|x| aminmax(&x[0], Some(1), false).map(|(least, greatest)| vec![least, greatest])),
        },
    ];
    for (order, products) in [(3.0, ByProducts::Never), (2.0, ByProducts::Never), (2.0, ByProducts::Always)] {
        samples.push(sample("cdist", vec![signed(&[3, 2]), positive(&[4, 2])], move |x| {
            cdist(&x[0], &x[1], order, products)
        }));
    }
    samples
}
