//! Tracks of pictures that are made here: levels, batches and threads change no bit; what is refused.
#![allow(clippy::unwrap_used)]

use ndarray::{Array2, Array3};
use screentest_kernels::simd::Level;
use screentest_kernels::tracks::{
    Point, Tracks, Window, corners_of, find_points, grey8, window_starts, working_size,
};
use screentest_kernels::{Error, Format, Frame, Model, Pixels, Range};

const FULL8: Range = Range::Full { bit_depth: 8, shift: 0 };

/// Sines moved by `(dx, dy)`, exact to the rounding to 8 bits.
fn waves(width: usize, height: usize, dx: f64, dy: f64) -> Array2<u8> {
    Array2::from_shape_fn((height, width), |(y, x)| {
        let (x, y) = (x as f64 - dx, y as f64 - dy);
        let a = (x * 0.31 + y * 0.11).sin() + (x * 0.12 - y * 0.37).sin();
        let b = (x * 0.21 + y * 0.29).sin() * (x * 0.05 - y * 0.04).cos();
        (127.5 + 35.0 * a + 30.0 * b).round().clamp(0.0, 255.0) as u8
    })
}

fn format(width: usize, height: usize) -> Format {
    Format::new(width, height, Model::Grey, FULL8).unwrap()
}

fn clip(frames: usize, width: usize, height: usize) -> Vec<Array2<u8>> {
    (0..frames).map(|t| waves(width, height, 1.5 * t as f64, -0.7 * t as f64)).collect()
}

fn track(clip: &[Array2<u8>], level: Level, batch: usize, threads: usize) -> Vec<Window> {
    let (height, width) = clip[0].dim();
    let frames: Vec<Frame<'_>> = clip.iter().map(|p| Frame::U8(Pixels::Grey(p.view()))).collect();
    let items: Vec<(usize, &Frame<'_>)> = frames.iter().enumerate().collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut tracks = Tracks::new(&format(width, height), clip.len(), 4, level)
            .unwrap()
            .parallel(threads > 1);
        for items in items.chunks(batch) {
            tracks.push_many(items).unwrap();
        }
        tracks.finish()
    })
}

fn bits(points: &[Option<Point>]) -> Vec<Option<[u32; 2]>> {
    points.iter().map(|p| p.map(|p| p.map(f32::to_bits))).collect()
}

#[test]
fn dispatch_levels_agree_bit_for_bit() {
    let (from, to) = (waves(203, 151, 0.0, 0.0), waves(203, 151, 2.3, -1.1));
    let (from, to) = (from.as_slice().unwrap(), to.as_slice().unwrap());
    // Windows that reach over every edge and lie outside are among them.
    let mut points: Vec<Point> = (0..1500)
        .map(|i| [(i * 37 % 2300) as f32 / 10.0 - 12.0, (i * 91 % 1750) as f32 / 10.0 - 12.0])
        .collect();
    points.push([f32::MAX, 0.0]);
    points.push([-1e9, 40.0]);
    let at = |level| bits(&find_points([from, to], (203, 151), &points, level).unwrap());
    let plain = at(Level::Baseline);
    assert!(plain.iter().flatten().count() > 1000 && plain.iter().any(Option::is_none));
    for &level in Level::available() {
        assert_eq!(at(level), plain, "{}", level.name());
        assert_eq!(
            corners_of(from, 203, 151, level).unwrap(),
            corners_of(from, 203, 151, Level::Baseline).unwrap()
        );
    }
}

#[test]
fn grey_has_one_value_at_every_level_and_size() {
    for (width, height) in [(640, 200), (1280, 720), (800, 600), (1344, 768), (400, 1201)] {
        let frame = Array3::from_shape_fn((height, width, 3), |(y, x, c)| {
            (x * 7 + y * 13 + c * 101 + x * y % 17) as u8
        });
        let frame = Frame::U8(Pixels::Packed(frame.view()));
        let format = Format::new(width, height, Model::Rgb, FULL8).unwrap();
        let plain = grey8(&frame, &format, Level::Baseline).unwrap();
        let (w, h) = working_size(width, height);
        assert_eq!(plain.len(), w * h);
        for &level in Level::available() {
            assert_eq!(grey8(&frame, &format, level).unwrap(), plain, "{}", level.name());
        }
    }
}

#[test]
fn a_constant_frame_is_that_constant_in_grey_at_every_size() {
    for (width, height) in [(31, 17), (1280, 720), (1921, 1081), (389, 4003)] {
        for value in [0, 1, 127, 254, 255] {
            let frame = Array2::from_elem((height, width), value);
            let frame = Frame::U8(Pixels::Grey(frame.view()));
            let grey = grey8(&frame, &format(width, height), Level::best()).unwrap();
            assert!(grey.iter().all(|&v| v == value));
        }
    }
}

#[test]
fn limited_luma_spans_all_grey_levels() {
    let model = Model::Yuv { kr: 0.2126, kb: 0.0722, chroma_shift: (1, 1) };
    for (depth, shift) in [(8, 0), (10, 0), (10, 6)] {
        let range = Range::Limited { bit_depth: depth, shift };
        let format = Format::new(1280, 720, model, range).unwrap();
        for (code, level) in [(16, 0), (235, 255), (126, 128)] {
            let plane = |rows, columns, code: u16| {
                Array2::from_elem((rows, columns), (code << (depth - 8)) << shift)
            };
            let planes = [plane(720, 1280, code), plane(360, 640, 128), plane(360, 640, 128)];
            let bytes = planes.each_ref().map(|p| p.mapv(|v| v as u8));
            let frame = if depth == 8 {
                Frame::U8(Pixels::Planar(bytes.each_ref().map(|p| p.view())))
            } else {
                Frame::U16(Pixels::Planar(planes.each_ref().map(|p| p.view())))
            };
            let grey = grey8(&frame, &format, Level::best()).unwrap();
            assert!(grey.iter().all(|&v| v == level), "{depth} {code}: {}", grey[0]);
        }
    }
}

#[test]
fn batches_and_threads_change_no_bit() {
    let clip = clip(40, 160, 120);
    let whole = track(&clip, Level::best(), 40, 1);
    assert_eq!(whole.iter().map(|w| w.start).collect::<Vec<_>>(), window_starts(40, 4, 24));
    assert!(whole.iter().all(|w| w.complete && w.shape.is_some()));
    for (batch, threads) in [(1, 1), (1, 2), (5, 2), (9, 8), (40, 8)] {
        assert_eq!(track(&clip, Level::best(), batch, threads), whole, "{batch} {threads}");
    }
    for &level in Level::available() {
        assert_eq!(track(&clip, level, 11, 2), whole, "{}", level.name());
    }
}

#[test]
fn a_known_shift_is_found_to_a_hundredth_of_a_pixel() {
    let windows = track(&clip(24, 200, 160), Level::best(), 24, 2);
    let window = &windows[0];
    let motion = window.shape.as_ref().unwrap().motion;
    assert!((motion - f64::hypot(1.5, 0.7)).abs() < 0.01, "{motion}");
    let alive = window.tracks.iter().filter(|t| t.len() == 24).count();
    assert_eq!(alive, window.alive);
    assert_eq!(window.brightness.len(), 24);
}

#[test]
fn corners_are_the_four_of_a_square() {
    let square = |(y, x): (usize, usize)| {
        if (20..40).contains(&y) && (30..60).contains(&x) { 200 } else { 50 }
    };
    let picture = Array2::from_shape_fn((64, 96), square);
    let mut found = corners_of(picture.as_slice().unwrap(), 96, 64, Level::best()).unwrap();
    found.sort_by(|a, b| a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0])));
    let expected = [[30.0, 20.0], [59.0, 20.0], [30.0, 39.0], [59.0, 39.0]];
    assert_eq!(found.len(), 4);
    for (found, expected) in found.iter().zip(expected) {
        let off = (0..2).map(|i| (found[i] - expected[i]).abs()).fold(0.0, f32::max);
        assert!(off <= 3.0, "{found:?} {expected:?}");
    }
}

#[test]
fn a_point_that_leaves_the_picture_is_lost() {
    let (from, to) = (waves(120, 90, 0.0, 0.0), waves(120, 90, 0.0, 0.0));
    let planes = [from.as_slice().unwrap(), to.as_slice().unwrap()];
    let found = |p: Point| find_points(planes, (120, 90), &[p], Level::best()).unwrap()[0];
    assert_eq!(found([60.0, 45.0]), Some([60.0, 45.0]));
    // A window that does not touch the picture any more.
    assert_eq!(found([131.0, 45.0]), None);
    assert_eq!(found([60.0, -12.0]), None);
}

#[test]
fn a_picture_of_one_pixel_and_one_smaller_than_the_window_are_measured() {
    for (width, height) in [(1, 1), (2, 30), (12, 10)] {
        let windows = track(&clip(5, width, height), Level::best(), 5, 1);
        assert!(windows[0].complete && windows[0].alive <= windows[0].seeded);
    }
}

#[test]
fn too_few_frames() {
    for frames in 0..3 {
        let refused = Tracks::new(&format(8, 8), frames, 4, Level::best()).err();
        assert_eq!(refused, Some(Error::TooFewFrames { needed: 3, given: frames }));
    }
}

#[test]
fn a_frame_that_does_not_come_after_the_last_keeps_nothing() {
    let clip = clip(4, 64, 48);
    let frames: Vec<Frame<'_>> = clip.iter().map(|p| Frame::U8(Pixels::Grey(p.view()))).collect();
    let mut tracks = Tracks::new(&format(64, 48), 4, 1, Level::best()).unwrap();
    tracks.push_many(&[(0, &frames[0])]).unwrap();
    let refused = tracks.push_many(&[(1, &frames[1]), (1, &frames[1])]).unwrap_err();
    assert_eq!(refused, Error::NotAdjacent { last: Some(1), given: 1 });
    tracks.push_many(&[(1, &frames[1]), (2, &frames[2]), (3, &frames[3])]).unwrap();
    assert_eq!(tracks.finish(), track(&clip, Level::best(), 4, 1));
}

#[test]
fn plane_size() {
    let refused = find_points([&[0; 12], &[0; 11]], (4, 3), &[], Level::best()).unwrap_err();
    assert_eq!(refused, Error::PlaneSize { plane: 0, expected: (3, 4), given: (2, 4) });
    let refused = corners_of(&[], 0, 3, Level::best()).unwrap_err();
    assert_eq!(refused, Error::BadGeometry { width: 0, height: 3 });
}
