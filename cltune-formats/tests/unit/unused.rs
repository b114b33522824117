//! Unit tests of `declaration::unused`.

use crate::declaration::{Compared, Computation, Declaration, Fill, Reference, Tolerance};
use crate::formula::{Scope, Type, parse};
use cltune_core::expr::Formula;
use cltune_core::measure::Measure;
use cltune_core::model::{CompileOption, Define, Model, Stage, Step};
use cltune_core::parameter::{Domain, Parameter};
use cltune_core::{List, Text};

/// With the parameters WG, T (a name: `float` or `half`) and SPARE, the problem dimension `n`, and
/// WG as the size of a work-group.
fn declaration(source: &'static str) -> Declaration {
    let parameter = |name: &'static str, domain: Domain| Parameter {
        name: name.into(),
        domain,
    };
    let names: Vec<Text> = vec!["float".into(), "half".into()];
    let parameters = vec![
        parameter("WG", Domain::Integers(vec![1, 2].into())),
        parameter("T", Domain::Names(names.into())),
        parameter("SPARE", Domain::Integers(vec![1, 2].into())),
    ];
    let dimensions: Vec<Text> = vec!["n".into()];
    let mut model = Model {
        name: "app::k".into(),
        fingerprint: "b3:0".into(),
        source: source.into(),
        options: List::Borrowed(&[]),
        parameters: parameters.into(),
        dimensions: dimensions.into(),
        constraints: List::Borrowed(&[]),
        defines: List::Borrowed(&[]),
        arguments: List::Borrowed(&[]),
        scratch: List::Borrowed(&[]),
        steps: List::Borrowed(&[]),
        default: None,
        template: None,
    };
    let stage = Stage {
        global: vec![formula(&model, "n", Type::Int)].into(),
        local: vec![formula(&model, "WG", Type::Int)].into(),
        ..Stage::new("k".into())
    };
    model.steps = vec![Step::Launch(stage)].into();
    Declaration {
        model,
        package: "app".into(),
        version: "0.1.0".into(),
        source_file: "src/lib.rs".into(),
        lockfile_seen: "absent".into(),
        files: vec![],
        problems: vec![vec![32]],
        tune_if: None,
        prepare: None,
        reference: Reference::Default,
        tolerance: Tolerance::default(),
        draws: None,
        fills: vec![Fill::None],
        compared: vec![Compared::All],
        bytes: None,
        flops: None,
        even_work: false,
        measure: Measure::WARM,
    }
}

fn formula(model: &Model, text: &str, ty: Type) -> Formula {
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &model.dimensions,
    };
    parse(text, &scope, ty).unwrap()
}

fn unused(declaration: &Declaration) -> String {
    let names = declaration.unused_parameters();
    names
        .iter()
        .map(|name| &***name)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn what_neither_text_nor_formula_names_is_unused() {
    for (source, expected) in [
        ("", "T SPARE"),
        ("T x;", "SPARE"),
        // A macro of its own says that the value was chosen.
        ("#ifdef T_half\n#endif", "SPARE"),
        ("SPARES SPAR T", "SPARE"),
        ("T SPARE", ""),
        ("T /* SPARE */", ""),
        ("#define CAT(a, b) a ## b", ""),
        ("#include <other.h>", ""),
    ] {
        assert_eq!(unused(&declaration(source)), expected, "{source}");
    }
}

type Change = fn(&mut Declaration);

#[test]
fn formulas_options_and_kernel_names_use_parameters_too() {
    let changes: [(&str, Change); 8] = [
        ("a constraint", |of| {
            of.model.constraints = vec![formula(&of.model, "SPARE < 3", Type::Bool)].into();
        }),
        ("an extra macro", |of| {
            let value = formula(&of.model, "SPARE + 1", Type::Int);
            let name = "X".into();
            of.model.defines = vec![Define { name, value }].into();
        }),
        ("an option", |of| {
            of.model.options = vec![CompileOption::always("-DX=SPARE")].into();
        }),
        ("when an option is given", |of| {
            let condition = Some(formula(&of.model, "SPARE == 1", Type::Bool));
            let text = "-cl-mad-enable".into();
            of.model.options = vec![CompileOption { text, condition }].into();
        }),
        ("a repeated launch", |of| {
            let repeat = Step::Repeat {
                round: "r".into(),
                count: formula(&of.model, "SPARE", Type::Int),
                steps: of.model.steps.clone(),
            };
            of.model.steps = vec![repeat].into();
        }),
        ("a kernel's name", |of| {
            let stage = Stage::new("k_{SPARE}".into());
            of.model.steps = vec![Step::Launch(stage)].into();
        }),
        ("the bytes", |of| {
            of.bytes = Some(formula(&of.model, "SPARE * n", Type::Int));
        }),
        ("the reference's text", |of| {
            of.reference = Reference::Own(Computation {
                source: Some("SPARE".into()),
                scratch: vec![],
                steps: vec![],
            });
        }),
    ];
    for (what, change) in changes {
        let mut declaration = declaration("T x;");
        change(&mut declaration);
        let unused = unused(&declaration);
        assert!(!unused.contains("SPARE"), "{what}: {unused}");
    }
}
