//! Memory spaces that a parameter chooses, and images: what is valid on which device, and records.

use cltune_core::Text;
use cltune_core::device::{DeviceField, DeviceLimits};
use cltune_core::expr::Env;
use cltune_core::measure::Measure;
use cltune_core::model::{
    Access, Argument, ArgumentKind, ConstraintOrigin, ElementType, ImageDeclaration, ImageKind,
    ImageShape, Memory, MemoryChoice, MemorySpace, Model, ScalarType, Stage, StageArgument, Step,
    is_pixel,
};
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::declaration::{Compared, Declaration, Fill, Reference, Tolerance};
use cltune_formats::formula::{Scope, Type};
use cltune_formats::{fingerprint, record};

/// A device with small limits.
fn device() -> DeviceLimits {
    let fields = [
        (DeviceField::MaxConstantBufferSize, 4096),
        (DeviceField::MaxConstantArgs, 2),
        (DeviceField::ImageSupport, 1),
        (DeviceField::Image3dWrites, 1),
        (DeviceField::Image2dMaxWidth, 64),
        (DeviceField::Image2dMaxHeight, 32),
        (DeviceField::Image3dMaxWidth, 16),
        (DeviceField::Image3dMaxHeight, 16),
        (DeviceField::Image3dMaxDepth, 16),
        (DeviceField::MaxReadImageArgs, 2),
        (DeviceField::MaxWriteImageArgs, 1),
    ];
    let mut limits = DeviceLimits::default();
    for (field, value) in fields {
        limits.set(field, value);
    }
    limits
}

/// Two buffers whose places parameters choose, and an image that is written.
fn model() -> Model {
    let names = |names: &[&'static str]| {
        let names: Vec<Text> = names.iter().map(|name| Text::Borrowed(name)).collect();
        Domain::Names(names.into())
    };
    let parameters = vec![
        Parameter {
            name: "MEM".into(),
            domain: names(&["image", "buffer", "constant"]),
        },
        Parameter {
            name: "TABLE".into(),
            domain: names(&["buffer", "constant"]),
        },
    ];
    let dimensions: Vec<Text> = vec!["w".into(), "h".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let int = |text| cltune_formats::formula::parse(text, &scope, Type::Int).expect(text);
    let image = |kind, size: &[&'static str]| ImageDeclaration {
        kind,
        normalized: false,
        size: size.iter().map(|text| int(text)).collect::<Vec<_>>().into(),
    };
    let buffer = |name: &'static str, len, access, memory| Argument {
        name: name.into(),
        kind: ArgumentKind::Buffer {
            element: ScalarType::F32.into(),
            access,
            len: Some(int(len)),
            memory,
        },
    };
    let arguments = vec![
        buffer(
            "picture",
            "w * h",
            Access::Read,
            Memory::Chosen(MemoryChoice {
                parameter: 0,
                image: Some(image(ImageKind::Image2d, &["w", "h"])),
            }),
        ),
        buffer(
            "table",
            "10 * w",
            Access::Read,
            Memory::Chosen(MemoryChoice {
                parameter: 1,
                image: None,
            }),
        ),
        buffer(
            "result",
            "4 * h * 4",
            Access::Write,
            Memory::Image(image(ImageKind::Image3d, &["4", "h", "4"])),
        ),
    ];
    let passed = (0..3).map(StageArgument::Passed).collect::<Vec<_>>();
    let stage = Stage {
        global: vec![int("w"), int("h")].into(),
        arguments: passed.into(),
        ..Stage::new("kernel".into())
    };
    Model {
        name: "test::kernel".into(),
        fingerprint: "".into(),
        source: "".into(),
        options: vec![].into(),
        constraints: vec![].into(),
        defines: vec![].into(),
        arguments: arguments.into(),
        scratch: vec![].into(),
        steps: vec![Step::Launch(stage)].into(),
        default: None,
        template: None,
        parameters: parameters.into(),
        dimensions: dimensions.into(),
    }
}

const SPACES: [[i64; 2]; 6] = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]];

/// Why a configuration is invalid; nothing where it is valid.
fn reason(codes: &[i64], dims: &[i64], device: &DeviceLimits) -> String {
    let checked = model().check(codes, dims, device);
    checked.map_or_else(|reason| reason.to_string(), |()| String::new())
}

#[test]
fn a_configuration_is_valid_exactly_where_its_constraints_hold() {
    let devices = [
        device(),
        DeviceLimits::default(),
        device().with(DeviceField::ImageSupport, 0),
        device().with(DeviceField::Image3dWrites, 0),
        device().with(DeviceField::MaxConstantArgs, 1),
        device().with(DeviceField::MaxConstantBufferSize, 1000),
        device().with(DeviceField::MaxReadImageArgs, 0),
        device().with(DeviceField::MaxWriteImageArgs, 0),
        device().with(DeviceField::Image3dMaxDepth, 3),
    ];
    let mut valid = 0;
    for device in &devices {
        for dims in [[8, 8], [64, 16], [65, 16], [8, 17], [0, 8], [200, 1]] {
            let constraints = model().derived_constraints();
            for codes in &SPACES {
                let env = Env {
                    params: codes,
                    dims: &dims,
                    device,
                };
                let mut all = constraints.iter();
                let holds = all.all(|of| matches!(of.eval(&env), Ok(value) if value != 0));
                let reason = reason(codes, &dims, device);
                assert_eq!(reason.is_empty(), holds, "{codes:?} {dims:?}: {reason}");
                valid += usize::from(holds);
            }
        }
    }
    assert!(valid > 20, "{valid}");
}

#[test]
fn what_a_device_lacks_is_said() {
    let (image, constant) = ([0, 0], [2, 1]);
    assert_eq!(reason(&image, &[64, 16], &device()), "");
    let cases = [
        (
            image,
            [65, 16],
            device(),
            "the size of the image `picture` in dimension 0 is 65, more than the device's \
             image2d_max_width = 64",
        ),
        (
            [1, 0],
            [8, 8],
            device().with(DeviceField::ImageSupport, 0),
            "`result` is an image, which the device does not have: its image_support is 0",
        ),
        (
            [1, 0],
            [8, 8],
            device().with(DeviceField::Image3dWrites, 0),
            "`result` is an image that the kernel writes, which the device does not have: its \
             image3d_writes is 0",
        ),
        (
            constant,
            [64, 16],
            device().with(DeviceField::MaxConstantBufferSize, 4095),
            "the argument `picture` in constant memory in bytes is 4096, more than the device's \
             max_constant_buffer_size = 4095",
        ),
        (
            constant,
            [8, 8],
            device().with(DeviceField::MaxConstantArgs, 1),
            "the number of arguments in constant memory is 2, more than the device's \
             max_constant_args = 1",
        ),
        (
            image,
            [8, 8],
            device().with(DeviceField::MaxReadImageArgs, 0),
            "the number of images that are read is 1, more than the device's max_read_image_args = \
             0",
        ),
        (
            image,
            [0, 8],
            device(),
            "the global size in dimension 0 `w` is 0, and must be at least 1",
        ),
    ];
    for (codes, dims, device, expected) in cases {
        assert_eq!(reason(&codes, &dims, &device), expected);
    }
}

#[test]
fn an_image_fits_into_its_buffer() {
    let mut model = model();
    if let ArgumentKind::Buffer { len, .. } = &mut model.arguments.to_mut()[0].kind {
        *len = Some(cltune_formats::formula::parse("99", &Scope::default(), Type::Int).unwrap());
    }
    let wrong = model.check(&[0, 0], &[10, 10], &device()).unwrap_err();
    let expected = "`picture` is an image of 100 pixels, and has 99 elements";
    assert_eq!(wrong.to_string(), expected);
    assert_eq!(model.check(&[1, 0], &[10, 10], &device()), Ok(()));
}

#[test]
fn limits_of_memory_are_rules_of_their_own() {
    let known = device();
    let (_, rules) = model().space_rules(&[8, 8], &|field| Some(known.get(field)));
    let of_memory = rules
        .iter()
        .filter(|(rule, _)| *rule == ConstraintOrigin::MemorySpaces);
    let labels: Vec<String> = of_memory.map(|(_, of)| of.label.to_string()).collect();
    let both = "(MEM == \"constant\") + (TABLE == \"constant\") <= device.max_constant_args";
    assert!(labels.iter().any(|label| label == both), "{labels:?}");
    // Nothing is said of what holds whatever the parameters.
    let fixed = "device.image_support > 0";
    assert!(labels.iter().all(|label| label != fixed), "{labels:?}");
}

#[test]
fn a_call_knows_its_images() {
    let picture = ImageShape {
        kind: ImageKind::Image2d,
        element: ScalarType::F32.into(),
        normalized: false,
        size: [8, 7, 1],
    };
    let result = ImageShape {
        kind: ImageKind::Image3d,
        size: [4, 7, 4],
        ..picture
    };
    let images = |codes: &[i64]| model().commands(codes, &[8, 7], &device()).unwrap().images;
    assert_eq!(images(&[0, 0]), [(0, picture), (2, result)]);
    assert_eq!(images(&[2, 1]), [(2, result)]);
    assert_eq!((picture.pixels(), result.bytes()), (56, 448));
    let spaces = (0..3).map(|position| model().memory_space(position, &[2, 0]));
    let spaces: Vec<_> = spaces.map(|of| of.map(|(space, _)| space)).collect();
    let expected = [
        MemorySpace::Constant,
        MemorySpace::Buffer,
        MemorySpace::Image,
    ];
    assert_eq!(spaces, expected.map(Some));
}

#[test]
fn pixels_have_few_channels_of_few_bits() {
    let pixel =
        |scalar, lanes, normalized| is_pixel(ElementType::vector(scalar, lanes), normalized);
    for lanes in [1, 2, 4] {
        assert!(pixel(ScalarType::F32, lanes, false) && pixel(ScalarType::U16, lanes, true));
    }
    assert!(!pixel(ScalarType::F32, 8, false) && !pixel(ScalarType::F64, 1, false));
    assert!(!pixel(ScalarType::U32, 1, true) && !pixel(ScalarType::F16, 1, true));
    assert!(pixel(ScalarType::F16, 1, false) && !pixel(ScalarType::BF16, 1, false));
}

fn declaration() -> Declaration {
    Declaration {
        model: model(),
        package: "test".into(),
        version: "1.0.0".into(),
        source_file: "src/lib.rs".into(),
        lockfile_seen: "absent".into(),
        files: Vec::new(),
        problems: vec![vec![8, 8]],
        tune_if: None,
        reference: Reference::Default,
        tolerance: Tolerance::default(),
        draws: None,
        prepare: None,
        compared: vec![Compared::All; 3],
        fills: vec![Fill::Zeros, Fill::Iota, Fill::None],
        bytes: None,
        flops: None,
        even_work: false,
        measure: Measure::WARM,
    }
}

#[test]
fn a_record_keeps_them_where_older_readers_do_not_look() {
    let declaration = declaration();
    let text = record::to_text(&declaration);
    assert_eq!(record::from_text(&text).unwrap(), declaration);
    // They would take them for buffers.
    assert!(!text.contains("\nbuffer = "), "{text}");
}

#[test]
fn a_damaged_record_is_an_error() {
    let text = record::to_text(&declaration());
    let damages = [
        (
            "memory = \"MEM\"",
            "memory = \"MEN\"",
            "there is no parameter",
        ),
        (
            "names = [\"image\", \"buffer\", \"constant\"]",
            "names = [\"image\", \"local\"]",
            "memory spaces",
        ),
        (
            "image_kind = \"Image2d\"",
            "image_kind = \"Image4d\"",
            "no kind of images",
        ),
        (
            "size = [\"w\", \"h\"]",
            "size = [\"w\"]",
            "as many dimensions",
        ),
        (
            "image = \"f32\"",
            "image = \"f64\"",
            "no image has such elements",
        ),
        ("image_kind = \"Image3d\"\n", "", "missing"),
        (
            "names = [\"buffer\", \"constant\"]",
            "names = [\"buffer\", \"image\"]",
            "does not suit",
        ),
    ];
    for (right, wrong, expected) in damages {
        assert!(text.contains(right), "{right}: {text}");
        let damaged = text.replace(right, wrong);
        let error = record::from_text(&damaged).unwrap_err().to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
}

#[test]
fn each_part_of_a_memory_is_part_of_the_fingerprint() {
    let changed = |change: &dyn Fn(&mut Memory)| {
        let mut model = model();
        for argument in model.arguments.to_mut() {
            if let ArgumentKind::Buffer { memory, .. } = &mut argument.kind {
                change(memory);
            }
        }
        fingerprint::of(&model)
    };
    let mut all = vec![
        changed(&|_| {}),
        changed(&|memory| *memory = Memory::Buffer),
        changed(&|memory| {
            if let Memory::Chosen(choice) = memory {
                choice.parameter = 1 - choice.parameter;
            }
        }),
        changed(&|memory| {
            if let Memory::Chosen(choice) = memory {
                choice.image = None;
            }
        }),
        changed(&|memory| {
            if let Memory::Image(image) = memory {
                image.kind = ImageKind::Image2dArray;
            }
        }),
        changed(&|memory| {
            if let Memory::Image(image) = memory {
                image.normalized = true;
            }
        }),
        changed(&|memory| {
            if let Memory::Image(image) = memory {
                image.size.to_mut().swap(0, 1);
            }
        }),
    ];
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}
