//! Attention, convolutions, normalisation, embeddings and dropout.
use crate::calls::callable::Function;
use crate::error::raise;
use crate::functions::entries::{function, inner};
use crate::interpreter::warnings::Once;
use crate::overrides::in_mode;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::ops::neural::convolution::{Options, convolution_nd, convolution_same};
use rushlight::ops::neural::recurrent::lstm;

/// The overloads of a convolution over that many dimensions.
macro_rules! convolved {
    ($count:literal) => {
        &[
            concat!(
                "(Tensor input, Tensor weight, Tensor? bias=None, int[",
                $count,
                "] stride=1, int[",
                $count,
                "] padding=0, int[",
                $count,
                "] dilation=1, int groups=1)"
            ),
            concat!(
                "(Tensor input, Tensor weight, Tensor? bias=None, int[",
                $count,
                "] stride=1, str padding=\"valid\", int[",
                $count,
                "] dilation=1, int groups=1)"
            ),
        ]
    };
}

const LSTM: &[&str] = &[
    "(Tensor input, Tensor weight_ih, Tensor weight_hh, Tensor bias_ih, Tensor bias_hh, Tensor hx, Tensor cx, bool reverse)",
];

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    inner(
        "lstm",
        LSTM,
        "A layer of a long short-term memory over a sequence, if it can be computed as one operation.",
        |a| {
            if in_mode() {
                return ().answer(a.py());
            }
            let inputs = [0, 1, 2, 3, 4, 5, 6].map(|index| a.tensor(index));
            let [x, to_gates, own, bias, own_bias, shown, memory] = inputs;
            let found = lstm([x?, to_gates?, own?, bias?, own_bias?, shown?, memory?], a.boolean(7));
            found.map(|found| found.map(|[all, shown, memory]| (all, shown, memory))).answer(a.py())
        },
    ),
    function("conv1d", convolved!("1"), "A convolution over signals of one dimension.", |a| convolved(a, 1)),
    function("conv2d", convolved!("2"), "A convolution over images of two dimensions.", |a| convolved(a, 2)),
    function("conv3d", convolved!("3"), "A convolution over volumes of three dimensions.", |a| {
        convolved(a, 3)
    }),
];

const ONE_SIDE_MORE: &std::ffi::CStr =
    c"Using padding='same' with even kernel lengths and odd dilation may require a \
    zero-padded copy of the input be created";

static UNEVEN: Once = Once::new();

fn convolved(a: &Arguments<'_, '_>, spatial: usize) -> PyResult<Py<PyAny>> {
    let mut options = Options {
        stride: a.ints(3)?.to_vec(),
        padding: vec![0],
        dilation: a.ints(5)?.to_vec(),
        transposed: false,
        output_padding: vec![0; spatial],
        groups: a.int(6)?,
    };
    let (x, weight, bias) = (a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2));
    if a.overload() == 1 {
        match a.text(4)?.as_str() {
            "valid" => options.padding = vec![0; spatial],
            "same" => {
                let result = convolution_same(x, weight, bias, spatial, &options).map_err(raise)?;
                let is_uneven = |(&size, place): (&usize, usize)| {
                    let dilation = options.dilation.get(place).or(options.dilation.first());
                    size % 2 == 0 && dilation.is_some_and(|dilation| dilation % 2 == 1)
                };
                if weight.layout().shape().iter().skip(2).zip(0..).any(is_uneven) {
                    UNEVEN.warn(a.py(), ONE_SIDE_MORE)?;
                }
                return result.to_python(a.py()).map(Bound::unbind);
            }
            other => return Err(PyRuntimeError::new_err(format!("Invalid padding string: '{other}'"))),
        }
    } else {
        options.padding = a.ints(4)?.to_vec();
    }
    convolution_nd(x, weight, bias, spatial, &options).answer(a.py())
}
