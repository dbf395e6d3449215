// SPDX-License-Identifier: Apache-2.0
//! Frames of planar 4:2:0 and where they come from: a generated scene, or a .y4m file that is read into the frame itself.
use crate::ffi;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::raw::c_int;

/// Memory with a descriptor that the 2D engine knows; plain memory where that failed.
pub enum Memory {
    Shared { fd: c_int, address: *mut u8, handle: u32, size: usize },
    Own(Vec<u8>),
}

impl Memory {
    /// A frame of this size in a memfd. The error says which call failed.
    pub fn shared(width: usize, height: usize) -> Result<Memory, String> {
        let size = width * height * 3 / 2;
        let failed = |call: &str| format!("{}: {}", call, std::io::Error::last_os_error());
        // SAFETY: plain calls; what they return is checked.
        unsafe {
            let fd = ffi::memfd_create(b"frame\0".as_ptr().cast(), 1);
            if fd < 0 {
                return Err(failed("memfd_create"));
            }
            if ffi::ftruncate(fd, size as i64) != 0 {
                let text = failed("ftruncate");
                ffi::close(fd);
                return Err(text);
            }
            let address = ffi::mmap(std::ptr::null_mut(), size, ffi::PROT_READ_WRITE, ffi::MAP_SHARED, fd, 0);
            if address as isize == -1 {
                let text = failed("mmap");
                ffi::close(fd);
                return Err(text);
            }
            let mut param = ffi::im_handle_param_t { width: width as u32, height: height as u32, format: ffi::RK_FORMAT_YCBCR_420_P as u32 };
            let handle = ffi::importbuffer_fd(fd, &mut param);
            if handle == 0 {
                ffi::munmap(address, size);
                ffi::close(fd);
                return Err("importbuffer_fd: the 2D engine does not take the memory".into());
            }
            Ok(Memory::Shared { fd, address: address.cast(), handle, size })
        }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        match self {
            // SAFETY: mapped for as long as self lives, and borrowed with it.
            Memory::Shared { address, size, .. } => unsafe { std::slice::from_raw_parts_mut(*address, *size) },
            Memory::Own(bytes) => bytes,
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Memory::Shared { fd, address, handle, size } = self {
            // SAFETY: made by shared(), released once.
            unsafe {
                ffi::releasebuffer_handle(*handle);
                ffi::munmap((*address).cast(), *size);
                ffi::close(*fd);
            }
        }
    }
}

pub enum Source {
    Generated { t: usize },
    File { reader: BufReader<File>, first: u64 },
}

impl Source {
    /// (source, width, height) of a .y4m file with 4:2:0.
    pub fn open(path: &str) -> Result<(Source, usize, usize), String> {
        let file = File::open(path).map_err(|error| format!("cannot read '{}': {}", path, error))?;
        let mut reader = BufReader::with_capacity(64, file); // large reads go straight to the frame
        let mut head = String::new();
        reader.read_line(&mut head).map_err(|error| format!("'{}': {}", path, error))?;
        let side = |letter: char| head.split_whitespace().skip(1).find(|word| word.starts_with(letter)).and_then(|word| word[1..].parse::<usize>().ok());
        let planar = head.split_whitespace().all(|word| !word.starts_with('C') || word.starts_with("C420")) && !head.contains("p10");
        match (head.starts_with("YUV4MPEG2"), planar, side('W'), side('H')) {
            (true, true, Some(w), Some(h)) if w % 2 == 0 && h % 2 == 0 && w > 0 && h > 0 && w <= 8192 && h <= 8192 => {
                Ok((Source::File { first: head.len() as u64, reader }, w, h))
            }
            _ => Err(format!("'{}' is not a .y4m file of 4:2:0 with even sides", path)),
        }
    }

    /// The next frame, written into `bytes`. A file starts again at its end.
    pub fn next(&mut self, bytes: &mut [u8], width: usize, height: usize) -> Result<(), String> {
        match self {
            Source::Generated { t } => {
                draw_scene(bytes, width, height, *t);
                *t += 1;
                Ok(())
            }
            Source::File { reader, first } => {
                let mut line = String::new();
                for _ in 0..2 {
                    line.clear();
                    if reader.read_line(&mut line).map_err(|e| e.to_string())? > 0 {
                        if !line.starts_with("FRAME") {
                            return Err("the file is damaged: FRAME is missing".into());
                        }
                        return reader.read_exact(bytes).map_err(|e| e.to_string());
                    }
                    reader.seek(SeekFrom::Start(*first)).map_err(|e| e.to_string())?;
                }
                Err("the file has no frames".into())
            }
        }
    }
}

/// Shapes that move over a gray ground, as in ../video.
fn draw_scene(bytes: &mut [u8], width: usize, height: usize, t: usize) {
    let (w, h, step) = (width as i64, height as i64, (t % 120) as i64);
    let r = h / 6;
    let (circle_x, circle_y) = (w / 4 + step * w / 480, h / 4);
    let (square_x, square_y) = (w * 3 / 4 - step * w / 480, h / 3);
    let (tip_x, tip_y, tall) = (w / 2, h * 3 / 5, h / 3);
    let (luma, chroma) = bytes.split_at_mut(width * height);
    let (u, v) = chroma.split_at_mut(width * height / 4);
    let mut span = |y: i64, x0: i64, x1: i64, color: [u8; 3]| {
        let (y, x0) = (y as usize, x0.clamp(0, w) as usize);
        let x1 = (x1.clamp(0, w) as usize).max(x0);
        luma[y * width + x0..y * width + x1].fill(color[0]);
        if y % 2 == 0 {
            let row = y / 2 * (width / 2);
            u[row + x0 / 2..row + (x1 + 1) / 2].fill(color[1]);
            v[row + x0 / 2..row + (x1 + 1) / 2].fill(color[2]);
        }
    };
    for y in 0..h {
        span(y, 0, w, [(110 + 24 * y / h) as u8, 128, 128]);
        let d = y - circle_y;
        if d * d < r * r {
            let mut half = 0;
            while (half + 1) * (half + 1) + d * d < r * r {
                half += 1;
            }
            span(y, circle_x - half, circle_x + half, [81, 90, 240]);
        }
        if (y - square_y).abs() < r {
            span(y, square_x - r, square_x + r, [41, 240, 110]);
        }
        let d = y - tip_y;
        if d >= 0 && d < tall {
            span(y, tip_x - d * 10 / 17, tip_x + d * 10 / 17, [145, 54, 34]);
        }
    }
}
