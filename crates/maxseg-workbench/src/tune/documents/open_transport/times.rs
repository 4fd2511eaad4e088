//! How long Linux tries, in counts, for settings that give a time.

/// The least and the largest retransmission timeout of Linux, milliseconds, and the first one.
const RTO_MIN: u64 = 200;
const RTO_MAX: u64 = 120_000;
const FIRST: u64 = 1000;
/// `net.ipv4.tcp_syn_linear_timeouts`.
const LINEAR: u64 = 4;
/// More the kernel does not count.
const MOST: u64 = 255;
/// `net.ipv4.tcp_syn_retries` at most.
const MOST_SYNS: u64 = 127;

/// Milliseconds until a connection is given up after so many retransmissions (`tcp_model_timeout` in `net/ipv4/tcp_timer.c`).
fn given_up_after(retries: u64) -> u64 {
    let doublings = u64::from((RTO_MAX / RTO_MIN).ilog2());
    let doubled = |n: u64| ((2_u64 << n) - 1) * RTO_MIN;
    if retries <= doublings {
        doubled(retries)
    } else {
        doubled(doublings) + (retries - doublings) * RTO_MAX
    }
}

/// Milliseconds until `connect` fails after so many retries: the linear ones come first.
fn connect_fails_after(retries: u64) -> u64 {
    let doubled: u64 =
        (0..=retries).map(|n| FIRST.saturating_mul(1 << n.min(40)).min(RTO_MAX)).sum();
    LINEAR * FIRST + doubled
}

/// The fewest retransmissions (`tcp_retries2`) that go on for this long.
pub(super) fn retries(millis: u64) -> u64 {
    (0..MOST).find(|count| given_up_after(*count) >= millis).unwrap_or(MOST)
}

/// The fewest retries of a SYN (`tcp_syn_retries`) that go on for this long.
pub(super) fn syn_retries(millis: u64) -> u64 {
    (1..MOST_SYNS).find(|count| connect_fails_after(*count) >= millis).unwrap_or(MOST_SYNS)
}

/// The times of counts, back.
pub(super) fn of_retries(count: u64) -> u64 {
    given_up_after(count.min(MOST))
}

pub(super) fn of_syn_retries(count: u64) -> u64 {
    connect_fails_after(count.min(MOST_SYNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times_are_those_of_the_kernel_s_documentation() {
        // ip-sysctl.rst: 15 retries are 924.6 s, 6 of a SYN are 131 s with 4 linear ones.
        assert_eq!((of_retries(15), retries(924_600), retries(924_601)), (924_600, 15, 16));
        assert_eq!((of_syn_retries(6), syn_retries(131_000)), (131_000, 6));
        assert_eq!((retries(0), syn_retries(0)), (0, 1));
        assert_eq!((retries(u64::MAX), syn_retries(u64::MAX)), (255, 127));
    }

    #[test]
    fn a_count_is_found_again_from_its_time() {
        for count in 0..=255 {
            assert_eq!(retries(of_retries(count)), count);
        }
        for count in 1..=127 {
            assert_eq!(syn_retries(of_syn_retries(count)), count);
        }
    }
}
