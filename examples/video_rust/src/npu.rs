// SPDX-License-Identifier: Apache-2.0
//! One context, with its input bound to memory that the 2D engine writes, or with the copying calls.
use crate::ffi;
use std::ffi::CString;
use std::os::raw::{c_int, c_void};

fn check(call: &str, code: c_int) -> Result<(), String> {
    if code == 0 {
        Ok(())
    } else {
        Err(format!("{} returned {}", call, code))
    }
}

/// How input and outputs travel. One of the two is chosen when the program starts.
enum Mode {
    ZeroCopy { input: *mut ffi::rknn_tensor_mem, outputs: Vec<*mut ffi::rknn_tensor_mem>, handle: u32 },
    Copying { pixels: Vec<u8> },
}

pub struct Npu {
    context: ffi::rknn_context,
    pub width: usize,
    pub height: usize,
    input: ffi::rknn_tensor_attr,
    outputs: Vec<ffi::rknn_tensor_attr>,
    mode: Mode,
    results: Vec<Vec<f32>>, // of the copying calls
    pub copies: u64,
    pub bytes: u64,
}

impl Npu {
    /// Zero-copy where it is wanted and possible; otherwise copying, and why.
    pub fn open(path: &str, zero_copy: bool) -> Result<(Npu, Option<String>), String> {
        let mut npu = Npu::load(path)?;
        if !zero_copy {
            return Ok((npu, None));
        }
        match npu.bind() {
            Ok(()) => Ok((npu, None)),
            // A context that was bound half way is not used for anything else.
            Err(why) => Ok((Npu::load(path)?, Some(why))),
        }
    }

    fn load(path: &str) -> Result<Npu, String> {
        let name = CString::new(path).map_err(|error| error.to_string())?;
        let mut context = 0;
        // SAFETY: the name ends with a zero; size 0 says that it is one.
        check("rknn_init", unsafe { ffi::rknn_init(&mut context, name.as_ptr() as *mut c_void, 0, 0, std::ptr::null_mut()) })?;
        let mut npu = Npu {
            context,
            width: 0,
            height: 0,
            input: attribute(context, ffi::RKNN_QUERY_INPUT_ATTR, 0)?,
            outputs: Vec::new(),
            mode: Mode::Copying { pixels: Vec::new() },
            results: Vec::new(),
            copies: 0,
            bytes: 0,
        };
        let mut count = ffi::rknn_input_output_num::default();
        // SAFETY: the structure has the size that is given.
        check("rknn_query", unsafe {
            ffi::rknn_query(context, ffi::RKNN_QUERY_IN_OUT_NUM, (&mut count as *mut ffi::rknn_input_output_num).cast(), std::mem::size_of_val(&count) as u32)
        })?;
        for index in 0..count.n_output {
            npu.outputs.push(attribute(context, ffi::RKNN_QUERY_OUTPUT_ATTR, index)?);
        }
        if npu.input.n_dims != 4 || npu.input.dims[3] != 3 {
            return Err("the model does not take a picture".into());
        }
        npu.height = npu.input.dims[1] as usize;
        npu.width = npu.input.dims[2] as usize;
        npu.mode = Mode::Copying { pixels: vec![0; npu.width * npu.height * 3] };
        Ok(npu)
    }

    fn row_pixels(&self) -> usize {
        self.width.max(self.input.w_stride as usize) // w_stride counts pixels, not bytes
    }

    fn bind(&mut self) -> Result<(), String> {
        let row = self.row_pixels();
        self.input.type_ = ffi::RKNN_TENSOR_UINT8;
        self.input.fmt = ffi::RKNN_TENSOR_NHWC;
        self.input.size = (row * self.height * 3) as u32;
        // SAFETY: every pointer is checked before its use; Drop releases what was made, also after an error.
        unsafe {
            let input = ffi::rknn_create_mem(self.context, self.input.size.max(self.input.size_with_stride));
            if input.is_null() {
                return Err("rknn_create_mem returned NULL".into());
            }
            self.mode = Mode::ZeroCopy { input, outputs: Vec::new(), handle: 0 };
            check("rknn_set_io_mem", ffi::rknn_set_io_mem(self.context, input, &mut self.input))?;
            let mut param = ffi::im_handle_param_t { width: row as u32, height: self.height as u32, format: ffi::RK_FORMAT_RGB_888 as u32 };
            let imported = ffi::importbuffer_fd((*input).fd, &mut param);
            if imported == 0 {
                return Err("importbuffer_fd: the 2D engine does not take the input's memory".into());
            }
            if let Mode::ZeroCopy { handle, .. } = &mut self.mode {
                *handle = imported;
            }
            for attr in &mut self.outputs {
                attr.type_ = ffi::RKNN_TENSOR_FLOAT32;
                attr.size = attr.n_elems * 4;
                let memory = ffi::rknn_create_mem(self.context, attr.size.max(attr.size_with_stride));
                if memory.is_null() {
                    return Err("rknn_create_mem returned NULL".into());
                }
                if let Mode::ZeroCopy { outputs, .. } = &mut self.mode {
                    outputs.push(memory);
                }
                check("rknn_set_io_mem", ffi::rknn_set_io_mem(self.context, memory, attr))?;
            }
        }
        Ok(())
    }

    /// The input as the 2D engine sees it.
    pub fn target(&mut self) -> ffi::rga_buffer_t {
        let (w, h, row) = (self.width as c_int, self.height as c_int, self.row_pixels() as c_int);
        // SAFETY: the memory lives as long as self.
        match &mut self.mode {
            Mode::ZeroCopy { handle, .. } => unsafe { ffi::wrapbuffer_handle_t(*handle, w, h, row, h, ffi::RK_FORMAT_RGB_888) },
            Mode::Copying { pixels } => unsafe { ffi::wrapbuffer_virtualaddr_t(pixels.as_mut_ptr().cast(), w, h, w, h, ffi::RK_FORMAT_RGB_888) },
        }
    }

    fn copied(&mut self, bytes: usize) {
        self.copies += 1;
        self.bytes += bytes as u64;
    }

    pub fn run(&mut self) -> Result<(), String> {
        let (pixels, size) = match &mut self.mode {
            Mode::ZeroCopy { .. } => return check("rknn_run", unsafe { ffi::rknn_run(self.context, std::ptr::null_mut()) }),
            Mode::Copying { pixels } => (pixels.as_mut_ptr(), pixels.len()),
        };
        let mut input = ffi::rknn_input { index: 0, buf: pixels.cast(), size: size as u32, pass_through: 0, type_: ffi::RKNN_TENSOR_UINT8, fmt: ffi::RKNN_TENSOR_NHWC };
        let mut outputs: Vec<ffi::rknn_output> = (0..self.outputs.len())
            .map(|i| ffi::rknn_output { want_float: 1, is_prealloc: 0, index: i as u32, buf: std::ptr::null_mut(), size: 0 })
            .collect();
        let count = outputs.len() as u32;
        // SAFETY: buffers outlive the calls; outputs are read before they are released.
        unsafe {
            check("rknn_inputs_set", ffi::rknn_inputs_set(self.context, 1, &mut input))?;
            check("rknn_run", ffi::rknn_run(self.context, std::ptr::null_mut()))?;
            check("rknn_outputs_get", ffi::rknn_outputs_get(self.context, count, outputs.as_mut_ptr(), std::ptr::null_mut()))?;
            self.results = outputs.iter().map(|o| std::slice::from_raw_parts(o.buf as *const f32, o.size as usize / 4).to_vec()).collect();
            check("rknn_outputs_release", ffi::rknn_outputs_release(self.context, count, outputs.as_mut_ptr()))?;
        }
        let floats: usize = self.results.iter().map(|r| r.len() * 4).sum();
        self.copied(size); // rknn_inputs_set
        self.copied(floats); // rknn_outputs_get
        self.copied(floats); // into results
        Ok(())
    }

    pub fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// Valid until the next run.
    pub fn output(&self, index: usize) -> &[f32] {
        match &self.mode {
            // SAFETY: the memory has n_elems floats and lives as long as self.
            Mode::ZeroCopy { outputs, .. } => unsafe {
                std::slice::from_raw_parts((*outputs[index]).virt_addr as *const f32, self.outputs[index].n_elems as usize)
            },
            Mode::Copying { .. } => &self.results[index],
        }
    }
}

impl Drop for Npu {
    fn drop(&mut self) {
        // SAFETY: made by this object, released once, memory before its context.
        unsafe {
            if let Mode::ZeroCopy { input, outputs, handle } = &self.mode {
                if *handle != 0 {
                    ffi::releasebuffer_handle(*handle);
                }
                ffi::rknn_destroy_mem(self.context, *input);
                for memory in outputs {
                    ffi::rknn_destroy_mem(self.context, *memory);
                }
            }
            ffi::rknn_destroy(self.context);
        }
    }
}

fn attribute(context: ffi::rknn_context, command: c_int, index: u32) -> Result<ffi::rknn_tensor_attr, String> {
    // SAFETY: all fields are numbers, zeros are a value of each.
    let mut attr: ffi::rknn_tensor_attr = unsafe { std::mem::zeroed() };
    attr.index = index;
    // SAFETY: the structure has the size that is given.
    check("rknn_query", unsafe {
        ffi::rknn_query(context, command, (&mut attr as *mut ffi::rknn_tensor_attr).cast(), std::mem::size_of_val(&attr) as u32)
    })?;
    Ok(attr)
}
