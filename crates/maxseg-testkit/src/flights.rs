//! Evidence of ten round trips with nothing to find, for a test to change one thing.

use maxseg_core::evidence::{
    Bin, Bins, CaptureFacts, DirectionStats, Ending, Evidence, Handshake, Marks, Refills,
};
use maxseg_core::units::Time;

/// The round trip of [`flight`], and the length of its intervals.
pub const ROUND_TRIP: Time = Time::from_millis(64);
/// Intervals of [`flight`].
const INTERVALS: u64 = 10;

/// What a SYN of today offers.
pub fn offers() -> DirectionStats {
    DirectionStats {
        mss_option_bytes: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: true,
        ..DirectionStats::default()
    }
}

/// [`flight`] as it is: with nothing to find.
pub fn clean() -> Evidence {
    flight(|_, _| ())
}

/// Ten round trips of data over a link of 20 Mbit/s, 160 000 bytes each, as `each` makes them by their number: by itself a
/// flight that does not grow, far below link and windows.
///
/// # Panics
/// Never: the addresses are valid.
pub fn flight(each: impl Fn(u64, &mut Bin)) -> Evidence {
    let mut bins = Bins::new(Time::ZERO, ROUND_TRIP);
    for n in 0..INTERVALS {
        let bin = bins.at(ROUND_TRIP.times(n));
        bin.segments = 10;
        (bin.sent_bytes, bin.acked_bytes, bin.in_flight_max) = (14_480, 14_480, 14_480);
        bin.window_left_min = Some(1 << 20);
        (bin.rtt_count, bin.rtt_sum) = (1, ROUND_TRIP);
        // Acknowledgements clock the sender, and not by chance.
        (bin.clocked_bytes, bin.clock_time) = (14_480, Time::from_millis(6));
        each(n, bin);
    }
    bins.finish(ROUND_TRIP.times(INTERVALS));
    Evidence {
        id: 0,
        client: "10.0.0.1:40000".parse().expect("a valid address"),
        server: "10.0.0.2:80".parse().expect("a valid address"),
        begin: Time::ZERO,
        end: ROUND_TRIP.times(INTERVALS),
        handshake: Handshake { syn: true, syn_ack: true, ..Handshake::default() },
        ending: Ending::Closed,
        reset_at: None,
        reset_is_other_path: false,
        silence: None,
        requests: None,
        forward: DirectionStats {
            data_packets: 100,
            payload_bytes: 144_800,
            unique_bytes: 144_800,
            mss_used_bytes: Some(1448),
            capacity_bps: Some(20e6),
            path_rtt_min_s: Some(ROUND_TRIP.as_secs_f64()),
            path_rtt_mean_s: Some(ROUND_TRIP.as_secs_f64()),
            bins,
            // Two acknowledgements are answered together.
            refills: Some(Refills { acks_an_answer: Some(2.0), ..Refills::default() }),
            ..offers()
        },
        reverse: offers(),
        path_mtu_events: Vec::new(),
        unreachable: Vec::new(),
        marks: Marks::default(),
        capture: CaptureFacts::default(),
        joined: None,
        beside: None,
    }
}
