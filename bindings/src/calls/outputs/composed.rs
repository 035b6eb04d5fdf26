//! The `out=` policies of operations that are written in Python, and so have no entry in the tables of functions.
use super::policy::{OutPolicy, Shape};
use super::types;

/// What `_written` is given the names of.
const POLICIES: &[(&str, &OutPolicy)] = &[
    ("chain_matmul", &OutPolicy::PLAIN.refused_as("mm")),
    ("cond", &OutPolicy::PLAIN.copied().typed(types::safe_linalg)),
    ("fft_fft", &OutPolicy::PLAIN.refused_as("_fft_r2c").typed(types::transform)),
    ("fft_fft2", &COMPLEX),
    ("fft_fftfreq", &FREQUENCIES.unknown("fft_fftfreq")),
    ("fft_fftn", &COMPLEX),
    ("fft_hfft", &REAL),
    ("fft_hfft2", &REAL),
    ("fft_hfftn", &REAL),
    ("fft_ifft", &OutPolicy::PLAIN.unknown("conj_physical").typed(types::transform)),
    ("fft_ifft2", &COMPLEX.typed(types::transform_back)),
    ("fft_ifftn", &COMPLEX.typed(types::transform_back)),
    ("fft_ihfft", &OutPolicy::PLAIN.unknown("conj_physical").typed(types::transform)),
    ("fft_ihfft2", &COMPLEX),
    ("fft_ihfftn", &COMPLEX),
    ("fft_irfft", &REAL),
    ("fft_irfft2", &REAL),
    ("fft_irfftn", &REAL),
    ("fft_rfft", &OutPolicy::PLAIN.refused_as("_fft_r2c").typed(types::transform)),
    ("fft_rfftfreq", &FREQUENCIES.unknown("fft_rfftfreq")),
    ("fft_rfftn", &OutPolicy::PLAIN.refused_as("_fft_r2c").typed(types::transform)),
    ("histc", &OutPolicy::PLAIN.unrecorded().typed(types::counted)),
    ("histogram", &OutPolicy::PLAIN.unknown("histogram").typed(types::counted)),
    ("linalg_householder_product", &OutPolicy::PLAIN.typed(types::reflected)),
    ("linalg_ldl_factor", &OutPolicy::PLAIN.unknown("linalg_ldl_factor_ex").typed(types::same)),
    ("linalg_ldl_factor_ex", &OutPolicy::PLAIN.unknown("linalg_ldl_factor_ex").typed(types::same)),
    ("linalg_ldl_solve", &OutPolicy::PLAIN.unknown("linalg_ldl_solve").typed(types::same)),
    ("linalg_lstsq", &OutPolicy::PLAIN.typed(types::nearest)),
    ("linalg_pinv", &OutPolicy::PLAIN.typed(types::safe_linalg)),
    ("matrix_rank", &OutPolicy::PLAIN.unrecorded()),
    ("ndtr", &OutPolicy::PLAIN.copied()),
    ("nonzero_static", &OutPolicy::PLAIN.unknown("nonzero_static").typed(types::nonzero)),
    ("ormqr", &OutPolicy::PLAIN.typed(types::reflected_product)),
    ("range", &OutPolicy::MADE.unknown("range").shaped(Shape::InLine)),
    ("searchsorted", &OutPolicy::PLAIN.unrecorded().typed(types::searched)),
    ("tensorinv", &OutPolicy::PLAIN.copied().typed(types::safe_matrix)),
    ("tensorsolve", &OutPolicy::PLAIN.copied().typed(types::safe_matrix)),
];

const COMPLEX: OutPolicy = OutPolicy::PLAIN.refused_as("_fft_c2c").typed(types::transform);
const REAL: OutPolicy = OutPolicy::PLAIN.refused_as("_fft_c2r").typed(types::transform);
const FREQUENCIES: OutPolicy = OutPolicy::MADE.shaped(Shape::Counted).typed(types::frequencies);

/// How the operation of a name writes.
pub(super) fn policy(name: &str) -> &'static OutPolicy {
    match POLICIES.binary_search_by_key(&name, |(name, _)| name) {
        Ok(found) => POLICIES[found].1,
        Err(_) => &OutPolicy::PLAIN,
    }
}
