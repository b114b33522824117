//! The spans of a run, also in the Chrome trace format: an array of complete events
//! (`"ph": "X"`), times in microseconds ("Trace Event Format", the Chromium project).

use std::fmt::Write;

/// Something that took a device time; seconds since the scheduler was made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) device: usize,
    pub(super) kind: SpanKind,
    pub(super) name: String,
    pub(super) begin: f64,
    pub(super) end: f64,
}

/// The kind of a span, and the queue that it was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    Up,
    Kernel,
    Down,
}

/// The events of a run, with a process for each device and a thread for each queue.
pub(super) fn chrome_trace(devices: &[&str], spans: &[Span]) -> String {
    let mut events = Vec::new();
    for (device, name) in devices.iter().enumerate() {
        events.push(format!(
            r#"{{"ph":"M","name":"process_name","pid":{device},"args":{{"name":{}}}}}"#,
            quoted(name)
        ));
        for kind in [SpanKind::Up, SpanKind::Kernel, SpanKind::Down] {
            let thread = kind as usize;
            events.push(format!(
                r#"{{"ph":"M","name":"thread_name","pid":{device},"tid":{thread},"args":{{"name":{}}}}}"#,
                quoted(row(kind))
            ));
        }
    }
    for span in spans {
        let (begin, length) = (span.begin * 1e6, (span.end - span.begin).max(0.0) * 1e6);
        events.push(format!(
            r#"{{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{begin:.3},"dur":{length:.3}}}"#,
            quoted(&span.name),
            row(span.kind),
            span.device,
            span.kind as usize
        ));
    }
    format!("[\n{}\n]\n", events.join(",\n"))
}

const fn row(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Up => "to the device",
        SpanKind::Kernel => "kernels",
        SpanKind::Down => "to the host",
    }
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            control if control.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
