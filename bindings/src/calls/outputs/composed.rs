//! The `out=` policies of operations that are written in Python, and so have no entry in the tables of functions.
use rushlight::schema::{OutPolicy, Shape, Types};

/// The policies by the names that Python passes to `_written`.
const POLICIES: &[(&str, &OutPolicy)] = &[
    ("chain_matmul", &OutPolicy::PLAIN.refused_as("mm")),
    ("cond", &OutPolicy::PLAIN.copied().typed(Types::SafeLinalg)),
    ("fft_fft", &OutPolicy::PLAIN.refused_as("_fft_r2c").typed(Types::Transform)),
    ("fft_fft2", &COMPLEX),
    ("fft_fftfreq", &FREQUENCIES.unknown("fft_fftfreq")),
    ("fft_fftn", &COMPLEX),
    ("fft_hfft", &REAL),
    ("fft_hfft2", &REAL),
    ("fft_hfftn", &REAL),
    ("fft_ifft", &OutPolicy::PLAIN.unknown("conj_physical").typed(Types::Transform)),
    ("fft_ifft2", &COMPLEX.typed(Types::TransformBack)),
    ("fft_ifftn", &COMPLEX.typed(Types::TransformBack)),
    ("fft_ihfft", &OutPolicy::PLAIN.unknown("conj_physical").typed(Types::Transform)),
    ("fft_ihfft2", &COMPLEX),
    ("fft_ihfftn", &COMPLEX),
    ("fft_irfft", &REAL),
    ("fft_irfft2", &REAL),
    ("fft_irfftn", &REAL),
    ("fft_rfft", &OutPolicy::PLAIN.refused_as("_fft_r2c").typed(Types::Transform)),
    ("fft_rfftfreq", &FREQUENCIES.unknown("fft_rfftfreq")),
    ("fft_rfftn", &OutPolicy::PLAIN.refused_as("_fft_r2c").typed(Types::Transform)),
    ("histc", &OutPolicy::PLAIN.unrecorded().typed(Types::Counted)),
    ("histogram", &OutPolicy::PLAIN.unknown("histogram").typed(Types::Counted)),
    ("linalg_householder_product", &OutPolicy::PLAIN.typed(Types::Reflected)),
    ("linalg_ldl_factor", &OutPolicy::PLAIN.unknown("linalg_ldl_factor_ex").typed(Types::Same)),
    ("linalg_ldl_factor_ex", &OutPolicy::PLAIN.unknown("linalg_ldl_factor_ex").typed(Types::Same)),
    ("linalg_ldl_solve", &OutPolicy::PLAIN.unknown("linalg_ldl_solve").typed(Types::Same)),
    ("linalg_lstsq", &OutPolicy::PLAIN.typed(Types::Nearest)),
    ("linalg_pinv", &OutPolicy::PLAIN.typed(Types::SafeLinalg)),
    ("matrix_rank", &OutPolicy::PLAIN.unrecorded()),
    ("ndtr", &OutPolicy::PLAIN.copied()),
    ("nonzero_static", &OutPolicy::PLAIN.unknown("nonzero_static").typed(Types::Nonzero)),
    ("ormqr", &OutPolicy::PLAIN.typed(Types::ReflectedProduct)),
    ("range", &OutPolicy::MADE.unknown("range").shaped(Shape::InLine)),
    ("searchsorted", &OutPolicy::PLAIN.unrecorded().typed(Types::Searched)),
    ("tensorinv", &OutPolicy::PLAIN.copied().typed(Types::SafeMatrix)),
    ("tensorsolve", &OutPolicy::PLAIN.copied().typed(Types::SafeMatrix)),
];

const COMPLEX: OutPolicy = OutPolicy::PLAIN.refused_as("_fft_c2c").typed(Types::Transform);
const REAL: OutPolicy = OutPolicy::PLAIN.refused_as("_fft_c2r").typed(Types::Transform);
const FREQUENCIES: OutPolicy = OutPolicy::MADE.shaped(Shape::Counted).typed(Types::Frequencies);

/// The policy of the operation of that name.
pub(super) fn policy(name: &str) -> &'static OutPolicy {
    match POLICIES.binary_search_by_key(&name, |(name, _)| name) {
        Ok(found) => POLICIES[found].1,
        Err(_) => &OutPolicy::PLAIN,
    }
}
