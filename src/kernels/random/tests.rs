//! The draws against recorded ones. `draws.txt` has a line for every call, below the seed that the
//! generator started with: name, type, length and arguments, and the values to expect, or the last
//! of many.

use std::num::NonZeroU64;

use super::*;
use crate::dtype::{DType, Ring};

const DRAWS: &str = include_str!("draws.txt");

/// Makes the call that a line describes, and gives its values as text: floating-point numbers as
/// the hexadecimal digits of their bits.
fn draw(generator: &mut Generator, call: &str) -> String {
    let [name, dtype, len, arguments @ ..] = &call.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("a name, a type and a length: {call}")
    };
    let dtype = DType::ALL.into_iter().find(|candidate| candidate.name() == *dtype).unwrap();
    let len: usize = len.parse().unwrap();
    if *name == "choices" {
        let mut out = vec![0; len];
        dispatch!(float dtype, T => {
            let weights: Vec<T> = (0..len).map(|index| T::from_i64(index as i64 % 7)).collect();
            fill_choices(generator, &mut out, &shares(&weights));
        }, else { panic!("{call}") });
        return text(&out);
    }
    dispatch!(float dtype, T => {
        let mut out = vec![T::ZERO; len];
        if fill_real(generator, name, arguments, &mut out) {
            return text(&out);
        }
    }, else {});
    dispatch!(all dtype, T => {
        let mut out = vec![T::default(); len];
        fill_any(generator, name, arguments, &mut out);
        text(&out)
    })
}

/// The calls that only floating-point types know; false for any other.
fn fill_real<T: Normal>(generator: &mut Generator, name: &str, arguments: &[&str], out: &mut [T]) -> bool {
    let len = out.len() as f64;
    let real = |index: usize| arguments[index].parse::<f64>().unwrap();
    match name {
        "uniform" => fill_uniform(generator, out, real(0), real(1)),
        "normal" => fill_normal(generator, out, real(0), real(1)),
        "normal_singly" => fill_normal_singly(generator, out, real(0), real(1)),
        "exponential" => fill_exponential(generator, out, real(0)),
        "cauchy" => fill_cauchy(generator, out, real(0), real(1)),
        "log_normal" => fill_log_normal(generator, out, real(0), real(1)),
        "bernoulli_each" => {
            let probabilities = (0..out.len()).map(|index| T::from_i64(index as i64) / T::from_f64(len));
            fill_bernoulli_each(generator, out, probabilities);
        }
        _ => return false,
    }
    true
}

fn fill_any<T: Element>(generator: &mut Generator, name: &str, arguments: &[&str], out: &mut [T]) {
    match (name, arguments) {
        ("integers", [base, range]) => {
            fill_integers(generator, out, base.parse().unwrap(), range.parse::<NonZeroU64>().unwrap());
        }
        ("all_integers", []) => fill_all_integers(generator, out),
        ("natural", []) => fill_natural(generator, out),
        ("permutation", []) => {
            (0..).zip(out.iter_mut()).for_each(|(index, out)| *out = T::from_i64(index));
            // In pieces as in one go.
            permute(generator, out, 0..out.len() / 3);
            permute(generator, out, out.len() / 3..out.len());
        }
        ("bernoulli", [probability]) => fill_bernoulli(generator, out, probability.parse().unwrap()),
        ("geometric", [probability]) => fill_geometric(generator, out, probability.parse().unwrap()),
        _ => panic!("unknown call: {name} {arguments:?}"),
    }
}

fn text<T: Element>(values: &[T]) -> String {
    let words: Vec<String> = values
        .iter()
        .map(|value| match T::DTYPE {
            DType::Float32 => format!("{:x}", (value.to_f64() as f32).to_bits()),
            DType::Float64 => format!("{:x}", value.to_f64().to_bits()),
            _ => value.to_i64().to_string(),
        })
        .collect();
    words.join(" ")
}

/// The distance in units of the last place that a platform's mathematical library may be off.
/// Draws that do not go through it are exact everywhere.
fn tolerance(call: &str) -> u64 {
    let long = call.starts_with("normal float32 ");
    let exact = ["uniform", "integers", "all", "natural", "permutation", "bernoulli", "choices"];
    if long || exact.iter().any(|name| call.starts_with(name)) { 0 } else { 4 }
}

fn assert_close(call: &str, drawn: &str, expected: &str) {
    let words = |text: &str| -> Vec<String> { text.split_whitespace().rev().map(str::to_owned).collect() };
    let (drawn, expected) = (words(drawn), words(expected));
    assert!(drawn.len() == expected.len() || expected.len() >= 6, "{call}");
    for (drawn, expected) in drawn.iter().zip(&expected).filter(|(drawn, expected)| drawn != expected) {
        let bits = |word: &str| u64::from_str_radix(word, 16).unwrap();
        assert!(bits(drawn).abs_diff(bits(expected)) <= tolerance(call), "{call}: {drawn} is not {expected}");
    }
}

#[test]
fn every_recorded_draw_is_drawn_again() {
    let mut generator = Generator::new(Generator::DEFAULT_SEED);
    let mut calls = 0;
    for line in DRAWS.lines() {
        if let Some(seed) = line.strip_prefix("seed ") {
            generator = Generator::new(seed.parse().unwrap());
            continue;
        }
        let (call, expected) = line.split_once(" :").unwrap();
        assert_close(call, &draw(&mut generator, call), expected);
        calls += 1;
    }
    assert!(calls >= 60);
}

#[test]
fn a_generator_continues_from_its_serialised_state() {
    let mut generator = Generator::new(9);
    for drawn in [0, 1, 7, 615, 1, 1, 2000] {
        fill_normal_singly(&mut generator, &mut vec![0.0f32; drawn], 0.0, 1.0);
        generator.random();
        let mut copy = Generator::from_state_bytes(&generator.state_bytes()).unwrap();
        assert_eq!(copy.state_bytes(), generator.state_bytes());
        let mut copy_drawn = [0.0f64; 3];
        let mut generator_drawn = [0.0f64; 3];
        fill_normal(&mut copy, &mut copy_drawn, 0.0, 1.0);
        fill_normal(&mut generator, &mut generator_drawn, 0.0, 1.0);
        assert_eq!(copy_drawn, generator_drawn);
        assert_eq!(copy.seed(), 9);
    }
}

#[test]
fn the_serialised_state_has_the_recorded_layout() {
    let mut generator = Generator::new(5);
    fill_normal(&mut generator, &mut [0.0f32; 3], 0.0, 1.0);
    let bytes = generator.state_bytes();
    let sum: u64 = (1..).zip(&bytes[..5024]).map(|(place, byte)| place * u64::from(*byte)).sum();
    assert_eq!(sum, 819_612_103);
    assert_eq!(bytes[..17], [5, 0, 0, 0, 0, 0, 0, 0, 105, 2, 0, 0, 1, 0, 0, 0, 8]);
    assert_eq!(bytes[5032..], [[0; 8], [1, 0, 0, 0, 0, 0, 0, 0], [0; 8]].concat());
}

#[test]
fn bytes_that_are_no_state_are_refused() {
    let mut bytes = Generator::new(5).state_bytes();
    assert!(Generator::from_state_bytes(&bytes[1..]).is_none());
    assert!(Generator::from_state_bytes(&bytes).is_some());
    for (place, value) in [(8, 2), (12, 0), (16, 1), (17, 255)] {
        let before = std::mem::replace(&mut bytes[place], value);
        assert!(Generator::from_state_bytes(&bytes).is_none(), "{value} at {place}");
        bytes[place] = before;
    }
}

#[test]
fn uniform_numbers_do_not_depend_on_how_memory_is_cut() {
    let mut whole = [0.0f32; 1500];
    fill_uniform(&mut Generator::new(2), &mut whole, -3.0, 5.0);
    let mut generator = Generator::new(2);
    let mut pieces = [0.0f32; 1500];
    for piece in pieces.chunks_mut(7) {
        fill_uniform(&mut generator, piece, -3.0, 5.0);
    }
    assert_eq!(whole, pieces);
}
