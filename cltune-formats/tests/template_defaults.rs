//! The database of template defaults: its text, its values for a tunable, and its place in the
//! selection rule.

use cltune_core::database::{Database, DatabaseProblem, Entry, SHIPPED, VERSION};
use cltune_core::device::{DeviceField, DeviceInfo, DeviceLimits, DeviceType};
use cltune_core::model::{Model, Stage, Step, Template};
use cltune_core::parameter::{Domain, Parameter, Value};
use cltune_core::select::{Candidate, Rule, Table, TunedDevice, TunedResult, candidates};
use cltune_core::{List, Text};
use cltune_formats::database::to_text;
use cltune_formats::formula::{Scope, Type};

/// A tunable of the template `map` with the parameters `VW` and `WG`; `VW` divides `n`.
fn model() -> Model {
    let parameters = vec![
        Parameter {
            name: "VW".into(),
            domain: Domain::Integers(vec![1, 2, 4].into()),
        },
        Parameter {
            name: "WG".into(),
            domain: Domain::PowersOfTwo {
                first: 8,
                last: 1024,
            },
        },
    ];
    let dimensions: Vec<Text> = vec!["n".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let int = |text: &str| cltune_formats::formula::parse(text, &scope, Type::Int).unwrap();
    Model {
        name: "tests::map".into(),
        fingerprint: "b3:0".into(),
        source: "".into(),
        options: List::Borrowed(&[]),
        constraints: vec![
            cltune_formats::formula::parse("n % VW == 0", &scope, Type::Bool).unwrap(),
        ]
        .into(),
        defines: List::Borrowed(&[]),
        arguments: List::Borrowed(&[]),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage {
            global: vec![int("64 * WG")].into(),
            local: vec![int("WG")].into(),
            ..Stage::new("kernel".into())
        })]
        .into(),
        default: Some(vec![1, 64].into()),
        template: Some(Template {
            name: "map".into(),
            scalar_size: 4,
            vectors: 3,
            elements: int("2 * n"),
        }),
        parameters: parameters.into(),
        dimensions: dimensions.into(),
    }
}

fn device(name: &str, vendor: &str, device_type: DeviceType) -> DeviceInfo {
    DeviceInfo {
        platform: format!("{vendor} platform"),
        name: name.to_owned(),
        vendor: vendor.to_owned(),
        device_type,
        driver: "1".to_owned(),
        version: "OpenCL 3.0".to_owned(),
        limits: DeviceLimits::NONE
            .with(DeviceField::ComputeUnits, 64)
            .with(DeviceField::MaxWorkGroupSize, 512)
            .with(DeviceField::MaxWorkItemSizeX, 512)
            .with(DeviceField::LocalMemSize, 48 << 10),
    }
}

const DEVICES: &str = r#"# A comment.
version = 1

devices = [
    { id = "gpu", platform = "A platform", name = "gpu", vendor = "A", type = "gpu", compute_units = 64, max_work_group_size = 512, local_mem_size = 49152 },
    { id = "big", platform = "B platform", name = "big", vendor = "B", type = "gpu", compute_units = 99, max_work_group_size = 512, local_mem_size = 49152 },
    { id = "cpu", platform = "A platform", name = "cpu", vendor = "A", type = "cpu", compute_units = 64, max_work_group_size = 512, local_mem_size = 49152 },
]
"#;

/// A database of entries of `map` in 4 bytes: device, elements, vectors, values, expression.
fn database(entries: &[(&str, i64, i64, &str, &str)]) -> Database {
    let lines = entries.iter().map(|(device, elements, vectors, values, kernel)| {
        format!(
            "  {{ device = \"{device}\", template = \"map\", scalar_size = 4, vectors = {vectors}, \
             elements = {elements}, values = {{ {values} }}, time_us = 2.5, kernel = \"{kernel}\" }},\n"
        )
    });
    let lines: String = lines.collect();
    Database::parse(&format!("{DEVICES}entries = [\n{lines}]\n")).unwrap()
}

fn shown(candidates: impl Iterator<Item = Candidate<'static>>) -> Vec<String> {
    candidates.map(|candidate| candidate.to_string()).collect()
}

/// What a device gets for a size from a database: the rule and the codes.
fn selected(database: &Database, info: &DeviceInfo, n: i64) -> (Rule, Vec<i64>) {
    let (model, table) = (model(), database.table(&model()));
    let all = candidates(
        &model,
        info,
        std::slice::from_ref(&n),
        &Table::EMPTY,
        &Table::EMPTY,
    );
    let found = all.with_database(&table).selected().unwrap();
    (found.rule, found.codes.to_vec())
}

const HERE: Rule = Rule::Database { this_device: true };
const SIMILAR: Rule = Rule::Database { this_device: false };

#[test]
fn a_text_is_read_and_written_again() {
    let database = database(&[
        ("gpu", 1024, 3, "VW = 4, FETCH = \"strided\"", "b::k"),
        ("gpu", 1024, 3, "VW = 2, HALF = 0.5, IS = true", "a::k"),
        ("cpu", 64, 1, "", "a::k"),
    ]);
    let text = to_text(&database);
    let again = Database::parse(&text).unwrap();
    assert_eq!(to_text(&again), text, "one content has one text");
    assert_eq!(again.entries.len(), 3);
    // `big` has no entry.
    assert_eq!(again.devices.len(), 2);
    assert!(text.contains(
        r#"vectors = 3, elements = 1024, values = { VW = 2, HALF = 0.5, IS = true }, time_us = 2.5, kernel = "a::k" },"#
    ));
    let toml = toml::de::DeTable::parse(&text).unwrap();
    assert!(toml.get_ref().contains_key("entries"), "TOML reads it");
}

#[test]
fn what_ships_is_in_its_normal_form() {
    let shipped = Database::parse(SHIPPED).unwrap();
    assert_eq!(to_text(&shipped), SHIPPED);
}

#[test]
fn bad_texts_are_errors_with_a_line_and_a_remedy() {
    let entry = |rest: &str| {
        format!(
            "{DEVICES}entries = [\n{{ device = \"gpu\", template = \"map\", scalar_size = 4, \
             vectors = 3, elements = 8, time_us = 1.5, {rest}\n]\n"
        )
    };
    let twice = |text: &str| text.to_owned() + text;
    let cases = [
        ("", 1, "`version` is missing"),
        ("devices = [\n]\n", 1, "`version` has to come first"),
        ("version = 0\n", 1, "there is no version 0"),
        (
            "version = 2\n",
            1,
            "version 2 of the format, and this release reads up to version 1: update cltune",
        ),
        ("version = one\n", 1, "`one` is no value"),
        (
            "version = 1\nversions = 1\n",
            2,
            "`versions` is not expected here",
        ),
        (
            "version = 1\nentries = [\n",
            2,
            "the `]` of a list is missing",
        ),
        (
            "version = 1\n<<<<<<< HEAD\n",
            2,
            "cargo cltune merge FILE -o FILE",
        ),
        (
            "version = 1\ndevices = [\n{ id = 3 }\n]\n",
            3,
            "`id` has to be a text",
        ),
        (
            "version = 1\ndevices = [\n{ id = \"a }\n]\n",
            3,
            "a text has no end",
        ),
        (
            "version = 1\ndevices = [\n{ id = \"\\x\" }\n]\n",
            3,
            "no such escape",
        ),
        (
            "version = 1\ndevices = [\n{ id = \"a\" } x\n]\n",
            3,
            "`x` is not expected here",
        ),
        (
            "version = 1\ndevices = [\nid\n]\n",
            3,
            "`{` is expected before `id`",
        ),
        (
            "version = 1\nentries = [\n{ device = \"x\" }\n]\n",
            3,
            "no device before has the id \"x\"",
        ),
        (
            &*entry("values = 3, kernel = \"a\" }"),
            10,
            "`values` has to be a table of values",
        ),
        (
            &*entry("values = { A = { B = 1 } }, kernel = \"a\" }"),
            10,
            "`values` has to be a table of values",
        ),
        (
            &*entry("values = { A = { B = { C = 1 } } }, kernel = \"a\" }"),
            10,
            "too many tables",
        ),
        (
            &*entry("values = {}, kernel = \"a\", more = 1 }"),
            10,
            "`more` is not expected here",
        ),
        (
            &*entry("values = {}, values = {}, kernel = \"a\" }"),
            10,
            "`values` is there twice",
        ),
        (&*entry("values = {} }"), 10, "`kernel` is missing"),
        (&*twice(DEVICES), 13, "device \"gpu\" is described twice"),
    ];
    for (text, line, expected) in cases {
        let error = Database::parse(text).unwrap_err();
        let shown = error.to_string();
        assert_eq!(error.line, line, "{text}: {shown}");
        assert!(shown.contains(expected), "{shown}");
    }
    let found = VERSION + 1;
    let newer = Database::parse(&format!("version = {found}\n")).unwrap_err();
    assert_eq!(newer.problem, DatabaseProblem::NewerVersion { found });
    let deep = format!(
        "version = 1\ndevices = [\n{}\n]\n",
        "{ a = ".repeat(1 << 16)
    );
    assert!(Database::parse(&deep).is_err());
}

#[test]
fn an_expression_takes_the_entry_of_its_device_that_is_nearest_in_elements_and_vectors() {
    let gpu = device("gpu", "A", DeviceType::Gpu);
    let entries = database(&[
        ("big", 1024, 3, "VW = 4, WG = 512", "a::exact_but_elsewhere"),
        ("gpu", 1024, 3, "VW = 4, WG = 128", "a::k"),
        ("gpu", 1024, 12, "VW = 4, WG = 256", "a::many"),
        ("gpu", 1 << 20, 3, "VW = 2, WG = 8", "a::k"),
    ]);
    // The elements are twice the size.
    assert_eq!(selected(&entries, &gpu, 512), (HERE, vec![4, 128]));
    assert_eq!(selected(&entries, &gpu, 1 << 18), (HERE, vec![2, 8]));
    // A value that breaks a constraint here is passed over for the next nearest.
    assert_eq!(selected(&entries, &gpu, 514), (HERE, vec![2, 8]));
    assert_eq!(selected(&entries, &gpu, 513).0, Rule::Default);
}

#[test]
fn an_expression_with_other_parameters_is_less_alike() {
    let gpu = device("gpu", "A", DeviceType::Gpu);
    let fused = "FUSE = \"all\", VW = 4, WG = 128";
    let alike = [
        ("gpu", 1024, 3, fused, "a::fused"),
        ("gpu", 1024, 2, "VW = 2, WG = 8", "a::k"),
    ];
    assert_eq!(selected(&database(&alike), &gpu, 512), (HERE, vec![2, 8]));
    // Four times the elements are more of a difference.
    let apart = [alike[0], ("gpu", 4096, 3, "VW = 2, WG = 8", "a::k")];
    assert_eq!(selected(&database(&apart), &gpu, 512), (HERE, vec![4, 128]));
}

#[test]
fn another_device_takes_those_of_the_most_similar_one_of_its_type() {
    let entries = database(&[
        ("gpu", 1024, 3, "WG = 128", "a::k"),
        ("big", 1024, 3, "WG = 256", "a::k"),
    ]);
    let of_vendor = |vendor| device("unknown", vendor, DeviceType::Gpu);
    assert_eq!(
        selected(&entries, &of_vendor("A"), 512),
        (SIMILAR, vec![1, 128])
    );
    assert_eq!(
        selected(&entries, &of_vendor("B"), 512),
        (SIMILAR, vec![1, 256])
    );
    assert_eq!(
        selected(&entries, &of_vendor("C"), 512),
        (SIMILAR, vec![1, 128])
    );
    let cpu = device("unknown", "A", DeviceType::Cpu);
    assert_eq!(selected(&entries, &cpu, 512), (Rule::Default, vec![1, 64]));
}

#[test]
fn entries_are_taken_as_far_as_the_tunable_has_their_values() {
    let gpu = device("gpu", "A", DeviceType::Gpu);
    for (values, expected) in [
        // What the entry does not say, or says beyond the tunable's values, is the default's.
        ("WG = 128", (HERE, vec![1, 128])),
        ("VW = 0, WG = 128", (HERE, vec![1, 128])),
        ("VW = \"four\", WG = 128", (HERE, vec![1, 128])),
        // A number is the largest of the tunable's below it.
        ("VW = 16, WG = 128", (HERE, vec![4, 128])),
        ("VW = 3, WG = 128", (HERE, vec![2, 128])),
        ("VW = 16", (HERE, vec![4, 64])),
        // Parameters of other expressions say nothing.
        ("FUSE = \"all\", VW = 2", (HERE, vec![2, 64])),
        ("FUSE = \"all\"", (Rule::Default, vec![1, 64])),
        ("VW = 0", (Rule::Default, vec![1, 64])),
        // The device's limit is 512.
        ("WG = 1024", (Rule::Default, vec![1, 64])),
    ] {
        let entries = database(&[("gpu", 1024, 3, values, "a::k")]);
        assert_eq!(selected(&entries, &gpu, 512), expected, "{values}");
    }
}

#[test]
fn only_entries_of_the_template_and_the_size_of_scalars_count() {
    let entries = database(&[("gpu", 1024, 3, "WG = 128", "a::k")]);
    let mut model = model();
    assert_eq!(entries.table(&model).results.len(), 1);
    let template = model.template.clone().unwrap();
    for other in [
        Template {
            name: "reduce".into(),
            ..template.clone()
        },
        Template {
            scalar_size: 8,
            ..template
        },
    ] {
        model.template = Some(other);
        assert_eq!(entries.table(&model), Table::EMPTY);
    }
    model.template = None;
    assert_eq!(entries.table(&model), Table::EMPTY);
}

#[test]
fn the_rule_stands_between_similar_devices_and_the_default() {
    let (gpu, sibling) = (
        device("gpu", "A", DeviceType::Gpu),
        device("sibling", "A", DeviceType::Gpu),
    );
    let baked = Table {
        devices: vec![TunedDevice::of(&sibling)].into(),
        results: vec![TunedResult {
            device: 0,
            problem: vec![64].into(),
            values: vec![1, 256].into(),
            time_us: 1.0,
        }]
        .into(),
    };
    let entries = database(&[
        ("big", 1024, 2, "WG = 8", "a::k"),
        ("gpu", 4096, 3, "VW = 4, WG = 128", "a::k"),
    ]);
    // Leaked, since candidates borrow all of it.
    let leak = |table: Table| -> &'static Table { Box::leak(Box::new(table)) };
    let model: &'static Model = Box::leak(Box::new(model()));
    let gpu: &'static DeviceInfo = Box::leak(Box::new(gpu));
    let (baked, table) = (leak(baked), leak(entries.table(model)));
    let all = candidates(model, gpu, &[64], baked, leak(Table::EMPTY)).with_database(table);
    assert_eq!(
        shown(all),
        [
            "tuned on a similar device (sibling): n = 64",
            "from the database of template defaults: elements = 4096, vectors = 3",
            "from the database of template defaults, for a similar device (big): elements = 1024, vectors = 2",
            "the declared default",
            "the first valid configuration",
        ]
    );
    assert_eq!(
        [HERE, SIMILAR].map(Rule::name),
        ["database", "database-similar-device"]
    );
    assert!(!HERE.is_for_this_device(), "tuning may find better values");
}

#[test]
fn the_users_entries_override_what_ships_for_a_device_and_a_template() {
    let mut shipped = database(&[
        ("gpu", 1024, 3, "WG = 128", "a::k"),
        ("gpu", 1 << 20, 3, "WG = 128", "a::k"),
        ("cpu", 1024, 3, "WG = 128", "a::k"),
    ]);
    let own = database(&[("gpu", 64, 1, "WG = 8", "mine::k")]);
    shipped.override_by(&own);
    let gpu = device("gpu", "A", DeviceType::Gpu);
    assert_eq!(selected(&shipped, &gpu, 512), (HERE, vec![1, 8]));
    let cpu = device("cpu", "A", DeviceType::Cpu);
    assert_eq!(selected(&shipped, &cpu, 512), (HERE, vec![1, 128]));
    assert_eq!(shipped.entries.len(), 2);
}

/// As two CPUs of one driver are, whose entries would be as near.
#[test]
fn a_device_takes_its_own_entries_and_not_those_of_another_with_the_same_limits() {
    let mut database = database(&[("gpu", 1024, 3, "WG = 128", "a::k")]);
    let twin = device("twin", "A", DeviceType::Gpu);
    let entry = Entry {
        elements: 1 << 20,
        values: vec![("WG".to_owned(), Value::Int(8))],
        ..database.entries[0].clone()
    };
    assert!(database.put(&TunedDevice::of(&twin), entry));
    assert_eq!(selected(&database, &twin, 512), (HERE, vec![1, 8]));
    let other = device("other", "A", DeviceType::Gpu);
    assert_eq!(selected(&database, &other, 512), (SIMILAR, vec![1, 128]));
}

#[test]
fn a_union_has_the_faster_of_two_entries_in_whatever_order() {
    let a = database(&[
        ("gpu", 1024, 3, "WG = 128", "a::k"),
        ("cpu", 8, 1, "WG = 8", "a::k"),
    ]);
    let mut b = database(&[
        ("big", 8, 1, "WG = 8", "a::k"),
        ("gpu", 1024, 3, "WG = 64", "a::k"),
    ]);
    b.entries[1].time_us = 1.0;
    let union = |mut one: Database, other: &Database| {
        let added = one.merge(other);
        (added, to_text(&one))
    };
    let (added, text) = union(a.clone(), &b);
    assert_eq!((added, &text), (1, &union(b, &a).1));
    assert!(text.contains("WG = 64 }, time_us = 1.0") && !text.contains("WG = 128"));
}

#[test]
fn a_new_result_replaces_an_older_one_and_one_expression_can_be_left_out() {
    let mut all = database(&[
        ("gpu", 1024, 3, "WG = 128", "a::k"),
        ("gpu", 1024, 3, "WG = 256", "a::other"),
    ]);
    let slower = Entry {
        time_us: 9.0,
        values: Vec::new(),
        ..all.entries[0].clone()
    };
    let gpu = TunedDevice::of(&device("gpu", "A", DeviceType::Gpu));
    assert!(!all.put(&gpu, slower.clone()), "there was one");
    assert_eq!(all.entries[0], slower);
    let left = all.without("a::k");
    assert_eq!(left.entries.len(), 1);
    assert_eq!(left.entries[0].kernel, "a::other");
}
