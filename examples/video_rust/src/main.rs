// SPDX-License-Identifier: Apache-2.0
//! rknn_video MODEL.rknn [--file VIDEO.y4m | --size 1920x1080] [--streams 1..4] [--frames N] [--mode zero|copy|both]
//!            [--table] [--growth]
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
use std::sync::Barrier;
use std::time::Instant;

struct Settings {
    model: String,
    file: Option<String>,
    width: usize,
    height: usize,
    streams: usize,
    frames: usize, // of each stream
    mode: String,
    table: bool,
    growth: bool,
}

fn parse() -> Option<Settings> {
    let mut out =
        Settings { model: String::new(), file: None, width: 1920, height: 1080, streams: 1, frames: 60, mode: "both".into(), table: false, growth: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--table" => out.table = true,
            "--growth" => out.growth = true,
            "--streams" => out.streams = words.next()?.parse().ok()?,
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
    let counts = (1..=4).contains(&out.streams) && out.frames > 0;
    let good = !out.model.is_empty() && side(out.width) && side(out.height) && counts && ["zero", "copy", "both"].contains(&out.mode.as_str());
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

/// "NNN kB, M descriptors" of this process.
fn held() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or("? kB").trim().to_string();
    let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, |folder| folder.count());
    format!("{}, {} descriptors", memory, descriptors.saturating_sub(1)) // the folder itself is open
}

/// What one stream did.
#[derive(Default)]
struct Counts {
    copies: u64,
    bytes: u64,
    boxes: usize,
    sum: u64, // of all boxes, to compare two ways
    last: Vec<Found>,
}

impl Counts {
    fn mix(&mut self, value: i64) {
        self.sum = (self.sum ^ value as u64).wrapping_mul(1099511628211);
    }
}

/// A source, a context and the memory between them.
struct Stream {
    source: Source,
    width: usize,
    height: usize,
    npu: Npu,
    memory: Memory,
    frame: Vec<u8>, // what the application keeps of a source whose memory is not shared
    target: ffi::rga_buffer_t,
    place: ffi::im_rect,
    scale: f32,
    counts: Counts,
}

impl Stream {
    fn start(settings: &Settings, number: usize, zero_copy: bool) -> Result<Stream, String> {
        let (source, width, height) = match &settings.file {
            Some(path) => Source::open(path)?,
            None => (Source::Generated { t: 17 * number }, settings.width, settings.height),
        };
        let (mut npu, why) = Npu::open(&settings.model, zero_copy)?;
        if let Some(why) = why {
            eprintln!("stream {}: the NPU's input is copied: {}", number, why);
        }
        let size = width * height * 3 / 2;
        let mut memory = Memory::Own(Vec::new());
        if zero_copy {
            match Memory::shared(width, height) {
                Ok(shared) => memory = shared,
                Err(why) => eprintln!("stream {}: frames are copied: {}", number, why),
            }
        }
        let mut frame = Vec::new();
        if let Memory::Own(own) = &mut memory {
            own.resize(size, 0);
            frame.resize(size, 0);
        }
        if npu.output_count() != 3 || npu.width != npu.height {
            return Err("the model is not a detector with three heads".into());
        }
        let scale = (npu.width as f32 / width as f32).min(npu.height as f32 / height as f32);
        let inside = |side: usize, most: usize| ((side as f32 * scale + 0.5) as usize).min(most);
        let (w, h) = (inside(width, npu.width), inside(height, npu.height));
        let target = npu.target();
        let whole = ffi::im_rect { x: 0, y: 0, width: npu.width as c_int, height: npu.height as c_int };
        // SAFETY: the target's memory belongs to npu, which lives as long as the stream.
        engine("imfill", unsafe { ffi::imfill_t(target, whole, 0x727272, 1) })?;
        let place = ffi::im_rect { x: (npu.width - w) as c_int / 2, y: (npu.height - h) as c_int / 2, width: w as c_int, height: h as c_int };
        Ok(Stream { source, width, height, npu, memory, frame, target, place, scale, counts: Counts { sum: 1469598103934665603, ..Counts::default() } })
    }

    /// One frame: letterbox, NPU, boxes.
    fn step(&mut self) -> Result<(), String> {
        self.source.next(self.memory.bytes(), self.width, self.height)?;
        let (w, h) = (self.width as c_int, self.height as c_int);
        // SAFETY: frames outlive the calls that read them.
        let from = match &self.memory {
            Memory::Shared { handle, .. } => unsafe { ffi::wrapbuffer_handle_t(*handle, w, h, w, h, ffi::RK_FORMAT_YCBCR_420_P) },
            Memory::Own(own) => {
                self.frame.copy_from_slice(own);
                self.counts.copies += 1;
                self.counts.bytes += own.len() as u64;
                unsafe { ffi::wrapbuffer_virtualaddr_t(self.frame.as_mut_ptr().cast(), w, h, w, h, ffi::RK_FORMAT_YCBCR_420_P) }
            }
        };
        let none = ffi::im_rect::default();
        // SAFETY: as above; zeros are a value of a buffer's description and mean that there is none.
        engine("improcess", unsafe { ffi::improcess(from, self.target, std::mem::zeroed(), none, self.place, none, ffi::IM_SYNC) })?;
        self.npu.run()?;
        let found = decode([self.npu.output(0), self.npu.output(1), self.npu.output(2)], self.npu.width)?;
        let (x_pad, y_pad) = (self.place.x as usize, self.place.y as usize);
        self.counts.last.clear();
        for f in &found {
            let f = in_frame(f, x_pad, y_pad, self.scale, self.width, self.height);
            for value in [f.left, f.top, f.right, f.bottom, f.score * 1000.0, f.class as f32] {
                self.counts.mix(value.round() as i64);
            }
            self.counts.last.push(f);
        }
        self.counts.boxes += found.len();
        Ok(())
    }

    fn finish(self) -> Counts {
        let (copies, bytes) = (self.npu.copies, self.npu.bytes);
        let mut counts = self.counts;
        counts.copies += copies;
        counts.bytes += bytes;
        counts
    }
}

/// All frames of one stream. Everybody starts together and nobody lets go of anything before all are done; who failed comes to
/// the barriers, too.
fn serve(settings: &Settings, number: usize, zero_copy: bool, ready: &Barrier, done: &Barrier) -> Result<Counts, String> {
    let stream = Stream::start(settings, number, zero_copy);
    ready.wait();
    let served = stream.and_then(|mut stream| {
        for t in 1..=settings.frames {
            stream.step()?;
            if settings.growth && number == 0 && t == settings.frames / 10 {
                println!("after {} frames: {}", t, held());
            }
        }
        Ok(stream)
    });
    done.wait();
    if settings.growth && number == 0 {
        println!("after {} frames: {}", settings.frames, held());
    }
    done.wait();
    served.map(Stream::finish)
}

fn run(settings: &Settings, zero_copy: bool) -> Result<(), String> {
    let (ready, done) = (Barrier::new(settings.streams + 1), Barrier::new(settings.streams));
    let (all, wall, busy) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..settings.streams)
            .map(|number| {
                let (ready, done) = (&ready, &done);
                scope.spawn(move || serve(settings, number, zero_copy, ready, done))
            })
            .collect();
        ready.wait();
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let all: Result<Vec<Counts>, String> = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a stream panicked".into()))).collect();
        (all, start.elapsed().as_secs_f64(), cpu_seconds() - cpu)
    });
    let all = all?;
    let mut total = Counts { sum: 1469598103934665603, ..Counts::default() };
    for one in &all {
        total.copies += one.copies;
        total.bytes += one.bytes;
        total.boxes += one.boxes;
        total.mix(one.sum as i64);
    }
    let n = (settings.frames * settings.streams) as f64;
    println!(
        "{}: {} streams, {} frames, {:.1} fps, {:.2} copies per frame, {:.0} bytes, CPU {:.0} %, {} boxes, sum {:016x}",
        if zero_copy { "zero-copy" } else { "copying" },
        settings.streams,
        settings.frames * settings.streams,
        n / wall,
        total.copies as f64 / n,
        total.bytes as f64 / n,
        100.0 * busy / wall,
        total.boxes,
        total.sum
    );
    if settings.table {
        println!("class   score  xmin, ymin, xmax, ymax\n{}", "-".repeat(49));
        for f in &all[0].last {
            println!("{:<7} {:.3} [{:4}, {:4}, {:4}, {:4}]", CLASSES[f.class], f.score, f.left as i32, f.top as i32, f.right as i32, f.bottom as i32);
        }
    }
    Ok(())
}

fn main() {
    let settings = match parse() {
        Some(settings) => settings,
        None => {
            eprintln!(
                "usage: rknn_video MODEL.rknn [--file VIDEO.y4m | --size 1920x1080] [--streams 1..4] [--frames N] [--mode zero|copy|both]\n\
                 \x20      [--table] [--growth]"
            );
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
