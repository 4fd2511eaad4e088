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
        index.is_multiple_of(step)
            || index + 1 == points.len()
            || is_at_a_pause(points, *index, long)
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

/// A mean while it is made: when it begins, the sum of rates by times, and how long it is.
struct Mean {
    from: f64,
    sum: f64,
    long: f64,
    /// Whether it is one interval that is long by itself.
    is_whole: bool,
}

/// Rates of intervals, each from its time to that of the next, as means over at least so many seconds. A longer interval stays
/// as it is: what was sent before a pause was not sent in it. What is left over belongs to the mean before it, since a short
/// interval has rates that no other has. The last point is the end: a rate there is that of the last mean.
pub(super) fn means(points: &Points, least: f64) -> Vec<(f64, f64)> {
    let mut list: Vec<Mean> = Vec::new();
    let mut is_open = false;
    for pair in points.windows(2) {
        let ((from, rate), long) = (pair[0], pair[1].0 - pair[0].0);
        let is_whole = long >= least;
        if is_open && is_whole {
            join_left_over(&mut list);
        }
        match list.last_mut().filter(|_| is_open && !is_whole) {
            Some(open) => {
                open.sum += rate * long;
                open.long += long;
            }
            None => list.push(Mean { from, sum: rate * long, long, is_whole }),
        }
        is_open = list.last().is_some_and(|last| last.long < least);
    }
    if is_open {
        join_left_over(&mut list);
    }
    let rate = |mean: &Mean| mean.sum / mean.long.max(f64::MIN_POSITIVE);
    let end = points.last().map(|(at, value)| {
        let mean = list.last().filter(|_| *value > 0.0);
        (*at, mean.map_or(*value, rate))
    });
    list.iter().map(|mean| (mean.from, rate(mean))).chain(end).collect()
}

fn join_left_over(list: &mut Vec<Mean>) {
    if let [.., before, over] = list.as_mut_slice()
        && !before.is_whole
    {
        before.sum += over.sum;
        before.long += over.long;
        list.pop();
    }
}
