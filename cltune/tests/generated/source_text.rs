//! Kernel sources with text that other formats would have to escape.

use cltune::{Event, Queue, Result, tunable};

#[tunable(global(1))]
fn odd_text(queue: &Queue) -> Result<Event> {
    r##"
// "quotes", 'single', \ backslash, #"raw"#, {braces}, %d, é, 日本, 🦀, ]]> and """ ''' and	tab
__kernel void odd_text(void) {
#ifdef NVIDIA_ONLY
    asm volatile("{ .reg .u32 %%r; mov.u32 %%r, %%laneid; }" ::: "memory");
#endif
}
"##
}

#[test]
fn every_character_survives() -> Result<()> {
    let record = super::records::declaration("cltune::odd_text");
    let source = &odd_text::TUNABLE.model().source;
    assert_eq!(record.model.source, *source);
    for text in [
        r##""quotes", 'single', \ backslash, #"raw"#"##,
        "é, 日本, 🦀",
        "\"\"\" '''",
        "and\ttab",
    ] {
        assert!(source.contains(text), "{text}: {source}");
    }
    assert!(source.contains(r#"asm volatile("{ .reg .u32 %%r;"#));
    let queue = Queue::default_device()?;
    odd_text(&queue)?.wait()
}
