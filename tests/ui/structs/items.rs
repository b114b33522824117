//! Structs that no kernel can take.

use cltune::KernelStruct;

#[derive(Clone, Copy, Default, KernelStruct)]
struct NoRepresentation {
    x: f32,
}

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C, packed)]
struct Packed {
    x: f32,
}

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Generic<T> {
    x: T,
}

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Tuple(f32, f32);

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Empty {}

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
enum Kind {
    #[default]
    One,
}

#[derive(Clone, Copy, KernelStruct)]
#[repr(C)]
union Bits {
    x: f32,
    y: u32,
}

#[derive(Clone, Copy, Default, KernelStruct)]
#[kernel_struct(name = "a b", nam = "c")]
#[repr(C)]
struct Named {
    x: f32,
}

fn main() {}
