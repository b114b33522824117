//! The constraints that follow from where arguments live: limits of constant memory and of images.

use super::derived::{Guard, Term, limit, number};
use super::memory::{COUNT_LIMITS, CountLimit};
use super::{
    Access, ArgumentKind, ConstraintOrigin, ImageDeclaration, Memory, MemorySpace, Model, Stage,
};
use crate::device::DeviceField;
use crate::expr::{Formula, Fragment, Op};

impl Model {
    /// That arguments can live where parameters say.
    pub(super) fn memory_rules(&self) -> Vec<(ConstraintOrigin, Formula)> {
        let mut rules = Vec::new();
        for argument in self.arguments.iter() {
            let ArgumentKind::Buffer {
                element,
                access,
                len,
                memory,
            } = &argument.kind
            else {
                continue;
            };
            match memory {
                Memory::Buffer => {}
                Memory::Image(image) => rules.extend(image_rules(image, *access)),
                Memory::Chosen(choice) => {
                    for (_, space) in self.spaces(choice) {
                        let of_space = match (space, &choice.image, len) {
                            (MemorySpace::Constant, _, Some(len)) => {
                                let bytes = Term::of(len).times(number(element.size() as i64));
                                let most = limit(DeviceField::MaxConstantBufferSize);
                                vec![memory_rule(bytes.compare("<=", Op::Le, most))]
                            }
                            (MemorySpace::Image, Some(image), len) => {
                                let mut rules = image_rules(image, *access);
                                let sizes = image.size.iter().map(Term::of);
                                let pixels = sizes.reduce(Term::times);
                                if let (Some(pixels), Some(len)) = (pixels, len) {
                                    let fits = pixels.compare("<=", Op::Le, Term::of(len));
                                    rules.push((ConstraintOrigin::Values, fits));
                                }
                                rules
                            }
                            _ => Vec::new(),
                        };
                        let Some(is_space) = self.is_in(memory, space) else {
                            continue;
                        };
                        let guard = Guard::always().and(is_space);
                        let guarded = of_space.into_iter();
                        rules.extend(guarded.map(|rule| guard.clone().implies(rule)));
                    }
                }
            }
        }
        rules
    }

    /// That a kernel has no more arguments in a memory than the device allows.
    pub(super) fn count_rules(&self, stage: &Stage) -> Vec<(ConstraintOrigin, Formula)> {
        let rules = COUNT_LIMITS.iter().filter_map(|of| {
            let CountLimit {
                counted,
                limit: most,
            } = *of;
            let spaces = self
                .passed_buffers(stage)
                .filter_map(|(_, access, memory)| {
                    let mut spaces = MemorySpace::ALL.into_iter();
                    let space = spaces.find(|space| counted.has(*space, access))?;
                    self.is_in(memory, space)
                });
            let count = spaces.reduce(Term::plus)?;
            Some(memory_rule(count.compare("<=", Op::Le, limit(most))))
        });
        rules.collect()
    }

    /// 1 where an argument lives in a space; `None` where it never does.
    fn is_in(&self, memory: &Memory, space: MemorySpace) -> Option<Term> {
        let choice = match memory {
            Memory::Buffer => return None,
            Memory::Image(_) => return (space == MemorySpace::Image).then(|| number(1)),
            Memory::Chosen(choice) => choice,
        };
        let (code, _) = self.spaces(choice).into_iter().find(|of| of.1 == space)?;
        let parameter = self.parameters.get(usize::from(choice.parameter))?;
        let value = Fragment::leaf(Op::Param(choice.parameter));
        Some(Term {
            text: format!("{} == \"{}\"", parameter.name, space.name()),
            fragment: Fragment::binary(Op::Eq, value, Fragment::constant(code)),
        })
    }
}

fn memory_rule(formula: Formula) -> (ConstraintOrigin, Formula) {
    (ConstraintOrigin::MemorySpaces, formula)
}

/// That the device has such images.
fn image_rules(image: &ImageDeclaration, access: Access) -> Vec<(ConstraintOrigin, Formula)> {
    let has = |field| memory_rule(limit(field).compare(">", Op::Gt, number(0)));
    let mut rules = vec![has(DeviceField::ImageSupport)];
    if image.writes_3d(access) {
        rules.push(has(DeviceField::Image3dWrites));
    }
    for (size, most) in image.limited_sizes() {
        let size = Term::of(size);
        let positive = size.clone().compare(">=", Op::Ge, number(1));
        rules.push((ConstraintOrigin::Values, positive));
        rules.push(memory_rule(size.compare("<=", Op::Le, limit(most))));
    }
    rules
}
