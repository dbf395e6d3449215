// SPDX-License-Identifier: Apache-2.0
//! rknn_video MODEL.rknn [--file VIDEO.y4m | --size 1920x1080] [--frames N] [--mode zero|copy|both] [--table]
//!
//! Frames in memory with a descriptor, letterboxed by the 2D engine into the NPU's input, outputs read in place. Where that
//! is not possible the program says why and copies.
mod detect;
mod ffi;
mod frames;
mod npu;

use detect::{decode, in_frame, Found, CLASSES};
use frames::{Memory, Source};
use npu::Npu;
use std::os::raw::c_int;
use std::time::Instant;

struct Settings {
    model: String,
    file: Option<String>,
    width: usize,
    height: usize,
    frames: usize,
    mode: String,
    table: bool,
}

fn parse() -> Option<Settings> {
    let mut out = Settings { model: String::new(), file: None, width: 1920, height: 1080, frames: 60, mode: "both".into(), table: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--table" => out.table = true,
            "--file" => out.file = Some(words.next()?),
            "--frames" => out.frames = words.next()?.parse().ok()?,
            "--mode" => out.mode = words.next()?,
            "--size" => {
                let text = words.next()?;
                let (w, h) = text.split_once('x')?;
                out.width = w.parse().ok()?;
                out.height = h.parse().ok()?;
            }
            _ if out.model.is_empty() && !word.starts_with("--") => out.model = word,
            _ => return None,
        }
    }
    let side = |n: usize| (32..=8192).contains(&n) && n % 2 == 0;
    let good = !out.model.is_empty() && side(out.width) && side(out.height) && out.frames > 0 && ["zero", "copy", "both"].contains(&out.mode.as_str());
    if good {
        Some(out)
    } else {
        None
    }
}

fn engine(call: &str, status: c_int) -> Result<(), String> {
    if status == ffi::IM_STATUS_SUCCESS {
        Ok(())
    } else {
        Err(format!("{} returned {}", call, status))
    }
}

fn cpu_seconds() -> f64 {
    let mut time = ffi::timespec::default();
    // SAFETY: the structure is this call's.
    unsafe { ffi::clock_gettime(ffi::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn run(settings: &Settings, zero_copy: bool) -> Result<(), String> {
    let (mut source, width, height) = match &settings.file {
        Some(path) => Source::open(path)?,
        None => (Source::Generated { t: 0 }, settings.width, settings.height),
    };
    let (mut npu, why) = Npu::open(&settings.model, zero_copy)?;
    if let Some(why) = why {
        eprintln!("the NPU's input is copied: {}", why);
    }
    let size = width * height * 3 / 2;
    let mut memory = Memory::Own(vec![0; size]);
    if zero_copy {
        match Memory::shared(width, height) {
            Ok(shared) => memory = shared,
            Err(why) => eprintln!("frames are copied: {}", why),
        }
    }
    let mut frame = match memory {
        Memory::Own(_) => vec![0u8; size], // what the application keeps of a source whose memory is not shared
        Memory::Shared { .. } => Vec::new(),
    };
    if npu.output_count() != 3 || npu.width != npu.height {
        return Err("the model is not a detector with three heads".into());
    }
    let scale = (npu.width as f32 / width as f32).min(npu.height as f32 / height as f32);
    let inside = |side: usize, most: usize| ((side as f32 * scale + 0.5) as usize).min(most);
    let (w, h) = (inside(width, npu.width), inside(height, npu.height));
    let (x_pad, y_pad) = ((npu.width - w) / 2, (npu.height - h) / 2);
    let target = npu.target();
    let whole = ffi::im_rect { x: 0, y: 0, width: npu.width as c_int, height: npu.height as c_int };
    // SAFETY: the target's memory belongs to npu, which outlives the loop.
    engine("imfill", unsafe { ffi::imfill_t(target, whole, 0x727272, 1) })?;
    let place = ffi::im_rect { x: x_pad as c_int, y: y_pad as c_int, width: w as c_int, height: h as c_int };
    let (mut copies, mut bytes, mut boxes) = (0u64, 0u64, 0usize);
    let mut last: Vec<Found> = Vec::new();
    let (start, cpu) = (Instant::now(), cpu_seconds());
    for _ in 0..settings.frames {
        source.next(memory.bytes(), width, height)?;
        // SAFETY: zeros are a value of this structure; frames outlive the calls that read them.
        let (nothing, from): (ffi::rga_buffer_t, ffi::rga_buffer_t) = unsafe {
            let (wi, hi) = (width as c_int, height as c_int);
            let from = match &memory {
                Memory::Shared { handle, .. } => ffi::wrapbuffer_handle_t(*handle, wi, hi, wi, hi, ffi::RK_FORMAT_YCBCR_420_P),
                Memory::Own(own) => {
                    frame.copy_from_slice(own);
                    copies += 1;
                    bytes += size as u64;
                    ffi::wrapbuffer_virtualaddr_t(frame.as_mut_ptr().cast(), wi, hi, wi, hi, ffi::RK_FORMAT_YCBCR_420_P)
                }
            };
            (std::mem::zeroed(), from)
        };
        let none = ffi::im_rect::default();
        // SAFETY: as above.
        engine("improcess", unsafe { ffi::improcess(from, target, nothing, none, place, none, ffi::IM_SYNC) })?;
        npu.run()?;
        let found = decode([npu.output(0), npu.output(1), npu.output(2)], npu.width)?;
        last = found.iter().map(|f| in_frame(f, x_pad, y_pad, scale, width, height)).collect();
        boxes += last.len();
    }
    let (wall, busy, n) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu, settings.frames as f64);
    println!(
        "{}: 1 streams, {} frames, {:.1} fps, {:.2} copies per frame, {:.0} bytes, CPU {:.0} %, {} boxes",
        if zero_copy { "zero-copy" } else { "copying" },
        settings.frames,
        n / wall,
        (copies + npu.copies) as f64 / n,
        (bytes + npu.bytes) as f64 / n,
        100.0 * busy / wall,
        boxes
    );
    if settings.table {
        println!("class   score  xmin, ymin, xmax, ymax\n{}", "-".repeat(49));
        for f in &last {
            println!("{:<7} {:.3} [{:4}, {:4}, {:4}, {:4}]", CLASSES[f.class], f.score, f.left as i32, f.top as i32, f.right as i32, f.bottom as i32);
        }
    }
    Ok(())
}

fn main() {
    let settings = match parse() {
        Some(settings) => settings,
        None => {
            eprintln!("usage: rknn_video MODEL.rknn [--file VIDEO.y4m | --size 1920x1080] [--frames N] [--mode zero|copy|both] [--table]");
            std::process::exit(2);
        }
    };
    for (mode, zero_copy) in [("zero", true), ("copy", false)] {
        if settings.mode == "both" || settings.mode == mode {
            if let Err(text) = run(&settings, zero_copy) {
                eprintln!("{}", text);
                std::process::exit(1);
            }
        }
    }
}
