//! How operations write that are called in Python, and so have no entry in the tables of functions.
use super::types;
use super::way::{Shape, Way};

/// What `_written` is given the names of.
const WAYS: &[(&str, &Way)] = &[
    ("chain_matmul", &Way::PLAIN.refused_as("mm")),
    ("cond", &Way::PLAIN.copied().typed(types::safe_linalg)),
    ("fft_fft", &Way::PLAIN.refused_as("_fft_r2c").typed(types::transform)),
    ("fft_fft2", &COMPLEX),
    ("fft_fftfreq", &FREQUENCIES.unknown("fft_fftfreq")),
    ("fft_fftn", &COMPLEX),
    ("fft_hfft", &REAL),
    ("fft_hfft2", &REAL),
    ("fft_hfftn", &REAL),
    ("fft_ifft", &Way::PLAIN.unknown("conj_physical").typed(types::transform)),
    ("fft_ifft2", &COMPLEX.typed(types::transform_back)),
    ("fft_ifftn", &COMPLEX.typed(types::transform_back)),
    ("fft_ihfft", &Way::PLAIN.unknown("conj_physical").typed(types::transform)),
    ("fft_ihfft2", &COMPLEX),
    ("fft_ihfftn", &COMPLEX),
    ("fft_irfft", &REAL),
    ("fft_irfft2", &REAL),
    ("fft_irfftn", &REAL),
    ("fft_rfft", &Way::PLAIN.refused_as("_fft_r2c").typed(types::transform)),
    ("fft_rfftfreq", &FREQUENCIES.unknown("fft_rfftfreq")),
    ("fft_rfftn", &Way::PLAIN.refused_as("_fft_r2c").typed(types::transform)),
    ("histc", &Way::PLAIN.unrecorded().typed(types::counted)),
    ("histogram", &Way::PLAIN.unknown("histogram").typed(types::counted)),
    ("linalg_householder_product", &Way::PLAIN.typed(types::reflected)),
    ("linalg_ldl_factor", &Way::PLAIN.unknown("linalg_ldl_factor_ex").typed(types::same)),
    ("linalg_ldl_factor_ex", &Way::PLAIN.unknown("linalg_ldl_factor_ex").typed(types::same)),
    ("linalg_ldl_solve", &Way::PLAIN.unknown("linalg_ldl_solve").typed(types::same)),
    ("linalg_lstsq", &Way::PLAIN.typed(types::nearest)),
    ("linalg_pinv", &Way::PLAIN.typed(types::safe_linalg)),
    ("matrix_rank", &Way::PLAIN.unrecorded()),
    ("ndtr", &Way::PLAIN.copied()),
    ("nonzero_static", &Way::PLAIN.unknown("nonzero_static").typed(types::nonzero)),
    ("ormqr", &Way::PLAIN.typed(types::reflected_product)),
    ("range", &Way::MADE.unknown("range").shaped(Shape::InLine)),
    ("searchsorted", &Way::PLAIN.unrecorded().typed(types::searched)),
    ("tensorinv", &Way::PLAIN.copied().typed(types::safe_matrix)),
    ("tensorsolve", &Way::PLAIN.copied().typed(types::safe_matrix)),
];

const COMPLEX: Way = Way::PLAIN.refused_as("_fft_c2c").typed(types::transform);
const REAL: Way = Way::PLAIN.refused_as("_fft_c2r").typed(types::transform);
const FREQUENCIES: Way = Way::MADE.shaped(Shape::Counted).typed(types::frequencies);

/// How the operation of a name writes.
pub(super) fn way(name: &str) -> &'static Way {
    match WAYS.binary_search_by_key(&name, |(name, _)| name) {
        Ok(found) => WAYS[found].1,
        Err(_) => &Way::PLAIN,
    }
}
