//! Bytes of a struct that belong to no field, and vectors that a device puts elsewhere.

use cltune::KernelStruct;

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Hole {
    kind: u8,
    weight: f64,
}

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Short {
    weight: f64,
    kind: u32,
}

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Shifted {
    mass: f32,
    #[kernel_struct(vector)]
    position: [f32; 4],
}

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Uneven {
    #[kernel_struct(vector)]
    position: [f32; 4],
    mass: f32,
}

type Four = [f32; 4];

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Hidden {
    position: Four,
}

fn main() {}
