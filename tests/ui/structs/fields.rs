//! Fields that are not the same on a device.

use cltune::KernelStruct;

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Host<'a> {
    flag: bool,
    index: usize,
    counts: [usize; 4],
    name: &'a str,
    address: *const f32,
    pair: (f32, f32),
}

#[derive(Clone, Copy, Default, KernelStruct)]
#[repr(C)]
struct Vectors {
    #[kernel_struct(vector)]
    three: [f32; 3],
    #[kernel_struct(vector)]
    one: f32,
    #[kernel_struct(vektor)]
    four: [f32; 4],
    int: f32,
    #[kernel_struct(fill = file("x.bin"))]
    file: f32,
}

fn main() {}
