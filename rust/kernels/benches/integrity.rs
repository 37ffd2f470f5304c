//! Kernels of the integrity family, each dispatch level beside the others. The levels must agree
//! before they are timed.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndarray::{Array2, Array3};
use screentest_kernels::integrity::{Ask, Integrity};
use screentest_kernels::simd::Level;
use screentest_kernels::{Format, Frame, Model, Pixels, Range};

const WIDTH: usize = 1344;
const HEIGHT: usize = 768;

/// A drifting pattern with detail at every scale, so that no branch is predictable for long.
fn sample(frame: usize, y: usize, x: usize, channel: usize) -> u8 {
    let x = x + 3 * frame;
    let wave = ((x as f64 * 0.05).sin() + (y as f64 * 0.031).cos()) * 50.0 + 128.0;
    let hash = (x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA77) ^ channel) >> 7;
    (wave as usize + hash % 31) as u8
}

fn rgb(frame: usize) -> Array3<u8> {
    Array3::from_shape_fn((HEIGHT, WIDTH, 3), |(y, x, c)| sample(frame, y, x, c))
}

fn luma(frame: usize) -> Array2<u8> {
    Array2::from_shape_fn((HEIGHT, WIDTH), |(y, x)| sample(frame, y, x, 0))
}

fn facts(format: &Format, level: Level, frames: [&Frame<'_>; 2], ask: Ask) -> Option<String> {
    let mut integrity = Integrity::new(format.clone(), level);
    integrity.push(0, frames[0], None, Ask { grid: ask.grid, ..Ask::default() }).ok()?;
    integrity.push(1, frames[1], Some(frames[0]), ask).ok()?;
    let grid = if ask.grid { integrity.grid(&[0, 1]).ok()? } else { None };
    Some(format!("{:?} {:?} {grid:?}", integrity.stills(), integrity.steps()))
}

fn group(c: &mut Criterion, name: &str, format: &Format, frames: [&Frame<'_>; 2], ask: Ask) {
    let expected = facts(format, Level::Baseline, frames, ask);
    assert!(expected.is_some(), "{name}: the frames do not fit the format");
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements((WIDTH * HEIGHT) as u64));
    for &level in Level::available() {
        assert_eq!(facts(format, level, frames, ask), expected, "{name}: {}", level.name());
        group.bench_function(level.name(), |b| {
            b.iter(|| {
                let mut integrity = Integrity::new(format.clone(), level);
                let first = integrity.push(0, frames[0], None, Ask::default());
                let second = integrity.push(1, frames[1], Some(frames[0]), ask);
                black_box((first.is_ok(), second.is_ok(), integrity))
            });
        });
    }
    group.finish();
}

fn integrity(c: &mut Criterion) {
    if cfg!(debug_assertions) {
        eprintln!("refused: a debug build says nothing about speed");
        return;
    }
    let full = Range::Full { bit_depth: 8, shift: 0 };
    let limited = Range::Limited { bit_depth: 8, shift: 0 };
    let (Ok(packed), Ok(grey)) = (
        Format::new(WIDTH, HEIGHT, Model::Rgb, full),
        Format::new(WIDTH, HEIGHT, Model::Grey, limited),
    ) else {
        return;
    };
    let (rgb0, rgb1, y0, y1) = (rgb(0), rgb(1), luma(0), luma(1));
    let rgb = [Frame::U8(Pixels::Packed(rgb0.view())), Frame::U8(Pixels::Packed(rgb1.view()))];
    let y = [Frame::U8(Pixels::Grey(y0.view())), Frame::U8(Pixels::Grey(y1.view()))];
    // Turned upside down, the second frame has little in common with the first.
    let far = Frame::U8(Pixels::Grey(y0.slice(ndarray::s![..;-1, ..])));
    let asks = [
        ("pair", Ask { change: true, ..Ask::default() }),
        ("lattice", Ask { grid: true, ..Ask::default() }),
    ];
    for (what, ask) in asks {
        let name = format!("integrity {what}: 1344x768 u8");
        group(c, &format!("{name} rgb"), &packed, [&rgb[0], &rgb[1]], ask);
        group(c, &format!("{name} luma plane"), &grey, [&y[0], &y[1]], ask);
    }
    let align = Ask { align: true, ..Ask::default() };
    group(c, "integrity aligned: 1344x768 u8 luma plane", &grey, [&y[0], &far], align);
}

fn planar(c: &mut Criterion) {
    let limited = Range::Limited { bit_depth: 8, shift: 0 };
    let model = Model::Yuv { kr: 0.2126, kb: 0.0722, chroma_shift: (1, 1) };
    let Ok(format) = Format::new(WIDTH, HEIGHT, model, limited) else { return };
    let half =
        |frame| Array2::from_shape_fn((HEIGHT / 2, WIDTH / 2), |(y, x)| sample(frame, y, x, 1));
    let (y0, y1, c0, c1) = (luma(0), luma(1), half(0), half(5));
    let a = Frame::U8(Pixels::Planar([y0.view(), c0.view(), c1.view()]));
    let b = Frame::U8(Pixels::Planar([y1.view(), c1.view(), c0.view()]));
    let asks = [
        ("pair", Ask { change: true, ..Ask::default() }),
        ("lattice", Ask { grid: true, ..Ask::default() }),
    ];
    for (what, ask) in asks {
        group(c, &format!("integrity {what}: 1344x768 u8 bt709 4:2:0"), &format, [&a, &b], ask);
    }
    let far = Frame::U8(Pixels::Planar([
        y0.slice(ndarray::s![..;-1, ..]),
        c0.slice(ndarray::s![..;-1, ..]),
        c1.slice(ndarray::s![..;-1, ..]),
    ]));
    let align = Ask { align: true, ..Ask::default() };
    group(c, "integrity aligned: 1344x768 u8 bt709 4:2:0", &format, [&a, &far], align);
}

criterion_group!(benches, integrity, planar);
criterion_main!(benches);
