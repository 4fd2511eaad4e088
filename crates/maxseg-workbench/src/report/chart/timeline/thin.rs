//! What is kept of points where there are too many, and means over intervals.

/// Points in order of time: seconds and a value.
type Points = [(f64, f64)];

/// A pause is long that is no less than so many times the time that a kept point stands for; there are fewer than a part of the
/// kept points of them.
const LONG: f64 = 8.0;

/// The shortest pause that is seen: a value holds over it, so the last point before it and the first one behind it are kept.
fn long_pause(points: &Points, most: usize) -> f64 {
    match points {
        [first, .., last] => LONG * (last.0 - first.0) / most.max(1) as f64,
        _ => f64::INFINITY,
    }
}

/// Whether a long pause is before a point, or behind it.
fn is_at_a_pause(points: &Points, index: usize, long: f64) -> bool {
    let is_long = |from: usize, to: usize| points[to].0 - points[from].0 > long;
    (index > 0 && is_long(index - 1, index))
        || (index + 1 < points.len() && is_long(index, index + 1))
}

/// Which points are kept of so many, about `most`: one of each few, those at long pauses, and the last.
pub(super) fn kept(points: &Points, most: usize) -> Vec<usize> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    if step == 1 {
        return (0..points.len()).collect();
    }
    let long = long_pause(points, most);
    let is_kept = |index: &usize| {
        index % step == 0 || index + 1 == points.len() || is_at_a_pause(points, *index, long)
    };
    (0..points.len()).filter(is_kept).collect()
}

/// The points of a line, at most so many: where there are too many, of each stretch the first, the least, the largest and the last
/// one, and those at long pauses.
pub(super) fn thinned_line(points: &Points, most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let long = long_pause(points, most);
    // Four of each stretch, and two at each of `most / 8` pauses, are no more than `most`.
    let length = (6 * points.len()).div_ceil(most.max(1));
    let mut list = Vec::new();
    let mut first = 0;
    for stretch in points.chunks(length) {
        let by_value = |a: &usize, b: &usize| stretch[*a].1.total_cmp(&stretch[*b].1);
        let all = || 0..stretch.len();
        let extremes = [all().min_by(by_value), all().max_by(by_value)];
        let is_kept = |index: &usize| {
            *index == 0
                || index + 1 == stretch.len()
                || extremes.contains(&Some(*index))
                || is_at_a_pause(points, first + index, long)
        };
        list.extend(all().filter(is_kept).map(|index| stretch[index]));
        first += stretch.len();
    }
    list
}

/// Rates of intervals, each from its time to that of the next, as means over at least so many seconds. A longer interval stays
/// as it is: what was sent before a pause was not sent in it. The last one has no end, and stays too.
pub(super) fn means(points: &Points, least: f64) -> Vec<(f64, f64)> {
    let mut list: Vec<(f64, f64)> = Vec::new();
    // When the present mean begins, the sum of rates and times, and how long that is.
    let mut open: Option<(f64, f64, f64)> = None;
    let close = |list: &mut Vec<(f64, f64)>, open: &mut Option<(f64, f64, f64)>| {
        if let Some((from, sum, long)) = open.take() {
            list.push((from, sum / long));
        }
    };
    for pair in points.windows(2) {
        let ((from, rate), long) = (pair[0], pair[1].0 - pair[0].0);
        if long >= least {
            close(&mut list, &mut open);
            list.push((from, rate));
            continue;
        }
        let (begin, sum, before) = open.unwrap_or((from, 0.0, 0.0));
        open = Some((begin, sum + rate * long, (before + long).max(f64::MIN_POSITIVE)));
        if before + long >= least {
            close(&mut list, &mut open);
        }
    }
    close(&mut list, &mut open);
    list.extend(points.last());
    list
}
