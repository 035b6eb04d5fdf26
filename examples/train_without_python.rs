//! Trains a model that was written down in Python, without Python: `cargo run --example train_without_python FILE STEPS`.
//!
//! The file comes of `torch.compiler.export(step).save(FILE)`, where `step` is a function of a training step. Inputs, if it
//! has any, are ones here; a service would fill them with what it is given.

use std::error::Error;
use std::io::{self, Write};

use rushlight::dtype::DType;
use rushlight::ops::creation::create;
use rushlight::program::portable::Session;
use rushlight::{Tensor, shape};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("say which file holds the program")?;
    let steps = arguments.next().map_or(Ok(10), |steps| steps.parse::<usize>())?;

    let mut step = Session::load(&std::fs::read(file)?).map_err(|error| format!("{error:?}"))?;
    let inputs: Vec<Tensor> = step
        .inputs()
        .map(|(_, sizes, dtype)| ones(&sizes, dtype))
        .collect::<rushlight::Result<_>>()
        .map_err(|error| format!("{error:?}"))?;
    for number in 0..steps {
        let answers = step.run(&inputs).map_err(|error| format!("{error:?}"))?;
        let loss = answers.first().ok_or("the step answers nothing")?.item();
        writeln!(io::stdout(), "{number} {:?}", loss.map_err(|error| format!("{error:?}"))?.to_f64())?;
    }
    Ok(())
}

fn ones(sizes: &[usize], dtype: DType) -> rushlight::Result<Tensor> {
    create::full(&shape::signed(sizes), 1i64.into(), dtype)
}
