//! A split call: its arguments, and the checks against the declaration.

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::kernel::Tunable;
use crate::opencl::version_of;
use crate::policy::{self, Policy};
use cltune_core::device::DeviceLimits;
use cltune_core::expr::Env;
use cltune_core::model::{Access, ArgumentKind, ElementType, ScalarType};
use cltune_core::split::{Division, Layout, Partition, Share, Span};
use std::num::NonZeroU64;
use std::ops::Range;

/// An argument of a split call, in the order of the Rust function.
#[derive(Debug)]
pub struct SplitArg<'a>(pub(super) Given<'a>);

#[derive(Debug)]
pub(super) enum Given<'a> {
    Scalar(&'a [u8]),
    /// Bytes that the kernel reads.
    Read(&'a [u8]),
    /// Bytes that the kernel writes.
    Written(&'a mut [u8]),
}

impl<'a> SplitArg<'a> {
    /// A scalar.
    pub fn scalar<T: Element>(value: &'a T) -> Self {
        Self(Given::Scalar(T::as_bytes(std::slice::from_ref(value))))
    }

    /// A slice that the kernel reads.
    pub fn slice<T: Element>(values: &'a [T]) -> Self {
        Self(Given::Read(T::as_bytes(values)))
    }

    /// A slice that the kernel writes.
    pub fn slice_mut<T: Element>(values: &'a mut [T]) -> Self {
        Self(Given::Written(T::as_bytes_mut(values)))
    }

    /// The bytes, for reading.
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.0 {
            Given::Scalar(bytes) | Given::Read(bytes) => bytes,
            Given::Written(bytes) => bytes,
        }
    }
}

/// What the configuration of a device is chosen for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divided<'a> {
    pub(crate) tunable: &'static Tunable,
    pub(crate) division: &'a Division,
    pub(crate) dims: &'a [i64],
    /// Decides which configurations there are to choose from.
    pub(crate) policy: &'a Policy,
}

impl Divided<'_> {
    /// The size of the divided dimension.
    pub(super) fn total(&self) -> i64 {
        self.division.total(self.dims)
    }

    /// The error of a device for which there is none.
    pub(crate) fn no_configuration(&self, device: &Device) -> Error {
        let model = self.tunable.model();
        Error::NoConfiguration {
            kernel: model.name.to_string(),
            problem: model.describe_problem(self.dims),
            device: device.to_string(),
            reason: "no configuration is valid for any share".to_owned(),
        }
    }
}

/// A split call that was checked: what all its devices have in common.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    pub(super) tunable: &'static Tunable,
    pub(super) division: &'a Division,
    /// Those of the other dimensions.
    pub(super) others: &'a [Division],
    pub(super) dims: &'a [i64],
    /// Decides which configurations there are to choose from.
    pub(super) policy: Policy,
    /// One for each argument of the call.
    pub(super) roles: Vec<Role>,
    /// One for each argument: the content version of the pinned memory that it is in. `None` where
    /// it is not in such memory, or may be changed: by this call, or after it without anybody
    /// noticing.
    pub(super) versions: Vec<Option<NonZeroU64>>,
}

/// The role of an argument in the call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    /// A scalar; see [`Problem::scalar`].
    Scalar(ElementType, Meaning),
    /// A buffer.
    Buffer {
        /// Bytes of an element.
        element: usize,
        access: Access,
        /// `None`: every device gets all of it.
        layout: Option<Layout>,
    },
}

/// The role of an argument for which this is passed; `None` where that is of another kind.
fn role(
    kind: &ArgumentKind,
    partition: &Partition,
    layout: Option<Layout>,
    division: &Division,
    given: &Given<'_>,
) -> Option<Role> {
    match (kind, given) {
        (ArgumentKind::Scalar { scalar, dimension }, Given::Scalar(bytes)) => {
            let meaning = Meaning::of(*dimension, partition, division);
            (bytes.len() == scalar.size()).then_some(Role::Scalar(*scalar, meaning))
        }
        (
            ArgumentKind::Buffer {
                element, access, ..
            },
            Given::Read(_) | Given::Written(_),
        ) => Some(Role::Buffer {
            element: element.size(),
            access: *access,
            layout,
        }),
        _ => None,
    }
}

/// The content version of an argument that devices only read.
fn version((role, arg): (&Role, &SplitArg<'_>)) -> Option<NonZeroU64> {
    let is_read = matches!(role, Role::Buffer { access, .. } if *access == Access::Read);
    match &arg.0 {
        Given::Read(bytes) if is_read => version_of(&addresses(bytes)),
        _ => None,
    }
}

/// The addresses of bytes.
pub(super) fn addresses(bytes: &[u8]) -> Range<usize> {
    let first = bytes.as_ptr().addr();
    first..first + bytes.len()
}

/// The least number of elements of a buffer that is enough for each of the devices; 0 where that
/// has no value, which launches say.
pub(crate) fn least_len(kind: &ArgumentKind, dims: &[i64], devices: &[&DeviceLimits]) -> usize {
    let ArgumentKind::Buffer { len: Some(len), .. } = kind else {
        return 0;
    };
    let on = |device: &&DeviceLimits| {
        let env = Env {
            params: &[],
            dims,
            device,
        };
        usize::try_from(len.eval(&env).unwrap_or(0)).unwrap_or(0)
    };
    devices.iter().map(on).max().unwrap_or(0)
}

impl Role {
    /// Whether two devices would write to the same elements.
    fn is_shared_result(&self) -> bool {
        match self {
            Self::Buffer { access, layout, .. } => {
                *access != Access::Read && layout.is_none_or(|layout| layout.halo() > 0)
            }
            Self::Scalar(..) => false,
        }
    }
}

/// The meaning of a scalar to a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It is passed as it is.
    AsGiven,
    /// It is the divided dimension.
    Size,
    /// The first position of the share is added.
    Shifted,
}

impl Meaning {
    /// That of a scalar which may be a dimension.
    pub(crate) fn of(dimension: Option<u16>, partition: &Partition, division: &Division) -> Self {
        if *partition == Partition::Shifted {
            Self::Shifted
        } else if dimension == Some(division.dimension) {
            Self::Size
        } else {
            Self::AsGiven
        }
    }
}

impl<'a> Problem<'a> {
    /// Checks what is passed against the declaration.
    pub(super) fn new(
        tunable: &'static Tunable,
        division: &'a Division,
        others: &'a [Division],
        dims: &'a [i64],
        args: &[SplitArg<'_>],
        devices: &[&DeviceLimits],
    ) -> Result<Self> {
        let model = tunable.model();
        let declared = &model.arguments;
        if declared.len() != args.len() || declared.len() != division.arguments.len() {
            return Err(Error::Arguments {
                kernel: model.name.to_string(),
                expected: declared.len(),
                found: args.len(),
            });
        }
        let mut roles = Vec::with_capacity(args.len());
        for ((argument, partition), arg) in declared.iter().zip(&*division.arguments).zip(args) {
            let layout = division
                .layout(partition, &argument.kind, dims)
                .map_err(|reason| Error::Division {
                    kernel: model.name.to_string(),
                    argument: argument.name.to_string(),
                    problem: model.describe_problem(dims),
                    reason,
                })?;
            let role = role(&argument.kind, partition, layout, division, &arg.0);
            let role = role.ok_or_else(|| Error::ArgumentKind {
                kernel: model.name.to_string(),
                argument: argument.name.to_string(),
            })?;
            let needed = least_len(&argument.kind, dims, devices);
            match role {
                Role::Buffer { element, .. } if arg.bytes().len() / element < needed => {
                    return Err(Error::BufferTooShort {
                        kernel: model.name.to_string(),
                        argument: argument.name.to_string(),
                        needed,
                        found: arg.bytes().len() / element,
                    });
                }
                role => roles.push(role),
            }
        }
        let problem = Self {
            tunable,
            division,
            others,
            dims,
            policy: policy::get(policy::current(tunable.policy()))?,
            versions: roles.iter().zip(args).map(version).collect(),
            roles,
        };
        match problem.roles.iter().position(Role::is_shared_result) {
            Some(position) => Err(problem.undivided(position)),
            None => Ok(problem),
        }
    }

    /// What configurations are chosen for.
    pub(super) const fn divided(&self) -> Divided<'_> {
        Divided {
            tunable: self.tunable,
            division: self.division,
            dims: self.dims,
            policy: &self.policy,
        }
    }

    /// The whole divided dimension.
    pub(super) fn whole(&self) -> Span {
        Span {
            start: 0,
            len: self.division.total(self.dims),
        }
    }

    /// The bytes of a scalar for a share.
    pub(super) fn scalar(
        &self,
        position: usize,
        given: &[u8],
        element: ElementType,
        meaning: Meaning,
        share: Share,
    ) -> Result<Vec<u8>> {
        scalar_of(element, given, meaning, share.computed).ok_or_else(|| {
            beyond_type(
                self.tunable,
                &self.argument(position),
                element,
                share.computed.start,
            )
        })
    }

    /// The error of an argument that devices would write to the same places of.
    pub(super) fn undivided(&self, position: usize) -> Error {
        Error::UndividedResult {
            kernel: self.tunable.model().name.to_string(),
            argument: self.argument(position),
        }
    }

    /// The name of an argument.
    fn argument(&self, position: usize) -> String {
        let declared = self.tunable.model().arguments.get(position);
        declared.map_or_else(String::new, |argument| argument.name.to_string())
    }
}

/// The bytes of a scalar for a part of the problem; `None` where they are no value of its type.
pub(crate) fn scalar_of(
    element: ElementType,
    given: &[u8],
    meaning: Meaning,
    computed: Span,
) -> Option<Vec<u8>> {
    let scalar = element.as_scalar();
    let value = match meaning {
        Meaning::AsGiven => return Some(given.to_vec()),
        Meaning::Size => i128::from(computed.len),
        Meaning::Shifted => integer(scalar?, given)? + i128::from(computed.start),
    };
    integer_bytes(scalar?, value)
}

/// The error of such a scalar.
pub(crate) fn beyond_type(
    tunable: &Tunable,
    argument: &str,
    element: ElementType,
    first: i64,
) -> Error {
    Error::ShareBeyondType {
        kernel: tunable.model().name.to_string(),
        argument: argument.to_owned(),
        scalar: element.component().map_or("struct", ScalarType::rust_name),
        first,
    }
}

macro_rules! integers {
    ($($variant:ident $ty:ty),+) => {
        /// The value of an integer's bytes; `None` for other types.
        fn integer(scalar: ScalarType, bytes: &[u8]) -> Option<i128> {
            match scalar {
                $(ScalarType::$variant => {
                    Some(<$ty>::from_ne_bytes(bytes.try_into().ok()?).into())
                })+
                _ => None,
            }
        }

        /// The bytes of an integer; `None` where it does not fit, and for other types.
        fn integer_bytes(scalar: ScalarType, value: i128) -> Option<Vec<u8>> {
            match scalar {
                $(ScalarType::$variant => {
                    Some(<$ty>::try_from(value).ok()?.to_ne_bytes().to_vec())
                })+
                _ => None,
            }
        }
    };
}

integers!(I8 i8, U8 u8, I16 i16, U16 u16, I32 i32, U32 u32, I64 i64, U64 u64);
