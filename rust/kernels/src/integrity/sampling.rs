/// Starts of up to `pairs` adjacent frame pairs spread over `frames`: the sorted set of
/// `round(i * last / (pairs - 1))`, half to even, with `last = frames - 2`. Pair `k` is frames
/// `k` and `k + 1`. Empty for fewer than two frames.
pub fn pair_starts(frames: usize, pairs: usize) -> Vec<usize> {
    if frames < 2 || pairs == 0 {
        return Vec::new();
    }
    let last = frames - 2;
    if pairs > last {
        return (0..=last).collect();
    }
    if pairs == 1 {
        return vec![0];
    }
    let step = last as f64 / (pairs - 1) as f64;
    let mut starts: Vec<usize> =
        (0..pairs).map(|i| (i as f64 * step).round_ties_even() as usize).collect();
    starts.dedup();
    starts
}

#[cfg(test)]
mod tests {
    use super::pair_starts;

    #[test]
    fn worked_examples() {
        assert_eq!(pair_starts(24, 5), [0, 6, 11, 16, 22]);
        assert_eq!(pair_starts(25, 5), [0, 6, 12, 17, 23]);
        assert_eq!(pair_starts(28, 5), [0, 6, 13, 20, 26]);
        assert_eq!(pair_starts(49, 5), [0, 12, 24, 35, 47]);
        assert_eq!(pair_starts(132, 5), [0, 32, 65, 98, 130]);
        assert_eq!(pair_starts(121, 5), [0, 30, 60, 89, 119]);
    }

    #[test]
    fn short_clips_use_every_pair_and_one_frame_none() {
        assert_eq!(pair_starts(6, 5), [0, 1, 2, 3, 4]);
        assert_eq!(pair_starts(2, 5), [0]);
        assert!(pair_starts(1, 5).is_empty() && pair_starts(0, 5).is_empty());
    }
}
