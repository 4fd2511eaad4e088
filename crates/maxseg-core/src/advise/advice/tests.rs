use super::*;
use crate::units::Bytes;

fn advised(text: &str, goal: Goal) -> Advised {
    let scenario = Scenario::from_toml("test", text).unwrap();
    let ends = Ends::default();
    advise(&Request::new(&scenario, goal, &ends)).unwrap()
}

const WINDOWED: &str = "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"40 ms\"\nqueue = \"2000 packets\"\n\
                        [receiver]\nwindow = \"64 KiB\"\n[until]\ntime = \"10 s\"";

#[test]
fn a_small_window_is_widened_and_nothing_else() {
    let advised = advised(WINDOWED, Goal::Throughput);
    assert!(advised.runs <= 60);
    let ids: Vec<&str> = advised.advice.iter().map(|advice| advice.id.as_str()).collect();
    let [only] = advised.advice.as_slice() else { panic!("{ids:?}") };
    let is_window = matches!(only.change, Change::Window(_) | Change::ReceiveBuffer(_));
    assert!(is_window, "{ids:?}");
    let gain = only.gain;
    assert!(gain.goodput_pct.unwrap() > 400.0, "{gain:?}");
    let [low, high] = gain.ci95.unwrap();
    assert!(low <= gain.goodput_pct.unwrap() && gain.goodput_pct.unwrap() <= high);
    assert!(only.commands["linux"].iter().any(|how| how.line.contains("tcp_rmem")));
}

#[test]
fn what_is_right_is_left_as_it_is() {
    let text = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = \"20 packets\"\n[until]\ntime = \"10 s\"";
    let advised = advised(text, Goal::Throughput);
    let ids: Vec<&str> = advised.advice.iter().map(|advice| advice.id.as_str()).collect();
    assert!(ids.is_empty(), "{ids:?}");
    assert!(advised.best().is_none());
}

#[test]
fn a_long_queue_is_kept_short_where_that_is_the_goal() {
    let text = "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\nqueue = \"1000 packets\"\n[until]\ntime = \"20 s\"";
    let advised = advised(text, Goal::Latency);
    let best = advised.best().expect("a change");
    let as_it_is = &advised.trials[0];
    assert!(
        best.ping.mean < 0.25 * as_it_is.ping.mean,
        "{} {}",
        best.ping.mean,
        as_it_is.ping.mean
    );
    assert!(best.goodput.mean > 0.8 * as_it_is.goodput.mean);
    assert!(advised.points.iter().filter(|point| point.is_on_front).count() >= 2);
}

#[test]
fn the_luck_of_one_run_hides_no_shorter_round_trip() {
    // Losses in bursts: single runs are up to a tenth aside of the mean. Small packets with a window of six keep 81% of 2.7 Mbit/s
    // at 17.5 ms, as an exhaustive sweep has it.
    let text = "[[hop]]\nrate = \"3188 kbit/s\"\ndelay = \"6.5 ms\"\nqueue = \"12000 B\"\n\
                errors = { model = \"gilbert-elliott\", per = \"packet\", rate = 0.02883, burst = 5.4 }\n\
                [sender]\nstack = \"linux\"\ncongestion = \"cubic\"\n[receiver]\nstack = \"linux\"\n\
                [until]\ntime = \"94 s\"";
    let advised = advised(text, Goal::Latency);
    let best = advised.best().expect("a change");
    assert!(advised.runs <= 60);
    assert!(best.ping.mean < 1.15 * 0.0175, "{} s", best.ping.mean);
    assert!(best.goodput.mean > 0.76 * 2.7e6, "{} bit/s", best.goodput.mean);
}

#[test]
fn what_is_ignored_is_not_advised() {
    let scenario = Scenario::from_toml("test", WINDOWED).unwrap();
    let ends = Ends::default();
    let ignored = ["window-receiver".to_owned(), "receive-buffer-receiver".to_owned()];
    let request = Request { ignored: &ignored, ..Request::new(&scenario, Goal::Throughput, &ends) };
    let advised = advise(&request).unwrap();
    assert!(advised.advice.iter().all(|advice| !ignored.contains(&advice.id)));
}

#[test]
fn nothing_goes_below_the_least_mtu_of_ipv6() {
    let text = "ip = 6\n[[hop]]\nrate = \"64 kbit/s\"\ndelay = \"50 ms\"\nerrors = { model = \"uniform\", rate = \"2%\" }\n\
                [until]\ntime = \"60 s\"";
    let scenario = Scenario::from_toml("test", text).unwrap();
    let flow = data_flow(&scenario).unwrap();
    for size in &Axes::of(&scenario, &flow, &[]).sizes {
        let mss = match size.change {
            Some(Change::SegmentSize(mss)) => mss.bytes(),
            Some(Change::Mtu(mtu)) => mtu.bytes().saturating_sub(Bytes::new(60)),
            _ => continue,
        };
        assert!(mss >= Bytes::new(1220), "{mss}");
    }
}
