//! Windows.

use maxseg_core::units::{BitsPerSec, Bytes, Time};
use maxseg_core::window::{Pipe, linux_shift, smallest_shift};

use super::row::{Row, Rule};

pub(crate) const WINDOW: Rule = Rule { file: "window", check: window };

fn window(row: &mut Row) {
    let pipe = Pipe {
        rate: BitsPerSec::new(row.count("rate_bits_per_s")).unwrap(),
        rtt: Time::from_secs_f64(row.number("rtt0_s")),
    };
    let window = row.bytes("window_bytes");
    row.expect("bdp_bytes", pipe.bdp());
    row.expect("window_limited_rate_bits_per_s", pipe.rate_with(window));
    row.expect("standing_queue_delay_s", pipe.standing_queue(window));
    row.expect("drain_time_window_over_rate_s", pipe.drain_time(window));
    row.expect_count("min_wscale_shift", smallest_shift(window).into());
    row.expect_count("linux_wscale_if_max_space", linux_shift(window).into());
    let segments = u64::try_from(pipe.segments(Bytes::new(1460))).unwrap();
    row.expect_count("ceil_bdp_over_1460", segments);
}
