//! Memory spaces and images, as a declaration has them.

use super::records::declaration;
use cltune::{Buffer, Event, Image2d, Image2dArray, Image3d, Normalized, Queue, Result, tunable};
use cltune_core::model::{Access, ArgumentKind, ElementType, ImageKind, Memory, ScalarType};

#[tunable(
    params(MEM = ["buffer", "constant", "image"]),
    global(w, h),
    tune(w = 64, h = 16),
)]
fn pictures(
    queue: &Queue,
    w: u32,
    h: u32,
    #[arg(len = w * h, memory = MEM, image = [w, h / 1])] chosen: &Buffer<[f32; 4]>,
    #[arg(size = [w, h])] read: &Image2d<Normalized<[u8; 4]>>,
    #[arg(size = [w, h, 4])] both: &mut Image3d<i16>,
    #[arg(out, size = [w, h, 3])] written: &mut Image2dArray<f32>,
) -> Result<Event> {
    "__kernel void pictures() {}"
}

#[test]
fn images_and_spaces_are_declared() {
    let declaration = declaration("cltune::pictures");
    let model = &declaration.model;
    let arguments = model.arguments.iter().skip(2);
    let memories: Vec<_> = arguments
        .map(|argument| match &argument.kind {
            ArgumentKind::Buffer {
                element,
                access,
                len,
                memory,
            } => (
                *element,
                *access,
                len.as_ref().unwrap().text.to_string(),
                memory,
            ),
            ArgumentKind::Scalar { .. } => panic!("{argument:?}"),
        })
        .collect();
    let Memory::Chosen(choice) = memories[0].3 else {
        panic!("{memories:?}");
    };
    let image = choice.image.as_ref().unwrap();
    assert_eq!((choice.parameter, image.kind), (0, ImageKind::Image2d));
    assert_eq!(&*image.size[1].text, "h / 1");
    let of = |at: usize| match memories[at].3 {
        Memory::Image(image) => (image.kind, image.normalized, memories[at].1),
        other => panic!("{other:?}"),
    };
    assert_eq!(of(1), (ImageKind::Image2d, true, Access::Read));
    assert_eq!(of(2), (ImageKind::Image3d, false, Access::ReadWrite));
    assert_eq!(of(3), (ImageKind::Image2dArray, false, Access::Write));
    assert_eq!(memories[1].0, ElementType::vector(ScalarType::U8, 4));
    assert_eq!(memories[2].2, "w * h * 4");
    // What is baked into the program is what the record says.
    assert_eq!(*model, *pictures::TUNABLE.model());
}
