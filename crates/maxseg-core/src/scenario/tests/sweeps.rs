//! Sweeps: their axes, from the file and from outside, and their single points.

use super::super::*;
use super::{CELLULAR, complain, draft};

#[test]
fn a_sweep_is_the_product_of_its_axes() {
    let draft = Draft::parse("test.toml", CELLULAR).unwrap();
    let sweep = draft.sweep().unwrap();
    let points = sweep.points(&draft).unwrap();
    let values: Vec<String> = points
        .iter()
        .map(|point| {
            point.values.iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(values, ["88 \"0.5%\"", "88 0.1", "88 0.2", "536 \"0.5%\"", "536 0.1", "536 0.2"]);
    let hashes: std::collections::BTreeSet<String> =
        points.iter().map(|point| point.scenario.content_hash()).collect();
    assert_eq!(hashes.len(), 6);
}

/// The steps of every axis, as text.
fn axes(text: &str, arguments: &[&str]) -> Vec<String> {
    let sweep = draft(text, arguments).unwrap().sweep().unwrap();
    let step = |values: &Vec<toml::Value>| -> String {
        values.iter().map(toml::Value::to_string).collect::<Vec<_>>().join("+")
    };
    let axis = |axis: &Axis| {
        let steps: Vec<String> = axis.steps.iter().map(step).collect();
        format!("{}: {}", axis.keys.join("+"), steps.join(" "))
    };
    sweep.axes().iter().map(axis).collect()
}

const PLAIN: &str = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";

#[test]
fn axes_come_from_the_command_line_as_well() {
    let cases = [
        ("sender.mss=88,536,1460", "88 536 1460"),
        ("sender.mss=88..344..128", "88 216 344"),
        ("sender.mss=\"88..344..128\"", "88 216 344"),
        ("hop.0.errors.rate=0.1..0.3..0.1", "0.1 0.2 0.3"),
        ("hop.0.errors.rate=0.001..0.1..x10", "0.001 0.01 0.1"),
        ("hop.0.errors.rate=1%..2%..0.5%", "\"1.0%\" \"1.5%\" \"2.0%\""),
        ("hop.0.delay=1 ms..2 ms..500 us", "\"1 ms\" \"1.5 ms\" \"2 ms\""),
        ("receiver.window=512 KiB..2 MiB..x2", "\"512 KiB\" \"1 MiB\" \"2 MiB\""),
        (
            "hop.0.queue=10 packets..30 packets..10 packets",
            "\"10 packets\" \"20 packets\" \"30 packets\"",
        ),
        ("hop.0.rate=1 Mbit/s, 2 Mbit/s", "\"1 Mbit/s\" \"2 Mbit/s\""),
        (
            "hop.0.queue=\"9 packets\",{ limit = \"1 kB\", discipline = \"tail-drop\" }",
            "\"9 packets\" { limit = \"1 kB\", discipline = \"tail-drop\" }",
        ),
    ];
    for (argument, want) in cases {
        let key = argument.split('=').next().unwrap();
        let argument = format!("--axis {argument}");
        assert_eq!(axes(PLAIN, &[&argument]), [format!("{key}: {want}")]);
    }
    let faults = [
        ("sender.mss=", "the axis is empty"),
        ("sender.mss=5..1..1", "the axis is empty: its range ends before it begins"),
        ("sender.mss=1..5..0", "the step of a range must be above zero"),
        ("sender.mss=1..5", "`1..5` has no step"),
        ("sender.mss=1..5..x1", "`x1` is not a factor: a whole number from 2 on"),
        ("sender.mss=0..5..x2", "a range by a factor must begin above zero"),
        ("sender.mss=1..9999999..1", "the range has more than 100000 values"),
        ("hop.0.delay=1 ms..2..1 ms", "`1 ms..2..1 ms` mixes units"),
        ("sender.mss", "`sender.mss` is not KEY=VALUES"),
    ];
    for (argument, want) in faults {
        let error = draft(PLAIN, &[&format!("--axis {argument}")]).unwrap_err();
        assert_eq!(error.what, want, "{argument}");
    }
}

#[test]
fn what_comes_from_outside_ends_what_the_file_sweeps() {
    // However the key is written.
    for set in
        ["hop.radio.errors.rate=0", "hop.1.errors.rate=0", "hop.radio.errors={model=\"none\"}"]
    {
        assert_eq!(axes(CELLULAR, &[set]), ["sender.mss: 88 536"], "{set}");
    }
    assert_eq!(
        axes(CELLULAR, &["--axis hop.1.errors.rate=0.5", "--axis sender.mss=600,601"]),
        ["sender.mss: 600 601", "hop.1.errors.rate: 0.5"]
    );
    // The scenario that is shown and kept is the one that runs.
    let swept = draft(CELLULAR, &["--axis sender.mss=600"]).unwrap().to_json();
    assert_eq!(swept["sweep"]["sender.mss"], serde_json::json!([600]));
    let every = format!("{PLAIN}{PLAIN}[sweep]\n\"hop.*.mtu\" = [576, 1500]\n");
    assert_eq!(
        complain(&every, &["hop.0.mtu=1400"]),
        "--set hop.0.mtu=1400 the axis `hop.*.mtu` of the file would undo a part of it | set `hop.*.mtu` instead, or sweep that"
    );
    let twice = format!("{PLAIN}[sweep]\n\"hop.*.mtu\" = [576, 1500]\n\"hop.0.mtu\" = [68]\n");
    assert_eq!(
        complain(&twice, &[]),
        "6:15 `hop.0.mtu` sets what the axis `hop.*.mtu` sets too | leave one of them out"
    );
    let points = format!(
        "{PLAIN}[[sweep.point]]\n\"sender.mss\" = 88\nseed = 1\n[[sweep.point]]\n\"sender.mss\" = 88\n"
    );
    assert_eq!(
        complain(&points, &[]),
        "7:1 point 1 sets other keys than point 0 | every [[sweep.point]] sets the same keys, such as \"sender.mss\" = 536"
    );
}

#[test]
fn a_value_is_swept_once_however_it_is_written() {
    let cases = [
        (
            "[sweep]\n\"receiver.window\" = [\"64 KiB\", \"65536 B\"]\n",
            "5:32 the axis `receiver.window` has \"65536 B\" twice",
        ),
        (
            "[[sweep.point]]\n\"hop.0.rate\" = \"1 Mbit/s\"\n[[sweep.point]]\n\"hop.0.rate\" = \"1000 kbit/s\"\n",
            "6:1 point 1 sets the same values as an earlier one",
        ),
    ];
    for (sweep, want) in cases {
        let got = complain(&format!("{PLAIN}{sweep}"), &[]);
        assert!(got.starts_with(want), "{got}");
    }
}

#[test]
fn a_key_that_is_set_leaves_the_single_points() {
    let text = format!(
        "{PLAIN}[[sweep.point]]\n\"sender.mss\" = 88\n\"until.time\" = \"1 s\"\n\
         [[sweep.point]]\n\"sender.mss\" = 536\n\"until.time\" = \"2 s\"\n"
    );
    assert_eq!(axes(&text, &[]), ["sender.mss+until.time: 88+\"1 s\" 536+\"2 s\""]);
    assert_eq!(axes(&text, &["until.time=3 s"]), ["sender.mss: 88 536"]);
    assert!(axes(&text, &["until.time=3 s", "sender.mss=88"]).is_empty());
}

#[test]
fn single_points_need_no_product() {
    let text = format!(
        "{}\n[[sweep.point]]\n\"sender.mss\" = 88\n\"until.time\" = \"1 s\"\n[[sweep.point]]\n\"sender.mss\" = 536\n\"until.time\" = \"2 s\"\n",
        CELLULAR.split("[sweep]").next().unwrap()
    );
    let draft = Draft::parse("test.toml", &text).unwrap();
    let points = draft.sweep().unwrap().points(&draft).unwrap();
    let times: Vec<Time> = points.iter().map(|point| point.scenario.until.time).collect();
    assert_eq!(times, [Time::from_secs(1), Time::from_secs(2)]);
}
