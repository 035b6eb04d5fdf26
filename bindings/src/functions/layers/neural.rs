//! Attention, convolutions, normalisation, embeddings and dropout.
use crate::calls::callable::Function;
use crate::error::raise;
use crate::functions::entries::{function, in_place, inner, shared};
use crate::interpreter::warnings::Once;
use crate::overrides::in_mode;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::ops::neural::attention::{Answering, attention};
use rushlight::ops::neural::convolution::{Options, convolution_nd, convolution_same};
use rushlight::ops::neural::dropout::Dropout;
use rushlight::ops::neural::embedding::embedding;
use rushlight::ops::neural::normalise::{Affine, Running, batch_norm, group_norm, layer_norm, rms_norm};
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

/// The signature of a transposed convolution.
macro_rules! transposed {
    ($count:literal) => {
        &[concat!(
            "(Tensor input, Tensor weight, Tensor? bias=None, int[",
            $count,
            "] stride=1, int[",
            $count,
            "] padding=0, int[",
            $count,
            "] output_padding=0, int groups=1, int[",
            $count,
            "] dilation=1)"
        )]
    };
}

const ATTENTION: &[&str] =
    &["(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float? scale)"];
const SCORES: &[&str] = &["(Tensor query, Tensor key, Tensor? attn_mask, bool is_causal, float? scale)"];
const LSTM: &[&str] = &[
    "(Tensor input, Tensor weight_ih, Tensor weight_hh, Tensor bias_ih, Tensor bias_hh, Tensor hx, Tensor cx, bool reverse)",
];
const DROPPED: &[&str] = &["(Tensor input, float p, bool train)"];

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    inner("attention", ATTENTION, "Attention of samples with several heads, as one operation.", |a| {
        let answering = Answering { is_causal: a.boolean(4), scale: a.optional_float(5)? };
        attention([a.tensor(0)?, a.tensor(1)?, a.tensor(2)?], a.optional_tensor(3), answering).answer(a.py())
    }),
    inner("attention_scores", SCORES, "How well every key answers every query.", |a| {
        let answering = Answering { is_causal: a.boolean(3), scale: a.optional_float(4)? };
        answering.scores(a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2)).answer(a.py())
    }),
    inner("lstm", LSTM, "A layer of an LSTM along a sequence, if that is one operation.", |a| {
        if in_mode() {
            return ().answer(a.py());
        }
        let inputs = [0, 1, 2, 3, 4, 5, 6].map(|index| a.tensor(index));
        let [x, to_gates, own, bias, own_bias, shown, memory] = inputs;
        let found = lstm([x?, to_gates?, own?, bias?, own_bias?, shown?, memory?], a.boolean(7));
        found.map(|found| found.map(|[all, shown, memory]| (all, shown, memory))).answer(a.py())
    }),
    function("conv1d", convolved!("1"), "A convolution over one dimension.", |a| convolved(a, 1)),
    function("conv2d", convolved!("2"), "A convolution over two dimensions.", |a| convolved(a, 2)),
    function("conv3d", convolved!("3"), "A convolution over three dimensions.", |a| convolved(a, 3)),
    function("conv_transpose1d", transposed!("1"), "A transposed convolution over one dimension.", |a| {
        transposed(a, 1)
    }),
    function("conv_transpose2d", transposed!("2"), "A transposed convolution over two dimensions.", |a| {
        transposed(a, 2)
    }),
    function("conv_transpose3d", transposed!("3"), "A transposed convolution over three dimensions.", |a| {
        transposed(a, 3)
    }),
    function(
        "batch_norm",
        &[
            "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled)",
        ],
        "Every channel less its mean, over its deviation.",
        |a| {
            let affine = Affine { weight: a.optional_tensor(1), bias: a.optional_tensor(2) };
            let running = Running {
                mean: a.optional_tensor(3),
                variance: a.optional_tensor(4),
                training: a.boolean(5),
                momentum: a.float(6)?,
            };
            batch_norm(a.tensor(0)?, affine, running, a.float(7)?).answer(a.py())
        },
    ),
    function(
        "layer_norm",
        &[
            "(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True)",
        ],
        "The last dimensions less their mean, over their deviation.",
        |a| {
            let affine = Affine { weight: a.optional_tensor(2), bias: a.optional_tensor(3) };
            layer_norm(a.tensor(0)?, &a.ints(1)?, affine, a.float(4)?).answer(a.py())
        },
    ),
    function(
        "group_norm",
        &[
            "(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True)",
        ],
        "Groups of channels less their mean, over their deviation.",
        |a| {
            let affine = Affine { weight: a.optional_tensor(2), bias: a.optional_tensor(3) };
            group_norm(a.tensor(0)?, a.int(1)?, affine, a.float(4)?).answer(a.py())
        },
    ),
    function(
        "rms_norm",
        &["(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None)"],
        "The last dimensions over the root of their mean square.",
        |a| {
            let weight = a.optional_tensor(2);
            rms_norm(a.tensor(0)?, &a.ints(1)?, weight, a.optional_float(3)?).answer(a.py())
        },
    ),
    function(
        "embedding",
        &[
            "(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False)",
        ],
        "The rows of a table that indices name.",
        |a| {
            let padding = Some(a.int(2)?).filter(|&padding| padding >= 0);
            embedding(a.tensor(0)?, a.tensor(1)?, padding, a.boolean(3)).answer(a.py())
        },
    ),
    function("dropout", DROPPED, "Elements left out by chance.", |a| dropped(a, false, false)),
    function("dropout_", DROPPED, "`dropout` in place.", |a| dropped_in_place(a, false, false)),
    function("feature_dropout", DROPPED, "Channels left out by chance.", |a| dropped(a, true, false)),
    function("feature_dropout_", DROPPED, "`feature_dropout` in place.", |a| {
        dropped_in_place(a, true, false)
    }),
    function("alpha_dropout", DROPPED, "Elements left out by chance; mean and variance stay.", |a| {
        dropped(a, false, true)
    }),
    function("alpha_dropout_", DROPPED, "`alpha_dropout` in place.", |a| dropped_in_place(a, false, true)),
    shared("feature_alpha_dropout", DROPPED, "Channels left out by chance; mean and variance stay.", |a| {
        dropped(a, true, true)
    }),
    function("feature_alpha_dropout_", DROPPED, "`feature_alpha_dropout` in place.", |a| {
        dropped_in_place(a, true, true)
    }),
];

static UNEVEN: Once = Once::new();
const ONE_SIDE_MORE: &std::ffi::CStr =
    c"Using padding='same' with even kernel lengths and odd dilation may require a \
    zero-padded copy of the input be created";

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

fn transposed(a: &Arguments<'_, '_>, spatial: usize) -> PyResult<Py<PyAny>> {
    let options = Options {
        stride: a.ints(3)?.to_vec(),
        padding: a.ints(4)?.to_vec(),
        dilation: a.ints(7)?.to_vec(),
        transposed: true,
        output_padding: a.ints(5)?.to_vec(),
        groups: a.int(6)?,
    };
    convolution_nd(a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2), spatial, &options).answer(a.py())
}

fn dropped(a: &Arguments<'_, '_>, channels: bool, alpha: bool) -> PyResult<Py<PyAny>> {
    let (x, dropout) = (a.tensor(0)?, Dropout { probability: a.float(1)?, channels, alpha });
    if dropout.probability == 0.0 || !a.boolean(2) || x.numel() == 0 {
        // The very object, as long as the probability is one.
        dropout.of(x, false, None).map_err(raise)?;
        return a.object(0).answer(a.py());
    }
    dropout.of(x, true, None).answer(a.py())
}

fn dropped_in_place(a: &Arguments<'_, '_>, channels: bool, alpha: bool) -> PyResult<Py<PyAny>> {
    let dropout = Dropout { probability: a.float(1)?, channels, alpha };
    in_place(a, dropout.of_(a.tensor(0)?, a.boolean(2), None))
}
