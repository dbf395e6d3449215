// SPDX-License-Identifier: Apache-2.0
//! The C calls that the program makes: rknn_api.h, im2d.h and a few of libc. Sizes are checked when this file is compiled.
#![allow(non_camel_case_types)]
use std::os::raw::{c_char, c_int, c_long, c_void};

pub type rknn_context = u64;

pub const RKNN_QUERY_IN_OUT_NUM: c_int = 0;
pub const RKNN_QUERY_INPUT_ATTR: c_int = 1;
pub const RKNN_QUERY_OUTPUT_ATTR: c_int = 2;
pub const RKNN_TENSOR_FLOAT32: c_int = 0;
pub const RKNN_TENSOR_UINT8: c_int = 3;
pub const RKNN_TENSOR_NHWC: c_int = 1;

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct rknn_input_output_num {
    pub n_input: u32,
    pub n_output: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rknn_tensor_attr {
    pub index: u32,
    pub n_dims: u32,
    pub dims: [u32; 16],
    pub name: [c_char; 256],
    pub n_elems: u32,
    pub size: u32,
    pub fmt: c_int,
    pub type_: c_int,
    pub qnt_type: c_int,
    pub fl: i8,
    pub zp: i32,
    pub scale: f32,
    pub w_stride: u32,
    pub size_with_stride: u32,
    pub pass_through: u8,
    pub h_stride: u32,
}

#[repr(C)]
pub struct rknn_tensor_mem {
    pub virt_addr: *mut c_void,
    pub phys_addr: u64,
    pub fd: i32,
    pub offset: i32,
    pub size: u32,
    pub flags: u32,
    pub priv_data: *mut c_void,
}

#[repr(C)]
pub struct rknn_input {
    pub index: u32,
    pub buf: *mut c_void,
    pub size: u32,
    pub pass_through: u8,
    pub type_: c_int,
    pub fmt: c_int,
}

#[repr(C)]
pub struct rknn_output {
    pub want_float: u8,
    pub is_prealloc: u8,
    pub index: u32,
    pub buf: *mut c_void,
    pub size: u32,
}

#[link(name = "rknnrt")]
extern "C" {
    pub fn rknn_init(context: *mut rknn_context, model: *mut c_void, size: u32, flag: u32, extend: *mut c_void) -> c_int;
    pub fn rknn_destroy(context: rknn_context) -> c_int;
    pub fn rknn_query(context: rknn_context, cmd: c_int, info: *mut c_void, size: u32) -> c_int;
    pub fn rknn_inputs_set(context: rknn_context, n: u32, inputs: *mut rknn_input) -> c_int;
    pub fn rknn_run(context: rknn_context, extend: *mut c_void) -> c_int;
    pub fn rknn_outputs_get(context: rknn_context, n: u32, outputs: *mut rknn_output, extend: *mut c_void) -> c_int;
    pub fn rknn_outputs_release(context: rknn_context, n: u32, outputs: *mut rknn_output) -> c_int;
    pub fn rknn_create_mem(context: rknn_context, size: u32) -> *mut rknn_tensor_mem;
    pub fn rknn_destroy_mem(context: rknn_context, mem: *mut rknn_tensor_mem) -> c_int;
    pub fn rknn_set_io_mem(context: rknn_context, mem: *mut rknn_tensor_mem, attr: *mut rknn_tensor_attr) -> c_int;
}

pub const RK_FORMAT_RGB_888: c_int = 0x200;
pub const RK_FORMAT_YCBCR_420_P: c_int = 0xb00;
pub const IM_SYNC: c_int = 1 << 19;
pub const IM_STATUS_SUCCESS: c_int = 1;

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct im_rect {
    pub x: c_int,
    pub y: c_int,
    pub width: c_int,
    pub height: c_int,
}

#[repr(C)]
pub struct im_handle_param_t {
    pub width: u32,
    pub height: u32,
    pub format: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rga_buffer_t {
    pub vir_addr: *mut c_void,
    pub phy_addr: *mut c_void,
    pub fd: c_int,
    pub width: c_int,
    pub height: c_int,
    pub wstride: c_int,
    pub hstride: c_int,
    pub format: c_int,
    pub color_space_mode: c_int,
    pub global_alpha: c_int,
    pub rd_mode: c_int,
    pub color: c_int,
    pub colorkey_range: [c_int; 2],
    pub nn: [c_int; 6],
    pub rop_code: c_int,
    pub handle: u32,
}

#[link(name = "rga")]
extern "C" {
    pub fn importbuffer_fd(fd: c_int, param: *mut im_handle_param_t) -> u32;
    pub fn releasebuffer_handle(handle: u32) -> c_int;
    pub fn wrapbuffer_handle_t(handle: u32, width: c_int, height: c_int, wstride: c_int, hstride: c_int, format: c_int) -> rga_buffer_t;
    pub fn wrapbuffer_virtualaddr_t(address: *mut c_void, width: c_int, height: c_int, wstride: c_int, hstride: c_int, format: c_int) -> rga_buffer_t;
    pub fn improcess(src: rga_buffer_t, dst: rga_buffer_t, pat: rga_buffer_t, srect: im_rect, drect: im_rect, prect: im_rect, usage: c_int) -> c_int;
    pub fn imfill_t(dst: rga_buffer_t, rect: im_rect, color: c_int, sync: c_int) -> c_int;
}

pub const PROT_READ_WRITE: c_int = 3;
pub const MAP_SHARED: c_int = 1;
pub const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;

#[repr(C)]
#[derive(Default)]
pub struct timespec {
    pub tv_sec: c_long,
    pub tv_nsec: c_long,
}

extern "C" {
    pub fn memfd_create(name: *const c_char, flags: u32) -> c_int;
    pub fn ftruncate(fd: c_int, length: i64) -> c_int;
    pub fn mmap(address: *mut c_void, length: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    pub fn munmap(address: *mut c_void, length: usize) -> c_int;
    pub fn close(fd: c_int) -> c_int;
    pub fn clock_gettime(clock: c_int, time: *mut timespec) -> c_int;
}

// A structure of another size does not compile: the array's length would not fit.
const _: [(); 376] = [(); std::mem::size_of::<rknn_tensor_attr>()];
const _: [(); 40] = [(); std::mem::size_of::<rknn_tensor_mem>()];
const _: [(); 32] = [(); std::mem::size_of::<rknn_input>()];
const _: [(); 24] = [(); std::mem::size_of::<rknn_output>()];
const _: [(); 96] = [(); std::mem::size_of::<rga_buffer_t>()];
