//! Wake-up latency: how long after its time a waiting thread wakes.

use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use maxseg_core::units::Time;

use crate::sys::{minimize_timer_slack, wait_for};

/// The median wake-up latency, measured once in this process. A relay's waits are shorter by it, so that it wakes in
/// time.
pub(crate) fn latency() -> Time {
    static LATENCY: OnceLock<Time> = OnceLock::new();
    *LATENCY.get_or_init(|| measure().unwrap_or_default())
}

const TRIES: usize = 31;
const WAIT: Duration = Duration::from_micros(200);
/// The most that is compensated: a larger latency is that of a busy machine, and such early wake-ups would be a busy
/// loop.
const MOST: Duration = Duration::from_micros(100);

fn measure() -> io::Result<Time> {
    minimize_timer_slack();
    let mut over = Vec::with_capacity(TRIES);
    for _ in 0..TRIES {
        let begun = Instant::now();
        wait_for(&[], Some(WAIT))?;
        over.push(begun.elapsed().saturating_sub(WAIT));
    }
    over.sort_unstable();
    Ok(over[TRIES / 2].min(MOST).into())
}
