//! The size of expressions: what compilers of OpenCL C take, and what is worth computing again
//! where it is used.

use super::value::{Lanes, Value};
use crate::errors::fail;
use proc_macro2::Span;

/// The parentheses that Clang takes, which most drivers are made of, without those around a value
/// that is folded.
const DEEPEST: usize = 256 - 2;

/// Names of `let` that are made of two of the name before double it each time.
const MOST_PARTS: usize = 1 << 16;

/// Refuses a value whose text would be too much.
pub(super) fn check(value: &Value, span: Span) -> syn::Result<()> {
    const ADVICE: &str = "assign a part of it to a buffer, and use that";
    let parts = parts(value);
    if parts > MOST_PARTS {
        let message = format!(
            "this is computed in {parts} steps, as what `let` names is wherever it is used: {ADVICE}"
        );
        return fail(span, message);
    }
    let lanes = [Lanes::One, Lanes::Many, Lanes::Cells, Lanes::Wide];
    let deepest = lanes.map(|lanes| deepest(&value.text(lanes, &|_, _| String::new())));
    let deepest = deepest.into_iter().fold(0, usize::max);
    if deepest > DEEPEST {
        let message = format!(
            "this becomes {deepest} parentheses inside of one another, and compilers of OpenCL C take \
             {DEEPEST}: {ADVICE}"
        );
        return fail(span, message);
    }
    Ok(())
}

fn parts(value: &Value) -> usize {
    1 + value.parts().into_iter().map(parts).sum::<usize>()
}

/// How many parentheses are open at once.
fn deepest(text: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}
