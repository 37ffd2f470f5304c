//! Which frames are read, and how large a picture the tracks live in.

/// Height that a taller picture is brought to.
pub const HEIGHT: usize = 384;

/// Starts of up to `windows` windows of `length` frames spread over `frames`: the sorted set of
/// `round(i * last / (windows - 1))`, half to even, with `last = frames - min(length, frames)`.
/// Windows may overlap. Empty for no frames.
pub fn window_starts(frames: usize, windows: usize, length: usize) -> Vec<usize> {
    let last = frames - length.min(frames);
    if frames == 0 {
        return Vec::new();
    }
    if last == 0 || windows <= 1 {
        return vec![0];
    }
    // More windows than places to start: every place, and no time goes by the number asked for.
    if windows > last {
        return (0..=last).collect();
    }
    let step = last as f64 / (windows - 1) as f64;
    let mut starts: Vec<usize> =
        (0..windows).map(|i| (i as f64 * step).round_ties_even() as usize).collect();
    starts.dedup();
    starts
}

/// (width, height) of the picture that is tracked in: that of the frame up to a height of 384, else
/// 384 rows and as many columns as keep the shape, rounded and then down to even, at least two.
pub fn working_size(width: usize, height: usize) -> (usize, usize) {
    if height <= HEIGHT {
        return (width, height);
    }
    let columns = (HEIGHT as f64 * width as f64 / height as f64).round_ties_even() as usize;
    ((columns & !1).max(2), HEIGHT)
}

#[cfg(test)]
mod tests {
    use super::{window_starts, working_size};

    #[test]
    fn worked_examples_of_window_starts() {
        assert_eq!(window_starts(24, 4, 24), [0]);
        assert_eq!(window_starts(25, 4, 24), [0, 1]);
        assert_eq!(window_starts(28, 4, 24), [0, 1, 3, 4]);
        assert_eq!(window_starts(40, 4, 24), [0, 5, 11, 16]);
        assert_eq!(window_starts(49, 4, 24), [0, 8, 17, 25]);
        assert_eq!(window_starts(121, 4, 24), [0, 32, 65, 97]);
        assert_eq!(window_starts(241, 4, 24), [0, 72, 145, 217]);
        assert_eq!(window_starts(241, 1, 24), [0]);
        assert!(window_starts(0, 4, 24).is_empty());
    }

    #[test]
    fn more_windows_than_places_start_at_every_place_at_once() {
        for windows in [26, 27, 50, usize::MAX] {
            assert_eq!(window_starts(49, windows, 24), (0..=25).collect::<Vec<_>>(), "{windows}");
        }
        assert_eq!(window_starts(49, 25, 24).len(), 25, "one place is left out");
    }

    #[test]
    fn worked_examples_of_the_working_size() {
        let examples = [
            ((512, 384), (512, 384)),
            ((512, 385), (510, 384)),
            ((1280, 720), (682, 384)),
            ((1344, 768), (672, 384)),
            ((512, 768), (256, 384)),
            ((1920, 1080), (682, 384)),
            ((448, 448), (384, 384)),
            ((321, 243), (321, 243)),
            ((333, 1000), (128, 384)),
            ((20, 4000), (2, 384)),
            ((1, 1000), (2, 384)),
        ];
        for ((width, height), expected) in examples {
            assert_eq!(working_size(width, height), expected);
        }
    }
}
