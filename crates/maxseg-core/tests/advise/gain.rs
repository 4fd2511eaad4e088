//! The gain of a change.

use maxseg_core::advise::{Case, Change, Gain, Headline, MOST_PACKETS, Measured, NoGain, Rerun};
use maxseg_core::engine::EngineName;
use maxseg_core::evidence::{Beside, Evidence, LossEpisode};
use maxseg_core::outcome::LimitedBy;
use maxseg_core::scenario::Scenario;
use maxseg_core::units::{Bytes, Time};
use maxseg_testkit::{black_hole_before, full_link, windowed};

fn rerun(evidence: &Evidence, changes: &[Change]) -> Result<Gain, NoGain> {
    let case = Case::of(evidence);
    Rerun::of(&case, "made.pcap").unwrap().gain(&case, "made.pcap", changes).1
}

#[test]
fn a_window_that_covers_the_path_fills_it() {
    let gain = rerun(&windowed(0), &[Change::Window(Bytes::new(1 << 19))]).unwrap();
    let sim = &gain.predictions[0];
    assert_eq!(sim.engine, EngineName::Sim);
    // A window a round trip: 65 535 × 8 / 80 ms, less slow start and the part of a segment that a window holds.
    assert!((sim.baseline_bps / 6.55e6 - 1.0).abs() < 0.05, "{sim:?}");
    // The line carries 20 Mbit/s × 1448/1500. Slow start, and the loss that ends it in a queue that holds less
    // than twice the path, cost a seventh of 24 MB at most.
    let without = sim.without_bps.unwrap();
    assert!((0.85..=1.0).contains(&(without / 19.3e6)), "{sim:?}");
    assert_ne!(sim.then_limited_by, Some(LimitedBy::ReceiveWindow));
    let relative = gain.relative().unwrap();
    assert!((1.4..2.1).contains(&relative), "{relative}");
    assert_eq!(gain.predictions.len(), 2, "formulas beside it");
}

#[test]
fn a_baseline_that_misses_gives_no_gain_but_both_numbers() {
    let mut evidence = windowed(0);
    // Twice as fast as its window allows: something is not as it was seen.
    evidence.forward.goodput_bps = Some(13e6);
    let gain = rerun(&evidence, &[Change::Window(Bytes::new(1 << 19))]).unwrap();
    assert!(gain.relative().is_none());
    let why = gain.missing().unwrap().to_string();
    assert!(why.contains("instead of 13.0 Mbit/s"), "{why}");
    assert!(gain.misses.iter().any(|miss| miss.of == Measured::Goodput), "{:?}", gain.misses);
}

#[test]
fn a_baseline_is_compared_by_retransmissions_and_round_trips_too() {
    let mut evidence = windowed(0);
    evidence.forward.path_rtt_mean_s = Some(0.2);
    // All of them needless: the path of the rerun loses nothing.
    evidence.forward.retransmitted_packets = 200;
    evidence.forward.spurious_retransmissions = 200;
    let gain = rerun(&evidence, &[Change::Window(Bytes::new(1 << 19))]).unwrap();
    let missed: Vec<Measured> = gain.misses.iter().map(|miss| miss.of).collect();
    assert_eq!(missed, [Measured::Retransmissions, Measured::RoundTrip], "{:?}", gain.misses);
    let why = gain.missing().unwrap().to_string();
    assert!(why.contains("0 instead of 200 retransmissions, round trips of"), "{why}");
    assert!(gain.relative().is_none());
}

/// The queue was never filled: what a larger flight loses in a short one is a part of the interval.
#[test]
fn a_larger_flight_is_tried_in_a_short_queue_where_none_was_seen() {
    let window = [Change::Window(Bytes::new(1 << 19))];
    let mut evidence = windowed(0);
    evidence.forward.sack_permitted = false;
    evidence.reverse.sack_permitted = false;
    let gain = rerun(&evidence, &window).unwrap();
    let sim = gain.leading().unwrap();
    let (short, without) = (sim.at_worst_bps.unwrap(), sim.without_bps.unwrap());
    assert!(short < without, "{sim:?}");
    assert!(gain.expected().unwrap().low_bps <= short, "{gain:?}");
    let is_tried = |evidence: &Evidence| {
        let gain = rerun(evidence, &[Change::NoErrors]).unwrap();
        gain.leading().unwrap().at_worst_bps.is_some()
    };
    assert!(is_tried(&evidence), "without SACK the end of losses costs an overflow as well");
    assert!(!is_tried(&windowed(0)), "with SACK it does not");
}

/// Whoever runs the written scenario is told by what it differs from the capture.
#[test]
fn a_scenario_file_says_what_runs_of_it_miss() {
    let text = |evidence: &Evidence| {
        let case = Case::of(evidence);
        let rerun = Rerun::of(&case, "made.pcap").unwrap();
        let text = rerun.file_text(&rerun.missed(&case).unwrap());
        let again = Scenario::from_toml("written", &text).unwrap();
        assert_eq!(again, Scenario::from_toml("written", &rerun.text).unwrap());
        text
    };
    let mut evidence = windowed(0);
    assert!(!text(&evidence).contains("miss"));
    evidence.forward.goodput_bps = Some(13e6);
    let text = text(&evidence);
    let remark = text.lines().find(|line| line.contains("instead of 13.0 Mbit/s"));
    assert!(remark.is_some_and(|line| line.starts_with('#')), "{text}");
}

#[test]
fn without_a_measured_rate_there_is_no_gain() {
    let mut evidence = windowed(0);
    evidence.forward.capacity_bps = None;
    let why = rerun(&evidence, &[Change::Window(Bytes::new(1 << 19))]).unwrap_err();
    assert_eq!(why, NoGain::RateUnknown { is_window: true });
    assert!(why.to_string().contains("doubling the window"), "{why}");
    assert_eq!(rerun(&windowed(0), &[]).unwrap_err(), NoGain::NoChange);
}

/// A run begins with slow start, which the part that was captured had behind it.
#[test]
fn the_gain_of_a_transfer_whose_beginning_was_not_captured_is_a_lower_bound() {
    let mut evidence = windowed(0);
    let window = [Change::Window(Bytes::new(1 << 19))];
    assert!(!rerun(&evidence, &window).unwrap().is_bound);
    evidence.marks.mid_stream = true;
    assert!(rerun(&evidence, &window).unwrap().is_bound);
}

#[test]
fn where_others_share_the_path_there_is_no_gain() {
    let mut evidence = windowed(0);
    evidence.beside = Some(Beside { connections: 2, bytes: 5_000_000, path_rtt_min_s: None });
    let why = rerun(&evidence, &[Change::Window(Bytes::new(1 << 19))]).unwrap_err();
    assert!(why.to_string().contains("2 other connections"), "{why}");
}

/// What a headline says of the gain.
fn told(change: impl FnOnce(&mut Evidence)) -> Result<Gain, NoGain> {
    let mut evidence = windowed(0);
    change(&mut evidence);
    Headline::of(Case::of(&evidence), "made.pcap").gain
}

/// Trains at 20 Mbit/s behind a first flight at 30: what stands between their segments is not in the rerun.
#[test]
fn where_trains_came_more_slowly_than_the_first_flight_there_is_no_gain() {
    assert!(told(|_| ()).is_ok());
    let slower = |bps| move |evidence: &mut Evidence| evidence.forward.first_flight_bps = Some(bps);
    assert!(told(slower(21e6)).is_ok());
    let why = told(slower(30e6)).unwrap_err();
    assert!(matches!(why, NoGain::LinkSlowedDown { .. }), "{why}");
    assert!(why.to_string().contains("the first flight came out at 30.0 Mbit/s"), "{why}");
}

/// Segments of a full window that come as evenly as they are acknowledged.
#[test]
fn where_a_full_window_comes_evenly_at_half_of_the_first_flights_rate_there_is_no_gain() {
    let even = |times: f64| {
        told(|evidence| {
            let goodput = evidence.forward.goodput_bps.unwrap();
            evidence.forward.capacity_bps = Some(1.1 * goodput);
            evidence.forward.first_flight_bps = Some(times * 1.1 * goodput);
        })
    };
    assert!(!matches!(even(1.8), Err(NoGain::LinkSlowedDown { .. })));
    assert!(matches!(even(2.1), Err(NoGain::LinkSlowedDown { .. })));
}

#[test]
fn where_packets_overtake_each_other_a_larger_flight_is_not_promised_to_gain() {
    let overtaken = |packets: u64| {
        move |evidence: &mut Evidence| {
            let data = &mut evidence.forward;
            data.out_of_order_packets = data.data_packets * packets / 100;
        }
    };
    assert!(told(overtaken(1)).is_ok());
    assert_eq!(told(overtaken(8)).unwrap_err(), NoGain::Overtaken);
}

/// What others of the host send the same way may take what the link has left.
#[test]
fn beside_others_of_one_of_the_hosts_a_larger_window_is_not_promised_to_gain() {
    let nearby = Beside { connections: 1, bytes: 5_000_000, path_rtt_min_s: None };
    let why = told(|evidence| evidence.forward.nearby = Some(nearby)).unwrap_err();
    assert!(matches!(why, NoGain::SharedInPart(_)), "{why}");
}

/// A window of 64 KiB carries 6.5 Mbit/s over 80 ms, and less where each of its segments waits behind others'.
#[test]
fn a_full_window_that_goes_round_slowly_waits_for_others() {
    let slower = |share: f64| {
        told(|evidence| {
            let data = &mut evidence.forward;
            data.goodput_bps = data.goodput_bps.map(|bps| share * bps);
        })
    };
    assert!(!matches!(slower(0.9), Err(NoGain::WaitsForOthers { .. })));
    let why = slower(0.75).unwrap_err();
    assert!(matches!(why, NoGain::WaitsForOthers { .. }), "{why}");
}

/// Without the handshake nobody knows whether SACK is in use: what a larger flight loses without it is a part of the interval.
#[test]
fn a_larger_flight_is_tried_without_sack_where_that_is_unknown() {
    let mut evidence = windowed(0);
    (evidence.handshake.syn, evidence.handshake.syn_ack) = (false, false);
    let window = [Change::Window(Bytes::new(1 << 19))];
    let least = |evidence: &Evidence| {
        rerun(evidence, &window).unwrap().leading().unwrap().at_worst_bps.unwrap()
    };
    assert!(least(&evidence) < least(&windowed(0)));
}

#[test]
fn a_long_transfer_is_shortened_and_says_so() {
    let mut evidence = windowed(0);
    evidence.forward.acked_bytes = 10_000_000_000;
    let gain = rerun(&evidence, &[Change::Window(Bytes::new(1 << 19))]).unwrap();
    assert_eq!(gain.shortened_to, Some(MOST_PACKETS * 1448));
}

#[test]
fn behind_a_narrow_hop_the_growth_of_the_window_is_what_a_transfer_without_the_stall_gains() {
    let without_stall = |evidence: &Evidence| {
        let case = Case::of(evidence);
        let rerun = Rerun::of(&case, "made.pcap").unwrap();
        rerun.gain_without_stall(&case, LimitedBy::PathMtu, &[Change::NoErrors])
    };
    let mut evidence = full_link(0);
    assert_eq!(without_stall(&evidence).unwrap_err(), NoGain::Stalled);
    evidence.forward.black_hole = Some(black_hole_before());
    let full = without_stall(&evidence).unwrap();
    assert_eq!(full.missing(), Some(NoGain::TooSmall), "{full:?}");
    evidence.forward.goodput_bps = evidence.forward.goodput_bps.map(|bps| 0.8 * bps);
    let slow = without_stall(&evidence).unwrap();
    assert_eq!(slow.missing(), None, "{slow:?}");
    assert!(!slow.is_bound, "a full link showed its rate");
    let (low, high) = slow.relative_interval().unwrap();
    assert!(low > 0.0 && high < 0.35, "{low} to {high}");
}

/// Losses in the last ten of thirty seconds: what a window brings before is in no run with losses all along.
#[test]
fn where_losses_came_in_a_part_of_the_time_a_windows_gain_is_not_known() {
    let lossy = |share_before: usize| {
        move |evidence: &mut Evidence| {
            let data = &mut evidence.forward;
            let mut bins = data.bins.as_slice().to_vec();
            let before = bins.len() * share_before / 100;
            for bin in bins.iter_mut().skip(before).step_by(10) {
                bin.losses = 1;
                data.retransmitted_packets += 1;
                let episode = LossEpisode { at: bin.at, lost: 1, ..LossEpisode::default() };
                data.loss_episodes.begin(episode);
            }
            data.bins.replace(bins);
        }
    };
    let why = told(lossy(67)).unwrap_err();
    assert!(matches!(why, NoGain::LossesOfAPart { .. }), "{why}");
    assert!(why.to_string().contains("losses came between 20.1 s and 30.0 s only"), "{why}");
    let all_along = told(lossy(0));
    assert!(!matches!(all_along, Err(NoGain::LossesOfAPart { .. })), "{all_along:?}");
}

/// A full link for six of each ten seconds, and a window that is shut for four: no run has a reader that stops so.
#[test]
fn a_reader_that_stops_costs_the_time_that_it_stops() {
    let mut evidence = full_link(0);
    let data = &mut evidence.forward;
    let mut bins = data.bins.as_slice().to_vec();
    for (n, bin) in bins.iter_mut().enumerate().filter(|(n, _)| n % 100 >= 60) {
        (bin.sent_bytes, bin.acked_bytes, bin.segments) = (0, 0, 0);
        (bin.rwnd_limited, bin.zero_window, bin.window_left_min) =
            (bin.duration, bin.duration, None);
        (bin.rtt_count, bin.rtt_sum, bin.rtt_min) = (0, Time::ZERO, None);
        assert!(n < 300);
    }
    data.bins.replace(bins);
    data.goodput_bps = data.goodput_bps.map(|bps| 0.6 * bps);
    (data.acked_bytes, data.unique_bytes) = (data.acked_bytes * 6 / 10, data.unique_bytes * 6 / 10);
    (data.payload_bytes, data.data_packets) = (data.unique_bytes, data.data_packets * 6 / 10);
    let acks = &mut evidence.reverse;
    (acks.zero_windows, acks.window_shut_times) = (3, 3);
    let headline = Headline::of(Case::of(&evidence), "made.pcap");
    let text = headline.text();
    assert!(text.contains("it reads more slowly than the path delivers"), "{text}");
    let relative = headline.gain.unwrap().relative().unwrap();
    // Ten sixths.
    assert!((0.5..0.8).contains(&relative), "{relative}: {text}");
}

/// An overflow at the beginning, of which 29 segments were lost at once: with as many all along a larger window would gain nothing.
#[test]
fn losses_that_are_over_do_not_hold_a_larger_window_down() {
    let gain = told(|evidence| {
        let data = &mut evidence.forward;
        let mut bins = data.bins.as_slice().to_vec();
        (bins[10].losses, bins[11].losses) = (1, 29);
        for (at, lost, sent_since) in [(bins[10].at, 1, 300), (bins[11].at, 29, 57)] {
            data.retransmitted_packets += u64::from(lost);
            let in_flight = 60_000;
            let episode = LossEpisode { at, lost, sent_since, in_flight, ..LossEpisode::default() };
            data.loss_episodes.begin(episode);
        }
        data.bins.replace(bins);
    });
    let (low, high) = match &gain {
        Ok(gain) => gain.relative_interval().unwrap(),
        Err(NoGain::Uncertain { low, high }) => (*low, *high),
        Err(why) => panic!("{why}"),
    };
    assert!(high > 1.0 && low < high, "{low} to {high}");
}
