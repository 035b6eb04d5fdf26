use super::*;

fn array() -> Array {
    Array::from_slice(&[4], &[1.0, 2.0, 3.0, 4.0]).unwrap_or_else(|_| unreachable!("there is memory"))
}

fn part(array: &Array, start: usize) -> Array {
    let layout = Layout::strided([2].into_iter().collect(), [1].into_iter().collect(), start);
    array.with_layout(layout.unwrap_or_else(|_| unreachable!("it is small")))
}

#[test]
fn what_is_written_in_place_lies_apart_from_what_is_read() {
    let array = array();
    let (first, last) = (part(&array, 0), part(&array, 2));
    let read = last.slice::<f64>().unwrap_or_default();
    assert!(first.overwrite_slice([&last], |place| place.copy_from_slice(read)));
    assert_eq!(array.slice::<f64>(), Some(&[3.0, 4.0, 3.0, 4.0][..]));
}

#[test]
fn what_is_read_is_not_written_meanwhile() {
    let array = array();
    assert!(!part(&array, 0).overwrite_slice::<f64>([&part(&array, 1)], |_| unreachable!()));
}

#[test]
#[should_panic(expected = "what is written is not read meanwhile")]
fn a_view_that_is_read_is_not_written_meanwhile() {
    let array = array();
    part(&array, 0).overwrite::<f64, ()>([&part(&array, 1)], |_| ());
}

#[test]
#[should_panic(expected = "what is written is not read meanwhile")]
fn two_slices_to_write_lie_apart() {
    let array = array();
    Array::overwrite_slices::<f64>(&[&part(&array, 0), &part(&array, 1)], &[], |_| ());
}

#[test]
#[should_panic(expected = "only an array of one's own is changed")]
fn what_another_handle_shows_is_not_owned() {
    let mut array = array();
    let _other = array.clone();
    array.owned::<f64>();
}
