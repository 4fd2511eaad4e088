use super::super::super::rate::RateSample;
use super::super::View;
use super::*;

const MSS: u64 = 1448;
/// Round trip in microseconds, and segments that arrive in each.
const ROUND_TRIP: u64 = 40_000;

fn view(micros: u64) -> View {
    View {
        micros,
        jiffies: 1_000_000 + micros / 4000,
        hz: 250,
        snd_una: 0,
        snd_nxt: 0,
        last_sent_jiffies: 0,
        pacing_rate: 0,
        is_paced: true,
        gso_max_size: 65_000,
    }
}

fn flow(micros: u64, delivered: u64, in_flight: u64) -> Flow {
    Flow {
        view: view(micros),
        mss: MSS,
        srtt8: ROUND_TRIP * 8,
        min_round_trip: ROUND_TRIP,
        delivered,
        delivered_at: micros,
        lost: 0,
        in_flight,
        ca_state: CaState::Open,
        nanos: micros * 1000,
        next_send_nanos: micros * 1000,
        is_app_limited: false,
    }
}

/// A round trip in which `segments` arrive, all of them acknowledged at its end.
fn round(bbr: &mut Bbr, window: &mut Window, round: u64, segments: u64) {
    let delivered = round * segments;
    let sample = RateSample {
        prior_delivered: delivered - segments,
        delivered: Some(segments),
        interval: ROUND_TRIP,
        acked_sacked: segments,
        rtt: Some(ROUND_TRIP),
        prior_in_flight: segments,
        ..RateSample::default()
    };
    let in_flight = window.cwnd.min(10);
    bbr.on_sample(window, &flow(round * ROUND_TRIP, delivered, in_flight), &sample);
}

/// A hundred segments each so many microseconds, times so many percent, in bytes a second.
const fn bytes_in(micros: u64, percent: u64) -> u64 {
    100 * MSS * 1_000_000 / micros * percent / 100
}

fn opened() -> (Bbr, Window) {
    let mut bbr = Bbr::new(1, u64::MAX);
    let mut window = Window { cwnd: 10, ssthresh: UNLIMITED, count: 0, prior_cwnd: 0 };
    bbr.on_open(&mut window, &flow(0, 0, 0));
    (bbr, window)
}

#[test]
fn the_first_rate_is_the_initial_window_each_round_trip_times_the_gain_of_startup() {
    let (bbr, _) = opened();
    let rate = 10 * MSS * 1_000_000 / ROUND_TRIP;
    let expected = rate * 2885 / 1000 * 99 / 100;
    assert!(bbr.pacing_rate.abs_diff(expected) * 100 < expected, "{}", bbr.pacing_rate);
}

#[test]
fn three_rounds_without_growth_end_startup_and_an_empty_queue_ends_draining() {
    let (mut bbr, mut window) = opened();
    round(&mut bbr, &mut window, 1, 100);
    for n in 2..=3 {
        round(&mut bbr, &mut window, n, 100);
        assert_eq!(bbr.mode, Mode::Startup, "round {n}");
    }
    round(&mut bbr, &mut window, 4, 100);
    // Ten segments are in flight where the path holds a hundred.
    assert_eq!(bbr.mode, Mode::ProbeBandwidth);
    // The threshold is what the path holds, and three bursts.
    let bursts = 3 * (bbr.pacing_rate.max(bytes_in(ROUND_TRIP, 289)) >> 10) / MSS;
    assert!((100..=100 + bursts + 6).contains(&window.ssthresh), "{}", window.ssthresh);
}

#[test]
fn each_ten_seconds_the_flight_shrinks_to_four_segments() {
    let (mut bbr, mut window) = opened();
    let mut least = u64::MAX;
    // A round trip that was a little shorter at first is never seen again.
    bbr.min_round_trip = ROUND_TRIP - 1;
    for n in 1..=260 {
        round(&mut bbr, &mut window, n, 100);
        least = least.min(window.cwnd);
    }
    assert_eq!(least, 4);
    assert_eq!(bbr.mode, Mode::ProbeBandwidth);
    assert!(window.cwnd > 100);
}

/// The program's limit is the rate of the socket, which sizes its bursts as well (`bbr_min_tso_segs`).
#[test]
fn below_a_program_s_limit_of_a_megabit_segments_go_alone() {
    let mut window = Window { cwnd: 10, ssthresh: UNLIMITED, count: 0, prior_cwnd: 0 };
    for (limit, burst) in [(MIN_TSO_RATE - 1, 1), (MIN_TSO_RATE, 2), (u64::MAX, 2)] {
        let mut bbr = Bbr::new(1, limit);
        bbr.on_open(&mut window, &flow(ROUND_TRIP, 0, 0));
        assert_eq!(bbr.least_burst(), Some(burst), "{limit}");
        assert!(bbr.pacing_rate <= limit);
    }
}
