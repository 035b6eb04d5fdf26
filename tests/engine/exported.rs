//! Programs from files, run without the host that wrote them: `tests/compile/files/test_export.py` looks at what they compute.

use std::process::Command;

use rushlight::program::portable::Session;

/// A training step of a small network, and the losses of its next runs, as the host has them.
const STEP: &[u8] = include_bytes!("programs/step.rushprog");
const LOSSES: &str = include_str!("programs/losses.txt");

fn losses() -> Vec<f64> {
    LOSSES.lines().map(|line| line.parse().unwrap()).collect()
}

/// Whether losses are those of the host: another kind of processor may round otherwise.
fn are_those_of_the_host(found: &[f64]) -> bool {
    let pairs = found.iter().zip(losses());
    found.len() <= losses().len() && pairs.into_iter().all(|(x, y)| (x - y).abs() <= 1e-4 * y.abs())
}

#[test]
fn a_step_from_a_file_goes_on_training() {
    let mut step = Session::load(STEP).unwrap();
    assert_eq!(step.inputs().count(), 0);
    let runs = losses().len();
    let found: Vec<f64> = (0..runs).map(|_| step.run(&[]).unwrap()[0].item().unwrap().to_f64()).collect();
    assert!(runs > 3 && are_those_of_the_host(&found), "{found:?}");
    let again = Session::load(&step.save().unwrap()).unwrap();
    for ((name, own), (other, saved)) in step.state().zip(again.state()) {
        assert_eq!((name, own.to_vec::<f64>().unwrap()), (other, saved.to_vec::<f64>().unwrap()));
    }
}

#[test]
fn files_that_are_cut_off_or_changed_are_errors() {
    for length in (0..STEP.len()).step_by(7) {
        assert!(Session::load(&STEP[..length]).is_err());
    }
    for place in (0..STEP.len()).step_by(5) {
        let mut changed = STEP.to_vec();
        changed[place] ^= 1 << (place % 8);
        assert!(Session::load(&changed).is_err());
    }
    assert!(Session::load_within(STEP, 64).is_err());
}

#[test]
fn the_example_trains_without_python() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/programs/step.rushprog");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let run = ["run", "--quiet", "-p", "rushlight", "--example", "train_without_python", "--", file, "3"];
    let output = Command::new(cargo).args(run).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = text.lines().map(|line| line.split_once(' ').unwrap().1.parse::<f64>().unwrap());
    let printed: Vec<f64> = printed.collect();
    assert!(printed.len() == 3 && are_those_of_the_host(&printed), "{text}");
}
