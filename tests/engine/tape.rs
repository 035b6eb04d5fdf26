//! A reference engine in a few lines: every number is a node of one tape, and backward walks the tape
//! from its end. It shares nothing with the real one, and since what backward does is written to the
//! tape too, it differentiates as often as one likes.

#[derive(Clone, Copy)]
enum Step {
    Number,
    Add(usize, usize),
    Mul(usize, usize),
    Exp(usize),
}

/// The tape. Nodes are named by their places.
#[derive(Default)]
pub(crate) struct Tape {
    steps: Vec<Step>,
    values: Vec<f64>,
}

impl Tape {
    fn push(&mut self, step: Step, value: f64) -> usize {
        self.steps.push(step);
        self.values.push(value);
        self.steps.len() - 1
    }

    pub(crate) fn number(&mut self, value: f64) -> usize {
        self.push(Step::Number, value)
    }

    pub(crate) fn add(&mut self, a: usize, b: usize) -> usize {
        self.push(Step::Add(a, b), self.values[a] + self.values[b])
    }

    pub(crate) fn mul(&mut self, a: usize, b: usize) -> usize {
        self.push(Step::Mul(a, b), self.values[a] * self.values[b])
    }

    pub(crate) fn exp(&mut self, a: usize) -> usize {
        self.push(Step::Exp(a), self.values[a].exp())
    }

    pub(crate) fn sum(&mut self, nodes: &[usize]) -> usize {
        let zero = self.number(0.0);
        nodes.iter().fold(zero, |sum, &node| self.add(sum, node))
    }

    pub(crate) fn value(&self, node: usize) -> f64 {
        self.values[node]
    }

    /// The derivatives of `root` with respect to `inputs`, as nodes.
    pub(crate) fn gradient(&mut self, root: usize, inputs: &[usize]) -> Vec<usize> {
        let mut gradients: Vec<Option<usize>> = vec![None; root + 1];
        gradients[root] = Some(self.number(1.0));
        for node in (0..=root).rev() {
            let Some(g) = gradients[node] else { continue };
            let shares = match self.steps[node] {
                Step::Number => vec![],
                Step::Add(a, b) => vec![(a, g), (b, g)],
                Step::Mul(a, b) => vec![(a, self.mul(g, b)), (b, self.mul(g, a))],
                Step::Exp(a) => vec![(a, self.mul(g, node))],
            };
            for (input, share) in shares {
                gradients[input] = Some(match gradients[input] {
                    Some(sum) => self.add(sum, share),
                    None => share,
                });
            }
        }
        inputs
            .iter()
            .map(|&input| gradients.get(input).copied().flatten().unwrap_or_else(|| self.number(0.0)))
            .collect()
    }
}

#[test]
fn the_reference_differentiates_by_itself() {
    // y = x² eˣ, y' = (2x + x²) eˣ, y'' = (2 + 4x + x²) eˣ
    let mut tape = Tape::default();
    let x = tape.number(0.5);
    let (square, exp) = (tape.mul(x, x), tape.exp(x));
    let y = tape.mul(square, exp);
    let slope = tape.gradient(y, &[x])[0];
    let curvature = tape.gradient(slope, &[x])[0];
    let e = 0.5f64.exp();
    assert!((tape.value(slope) - 1.25 * e).abs() < 1e-12);
    assert!((tape.value(curvature) - 4.25 * e).abs() < 1e-12);
}
