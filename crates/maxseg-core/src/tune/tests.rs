//! Targets as text, guards, and the states of a change after every line that the journal can end with.

use super::*;

#[test]
fn targets_are_read_and_written_alike() {
    for text in [
        "sysctl.net.ipv4.tcp_rmem",
        "sysctl.net.ipv4.conf.eth0/100.forwarding",
        "route.default.mtu",
        "route.10.0.0.0/8.mtu",
        "route.192.0.2.7.congctl",
        "route.2001:db8::/32.initcwnd",
        "route.::/0.rto_min",
        "interface.eth0.mtu",
        "interface.eth0.100.mtu",
        "socket.192.0.2.1:443-198.51.100.7:50123.congestion",
        "socket.[2001:db8::1]:443-[2001:db8::2]:50123.rcvbuf",
        "clamp.eth0",
    ] {
        let target: Target = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(target.to_string(), text);
        let json = serde_json::to_string(&target).unwrap();
        assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), target);
    }
}

#[test]
fn a_sysctl_is_named_as_for_sysctl() {
    for (text, name) in [
        ("sysctl.net/ipv4/tcp_sack", "net.ipv4.tcp_sack"),
        ("sysctl.net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.eth0/100.rp_filter"),
    ] {
        assert_eq!(text.parse(), Ok(Target::Sysctl(name.to_owned())), "{text}");
    }
    for wrong in ["sysctl.net/", "sysctl.net//x", "sysctl.net/../x", "sysctl.net/ipv4/./x"] {
        assert!(wrong.parse::<Target>().is_err(), "{wrong}");
    }
}

#[test]
fn what_is_no_target_is_refused_with_what_would_do() {
    for (text, why, hint) in [
        ("mtu", "is not a target that can be set", "route.10.0.0.0/8.mtu"),
        ("rout.default.mtu", "is not a target that can be set", "route.10.0.0.0/8.mtu"),
        ("net.ipv4.tcp_sack", "is not a target that can be set", "sysctl.net.ipv4.tcp_sack"),
        ("sysctl.kernel.panic", "not a network sysctl", "net."),
        ("sysctl.net.ipv4../x", "not a network sysctl", "net."),
        ("route.default.mss", "`mss` is not a route metric", "advmss"),
        ("route.10.0.0.1/8.mtu", "the prefix is 10.0.0.0/8", "route.default.mtu"),
        ("interface.eth0.speed", "names no MTU", "interface.eth0.mtu"),
        ("interface..mtu", "names no MTU", "interface.eth0.mtu"),
        ("socket.1.2.3.4:5.rcvbuf", "by its two ends", "maxseg connections"),
        ("socket.1.2.3.4:5-6.7.8.9:1.mss", "no option `mss`", "congestion"),
    ] {
        let error = text.parse::<Target>().unwrap_err();
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert!(error.hint().contains(hint), "{text}: {}", error.hint());
    }
}

fn step(target: &str, before: &str, after: &str) -> Step {
    let value = |text: &str| if text == "absent" { Value::Absent } else { Value::of(text) };
    let (before, after) = (value(before), value(after));
    Step { target: target.parse().unwrap(), before, after, image: None }
}

fn refusal(target: &str, after: &str, facts: &Facts, allowed: Allowed) -> String {
    let refusals = refusals(&step(target, "unset", after), facts, allowed);
    refusals.first().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_router_is_told_of_the_clamp_that_does_the_same() {
    for (target, after, clamp) in [
        ("route.default.mtu", "1400", Some("--set clamp.IFACE=1360;")),
        ("route.default.mtu", "lock 1400", Some("--set clamp.IFACE=1360;")),
        ("route.::/0.mtu", "1400", Some("--set clamp.IFACE=1340;")),
        ("route.default.mtu", "unset", None),
    ] {
        let hint = Refusal::Forwards.hint(&step(target, "1500", after));
        assert!(hint.ends_with("if it must be, add --i-am-router"), "{hint}");
        assert!(clamp.map_or(!hint.contains("clamp"), |clamp| hint.contains(clamp)), "{hint}");
    }
}

#[test]
fn values_have_ranges() {
    let facts = Facts::default();
    for (target, after, why) in [
        ("route.default.mtu", "552", ""),
        ("route.default.mtu", "551", "551 is outside 552 to 65520"),
        // The kernel makes 65520 of it.
        ("route.default.mtu", "65521", "65521 is outside"),
        ("interface.lo.mtu", "65536", ""),
        ("interface.eth0.mtu", "65536", "65536 is outside"),
        ("route.default.congctl", "lock cubic", ""),
        ("route.default.mtu", "1400.5", "a whole number"),
        ("route.default.mtu", "big", "a whole number"),
        ("route.default.mtu", "unset", ""),
        ("route.::/0.mtu", "1279", "1279 is outside 1280 to 65520"),
        ("route.::/0.mtu", "1280", ""),
        ("route.default.advmss", "255", "255 is outside 256"),
        ("route.default.window", "47", "47 is outside 48"),
        ("route.default.quickack", "2", "2 is outside 0 to 1"),
        ("route.default.initcwnd", "0", "0 is outside 1"),
        ("route.default.initcwnd", "lock 10", "a whole number"),
        ("route.default.congctl", "cubic", ""),
        ("route.default.congctl", "cubic reno", "the name of a congestion control"),
        ("interface.eth0.mtu", "500", "500 is outside 552"),
        ("interface.eth0.mtu", "unset", "a whole number"),
        ("sysctl.net.ipv4.tcp_rmem", "1 2", "it takes"),
        ("sysctl.net.ipv4.tcp_rmem", "4096 131072 33554432", ""),
    ] {
        let refusal = refusal(target, after, &facts, Allowed::default());
        let is_as_said = if why.is_empty() { refusal.is_empty() } else { refusal.contains(why) };
        assert!(is_as_said, "{target} = {after}: {refusal}");
    }
    let with_v6 = Facts { has_v6: true, ..Facts::default() };
    let refused = refusal("interface.eth0.mtu", "1279", &with_v6, Allowed::default());
    assert!(refused.contains("RFC 8200"), "{refused}");
}

#[test]
fn what_would_hurt_needs_a_word() {
    let all = Allowed { lock: true, router: true, session: true };
    let cases = [
        ("lock 1400", Facts::default(), Allowed { lock: false, ..all }, "clears DF"),
        (
            "1400",
            Facts { forwards: true, ..Facts::default() },
            Allowed { router: false, ..all },
            "forwards",
        ),
        (
            "1400",
            Facts { session: Session::Reached, ..Facts::default() },
            Allowed { session: false, ..all },
            "this session",
        ),
    ];
    for (after, facts, too_little, why) in cases {
        let refused = refusal("route.default.mtu", after, &facts, too_little);
        assert!(refused.contains(why), "{refused}");
        assert_eq!(refusal("route.default.mtu", after, &facts, all), "");
    }
}

#[test]
fn what_was_learnt_of_a_path_is_not_forgotten() {
    let learnt = LearntPathMtu { to: "10.0.0.7".parse().unwrap(), mtu: 1300, expires_s: 590.0 };
    let facts = Facts { learnt: vec![learnt], ..Facts::default() };
    for (target, after, why) in [
        ("route.10.0.0.0/8.mtu", "1301", "a path MTU of 1300 to 10.0.0.7 (for another 590 s)"),
        ("route.10.0.0.0/8.mtu", "1300", ""),
        ("route.10.0.0.0/8.mtu", "unset", "forgets it"),
        ("route.10.0.0.0/8.initcwnd", "20", "forgets it"),
        ("route.192.0.2.0/24.initcwnd", "20", ""),
    ] {
        let refused = refusal(target, after, &facts, Allowed::default());
        let is_as_said = if why.is_empty() { refused.is_empty() } else { refused.contains(why) };
        assert!(is_as_said, "{target} = {after}: {refused}");
    }
}

fn place() -> Place {
    Place { boot: "a-boot".to_owned(), namespace: 7, cookie: Some(1) }
}

fn moment(boot_s: f64) -> Moment {
    Moment { place: place(), boot_s }
}

fn record(event: Event) -> Record {
    Record { v: VERSION, at_s: 1.0, place: place(), event }
}

/// All lines of one change that is made and undone.
fn lines(ends: Option<Deadline>) -> Vec<Record> {
    let by = Author { user: "root".to_owned(), pid: 1 };
    let step = step("route.default.mtu", "unset", "1400");
    let (reason, found) = (UndoReason::Asked, Value::of("1400"));
    let events = [
        Event::Plan {
            plan: 1,
            steps: 1,
            by,
            why: None,
            ends,
            reverts_if_worse: true,
            allows_router: true,
        },
        Event::Set { entry: 1, plan: 1, step, why: None },
        Event::IsSet { entry: 1 },
        Event::Applied { plan: 1 },
        Event::Undo { entry: 1, reason, because: None, found },
        Event::IsUndone { entry: 1 },
    ];
    events.into_iter().map(record).collect()
}

fn state(lines: &[Record], now: &str, at: &Moment) -> Option<&'static str> {
    let history = History::of(lines);
    let entry = history.entry(1)?;
    Some(entry.state(&history, Some(&Value::of(now)), at).word())
}

#[test]
fn one_look_at_the_kernel_tells_how_far_a_change_got() {
    let lines = lines(None);
    let at = moment(10.0);
    // How many lines there are; the state with the value before, with the one after, and with another.
    for (count, expected) in [
        (1, [None, None, None]),
        (2, [Some("undone"), Some("set"), Some("drifted")]),
        (3, [Some("drifted"), Some("set"), Some("drifted")]),
        (4, [Some("drifted"), Some("set"), Some("drifted")]),
        (5, [Some("undone"), Some("set"), Some("drifted")]),
        (6, [Some("undone"), Some("undone"), Some("undone")]),
    ] {
        let of = ["unset", "1400", "1234"].map(|now| state(&lines[..count], now, &at));
        assert_eq!(of, expected, "after {count} lines");
    }
    let elsewhere = Moment { place: Place { namespace: 8, ..place() }, boot_s: 10.0 };
    assert_eq!(state(&lines[..4], "1400", &elsewhere), Some("unknown"));
    let later = Moment { place: Place { boot: "b".to_owned(), ..place() }, boot_s: 10.0 };
    assert_eq!(state(&lines[..4], "1400", &later), Some("undone"), "gone with the boot");
}

#[test]
fn a_change_expires_unless_it_is_confirmed() {
    let ends = Deadline { at_s: 61.0, boot_s: 70.0, unless_confirmed: true };
    let mut lines = lines(Some(ends));
    lines.truncate(4);
    assert_eq!(state(&lines, "1400", &moment(69.0)), Some("set"));
    assert_eq!(state(&lines, "1400", &moment(70.0)), Some("expired"));
    assert_eq!(History::of(&lines).unconfirmed(&moment(69.0)), [1]);
    assert!(History::of(&lines).pending_deadline(1, &place()).is_some());
    lines.push(record(Event::Confirmed { plan: 1 }));
    assert_eq!(state(&lines, "1400", &moment(70.0)), Some("set"));
    assert!(History::of(&lines).pending_deadline(1, &place()).is_none());
}

#[test]
fn a_plan_is_watched_until_it_is_judged_for_the_last_time_or_undone() {
    let all = lines(None);
    let is_watched = |lines: &[Record]| History::of(lines).is_watched(1, &place());
    for (count, watched) in [(0, false), (1, true), (2, true), (4, true), (5, true), (6, false)] {
        assert_eq!(is_watched(&all[..count]), watched, "{count} lines");
    }
    let judged = [&all[..4], &[record(Event::Judged { plan: 1 })]].concat();
    assert!(!is_watched(&judged));
    let mut worse = all;
    let because = Some("goodput -9%".to_owned());
    let found = Value::of("1400");
    worse[4] = record(Event::Undo { entry: 1, reason: UndoReason::Worse, because, found });
    let undone = History::of(&worse).entry(1).unwrap().undone.unwrap();
    assert_eq!(undone.words(), "undone because connections got worse: goodput -9%");
}

#[test]
fn a_later_change_of_the_same_target_supersedes() {
    let mut lines = lines(None);
    lines.truncate(4);
    let by = Author { user: "root".to_owned(), pid: 1 };
    let (why, ends, reverts_if_worse, allows_router) = (None, None, false, false);
    let plan = Event::Plan { plan: 2, steps: 1, by, why, ends, reverts_if_worse, allows_router };
    lines.push(record(plan));
    let step = step("route.default.mtu", "1400", "1300");
    lines.push(record(Event::Set { entry: 2, plan: 2, step, why: None }));
    assert_eq!(state(&lines, "1300", &moment(1.0)), Some("superseded"));
    assert_eq!(History::of(&lines).next_numbers(), (3, 3));
}

#[test]
fn a_route_that_is_handed_over_goes_with_the_later_change() {
    let (place, by) = (place(), Author { user: "root".to_owned(), pid: 1 });
    let made =
        Step { image: Some("made".to_owned()), ..step("route.10.0.0.0/8.mtu", "absent", "1400") };
    let later = step("route.10.0.0.0/8.initcwnd", "unset", "20");
    let plan = |plan| {
        let (by, why, ends) = (by.clone(), None, None);
        let (reverts_if_worse, allows_router) = (false, false);
        record(Event::Plan { plan, steps: 1, by, why, ends, reverts_if_worse, allows_router })
    };
    let set = |entry, step: Step| record(Event::Set { entry, plan: entry, step, why: None });
    let over = record(Event::HandsOver { entry: 1, to: 2, before: Value::Unset });
    let lines = [plan(1), set(1, made), plan(2), set(2, later), over];
    let history = History::of(&lines);
    let [first, second] = [1, 2].map(|id| history.entry(id).unwrap().step);
    assert_eq!((first.before, second.before), (Value::Unset, Value::Absent));
    assert_eq!(second.image.as_deref(), Some("made"));
    assert_eq!(history.live(&place).len(), 2, "neither is undone by that");
}

#[test]
fn lines_are_read_as_they_are_written_and_unknown_ones_are_passed_over() {
    for line in lines(None) {
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), line, "{text}");
        for end in 0..text.len() {
            assert!(serde_json::from_str::<Record>(&text[..end]).is_err(), "half a line is none");
        }
    }
    let later =
        r#"{"v":2,"at_s":1,"place":{"boot":"b","namespace":1,"cookie":null},"event":"new","x":1}"#;
    assert_eq!(serde_json::from_str::<Record>(later).unwrap().event, Event::Other);
    let first = r#"{"v":1,"at_s":1,"place":{"boot":"b","namespace":1,"cookie":null},"event":"plan",
        "plan":1,"steps":0,"by":{"user":"u","pid":1},"why":null,"ends":null}"#;
    let by = Author { user: "u".to_owned(), pid: 1 };
    let (why, ends, reverts_if_worse, allows_router) = (None, None, false, false);
    let plan = Event::Plan { plan: 1, steps: 0, by, why, ends, reverts_if_worse, allows_router };
    assert_eq!(serde_json::from_str::<Record>(first).unwrap().event, plan);
}

#[test]
fn a_dash_keeps_the_number_that_is_there() {
    let before = Value::of("4096 87380 6291456");
    assert_eq!(Value::of("- - 8388608").keeping(&before), Value::of("4096 87380 8388608"));
    assert_eq!(Value::of("1 2 3").keeping(&before), Value::of("1 2 3"));
    // What does not fit stays, and is refused as no number.
    assert_eq!(Value::of("- 8388608").keeping(&before), Value::of("- 8388608"));
    assert_eq!(Value::of("-").keeping(&Value::Absent), Value::of("-"));
}

#[test]
fn a_least_number_raises_and_never_lowers() {
    let before = Value::of("4096 87380 6291456");
    let kept = |text: &str| Value::of(text).keeping(&before);
    assert_eq!(kept("- - >=2097152"), before);
    assert_eq!(kept("- - >=8388608"), Value::of("4096 87380 8388608"));
    assert_eq!(kept("- >=131072 >=131072"), Value::of("4096 131072 6291456"));
    assert_eq!(Value::of(">=5").keeping(&Value::of("4")), Value::of("5"));
    // What is no number is refused as none.
    assert_eq!(Value::of(">=x").keeping(&Value::of("4")), Value::of("x"));
    assert_eq!(kept(">=5"), Value::of(">=5"));
}

#[test]
fn sysctls_that_change_more_than_their_value_are_refused() {
    for (name, after, why) in [
        ("net.ipv4.ip_forward", "1", "accept_redirects"),
        ("net.ipv4.conf.all.forwarding", "0", "accept_redirects"),
        ("net.ipv4.conf.eth0.forwarding", "1", "LRO"),
        ("net.ipv4.conf.eth0.forwarding", "0", ""),
        ("net.ipv6.conf.eth0.forwarding", "1", "router advertisements"),
        ("net.ipv6.conf.eth0.forwarding", "0", ""),
        ("net.ipv6.conf.default.forwarding", "1", ""),
        ("net.ipv6.conf.eth0/5.disable_ipv6", "1", "loses its IPv6 addresses"),
        ("net.ipv6.conf.eth0.disable_ipv6", "0", ""),
        ("net.ipv6.conf.all.disable_ipv6", "0", "every interface"),
        ("net.ipv4.route.flush", "1", "forgotten"),
        ("net.netfilter.nf_hooks_lwtunnel", "1", "takes no 0 again"),
        ("net.ipv4.tcp_sack", "0", ""),
    ] {
        let told = refusal(&format!("sysctl.{name}"), after, &Facts::default(), Allowed::default());
        assert!(told.contains(why) && told.is_empty() == why.is_empty(), "{name}: {told}");
    }
}

#[test]
fn what_is_unknown_needs_a_way_back_over_a_session() {
    let facts = |session| Facts { session, ..Facts::default() };
    let confirmed = Allowed { session: true, ..Allowed::default() };
    let of = |name: &str, session, allowed| refusal(name, "1", &facts(session), allowed);
    let rp_filter = "sysctl.net.ipv4.conf.all.rp_filter";
    assert_eq!(of(rp_filter, Session::None, Allowed::default()), "");
    assert!(of(rp_filter, Session::Elsewhere, Allowed::default()).contains("is not known here"));
    assert_eq!(of(rp_filter, Session::Elsewhere, confirmed), "");
    assert_eq!(of("sysctl.net.ipv4.tcp_sack", Session::Elsewhere, Allowed::default()), "");
}

#[test]
fn a_congestion_control_has_to_be_there() {
    let there = Some(vec!["cubic".to_owned(), "reno".to_owned()]);
    let facts = Facts { congestion_controls: there, ..Facts::default() };
    for target in [
        "route.default.congctl",
        "sysctl.net.ipv4.tcp_congestion_control",
        "socket.192.0.2.1:443-198.51.100.7:50123.congestion",
    ] {
        let told = |name| refusal(target, name, &facts, Allowed::default());
        assert_eq!(told("reno"), "");
        assert!(told("renoo").contains("no congestion control `renoo`"), "{}", told("renoo"));
    }
    let allowed_congestion_controls = Some(vec!["reno".to_owned()]);
    let facts = Facts { allowed_congestion_controls, ..facts };
    let told =
        |name| refusal("sysctl.net.ipv4.tcp_congestion_control", name, &facts, Allowed::default());
    assert_eq!(told("reno"), "");
    assert!(told("cubic").contains("(reno), and cubic is not there"), "{}", told("cubic"));
}

#[test]
fn a_lock_of_ipv6_has_nothing_to_do_with_df() {
    let lock = |target| refusal(target, "lock 1400", &Facts::default(), Allowed::default());
    assert!(lock("route.default.mtu").contains("clears DF"));
    assert!(lock("route.::/0.mtu").contains("does not follow that of its interface"));
}
