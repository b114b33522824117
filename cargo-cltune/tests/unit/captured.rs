//! Unit tests of `captured::read`.

use super::*;

const HEADER: &str = "{\"cltune_capture\":1}\n";

fn line(kernel: &str, n: i64, launches: u64, seconds: f64, data: &str) -> String {
    format!(
        "{{\"kernel\":\"{kernel}\",\"fingerprint\":\"b3:1\",\"platform\":\"P\",\"device\":\"D\",\
             \"vendor\":\"V\",\"problem\":{{\"n\":{n}}},{data}\"launches\":{launches:>20},\
             \"seconds\":{seconds:>24.9}}}\n"
    )
}

fn folder(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn processes_add_up_and_the_most_expensive_comes_first() {
    let data = "\"data\":{\"folder\":\"capture-1-0\",\"arguments\":[\
                    {\"name\":\"a\",\"value\":2.5},{\"name\":\"x\",\"file\":\"x.bin\"}]},";
    let first = [
        HEADER,
        &line("a", 8, 2, 0.5, data),
        &line("b", 8, 1, 1.0, ""),
    ]
    .concat();
    // The process was killed while it wrote its last line.
    let second = [
        HEADER,
        &line("a", 8, 3, 0.75, ""),
        &line("a", 9, 1, 0.1, "")[..40],
    ]
    .concat();
    let folder = folder(&[
        ("capture-1.jsonl", first),
        ("capture-2.jsonl", second),
        ("notes.txt", "mine".into()),
    ]);
    let all = read(folder.path(), |text| panic!("{text}")).unwrap();
    let subjects: Vec<String> = all.iter().map(Captured::subject).collect();
    assert_eq!(subjects, ["a on D for n = 8", "b on D for n = 8"]);
    assert_eq!((all[0].launches, all[0].seconds), (5, 1.25));
    let kept = &all[0].data.as_ref().unwrap().arguments;
    assert_eq!(kept["a"], KeptArgument::Value(2.5));
    assert_eq!(
        kept["x"],
        KeptArgument::File(folder.path().join("capture-1-0/x.bin"))
    );
}

#[test]
fn what_is_no_capture_is_an_error_that_says_where() {
    let read = |folder: &Path| read(folder, |_| ());
    let empty = folder(&[("capture-1.jsonl", HEADER.into())]);
    assert!(matches!(read(empty.path()), Err(ReadError::Empty(_))));
    let newer = folder(&[("capture-1.jsonl", "{\"cltune_capture\":2}\n".into())]);
    let error = read(newer.path()).unwrap_err().to_string();
    assert!(
        error.contains("capture-1.jsonl: a capture of version 2"),
        "{error}"
    );
    let missing = empty.path().join("missing");
    assert!(matches!(read(&missing), Err(ReadError::File { .. })));
    std::fs::create_dir(empty.path().join("capture-2.jsonl")).unwrap();
    let error = read(empty.path()).unwrap_err().to_string();
    assert!(error.contains("capture-2.jsonl: it is a folder"), "{error}");
}

#[test]
fn a_damaged_line_costs_that_line() {
    let sound = [line("a", 8, 2, 0.5, ""), line("b", 8, 1, 1.0, "")];
    let told = std::cell::RefCell::new(Vec::new());
    let read = |text: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("capture-1.jsonl"), text).unwrap();
        let read = read(folder.path(), |text| {
            told.borrow_mut().push(text.to_owned());
        });
        let read = read.map_err(|error| error.to_string())?;
        let kernels: Vec<String> = read.into_iter().map(|one| one.kernel).collect();
        Ok::<_, String>(kernels.concat())
    };
    for lost in [&b"{\"kernel\":7}\n"[..], b"\n", b"\xff\xfe\n", b"[[[[\n"] {
        let text = [
            HEADER.as_bytes(),
            sound[0].as_bytes(),
            lost,
            sound[1].as_bytes(),
        ]
        .concat();
        assert_eq!(read(&text).as_deref(), Ok("ba"));
        let told = told.take().concat();
        assert!(
            told.starts_with("1 damaged line was left out of "),
            "{told}"
        );
        assert!(told.contains("capture-1.jsonl; line 3: "), "{told}");
    }
    // Any byte that is lost or changed costs no more than its line.
    let text = [HEADER, &sound[0], &sound[1]].concat();
    for at in 0..text.len() {
        let mut damaged = text.clone().into_bytes();
        damaged[at] = b'\x01';
        if let Ok(kernels) = read(&damaged) {
            assert!(["ba", "b", "a"].contains(&&*kernels), "{at}: {kernels}");
        }
    }
    assert_eq!(
        read(&[&sound[0], HEADER, &sound[1]].concat().into_bytes()).as_deref(),
        Ok("b")
    );
}
