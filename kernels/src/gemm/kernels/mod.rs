//! The kernels of a multiplication as tunables, and what each can do.
//!
//! | tunable | multiplies |
//! |---|---|
//! | [`classic`] | tiles in local memory and registers, as published by Nugteren & Codreanu 2015 |
//! | [`pipelined`] | the same, with copies ahead on three levels (Lin et al. 2025); the GPU's kernel |
//! | [`split`] | single precision on the tensor cores of NVIDIA's GPUs |
//! | [`tensor_f64`] | double precision on them |
//! | [`warpgroup`] | single precision on those of the Hopper GPUs, with instructions that only they have |
//! | [`warpgroup_stored`] | half precision, bfloat16 and TF32 on those, with factors as they are stored |
//! | [`parts`] | those of [`pipelined`], [`tensor_f64`] and [`warpgroup`], with sums in parts |
//! | [`panels`] | vectors in registers, operands in panels; the CPU's kernel |
//! | [`direct`] | small matrices as they lie |
//! | [`batched`] | many small products in one launch |
//! | [`batched_tensor`] | the same in double and half precision and bfloat16 on the tensor cores of NVIDIA's GPUs |
//! | [`pack`] | nothing: copies in lines or panels, the orders that the others read |

pub(super) mod batched;
pub(super) mod batched_tensor;
pub(super) mod classic;
pub(super) mod direct;
pub(super) mod pack;
pub(super) mod panels;
pub(super) mod parts;
pub(super) mod pipelined;
pub(super) mod split;
pub(super) mod tensor_f64;
pub(super) mod warpgroup;
pub(super) mod warpgroup_stored;
