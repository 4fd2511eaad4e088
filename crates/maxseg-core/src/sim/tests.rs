use super::deadlines::Deadlines;
use super::world::World;
use super::*;
use crate::engine::Unwatched;
use crate::outcome::LimitedBy;
use crate::units::Time;

const WIRED: &str = "[[hop]]\nname = \"wired\"\nrate = \"10 Mbit/s\"\ndelay = \"20 ms\"\n";

/// Requests on a connection that is kept, and on a new one each.
const REQUESTS: &str = "[[flow]]\nkind = \"request\"\nrequest = \"2 kB\"\nreply = \"20 kB\"\npause = \"50 ms\"\n\
     connection = \"kept\"\n[[flow]]\nkind = \"request\"\nrequest = \"300 B\"\nreply = \"5 kB\"\nthink = \"5 ms\"\n\
     connection = \"new\"\n";

fn scenario(text: &str) -> Scenario {
    Scenario::from_toml("test.toml", text).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn run(text: &str) -> Outcome {
    Sim.run(&scenario(text), &mut Unwatched).unwrap()
}

/// But for the mean wait and the counts of links: the computed form counts what is still to come for packets on their way at
/// the end.
fn comparable(mut outcome: Outcome) -> Outcome {
    outcome.queue_mean_s = None;
    outcome.links.clear();
    outcome.flows = outcome.flows.into_iter().map(comparable).collect();
    outcome
}

/// What a link sends twice is delivered once, whether or not one of the two is lost.
#[test]
fn copies_of_datagrams_are_no_goodput() {
    let run = |keys: &str| {
        let text = format!(
            "[[hop]]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nduplicate = 0.5\n{keys}\n\
             [[flow]]\nkind = \"cbr\"\nrate = \"10 Mbit/s\"\nsize = 1000\n[until]\ntime = \"10 s\""
        );
        Sim.run(&scenario(&text), &mut Unwatched).unwrap()
    };
    let outcome = run("");
    let sent = 1000 * outcome.data_packets.unwrap();
    let delivered = outcome.payload_bytes.unwrap();
    assert!(delivered <= sent && delivered + 10_000 > sent, "{delivered} of {sent}");
    let twice = outcome.duplicate_bytes.unwrap() as f64 / delivered as f64;
    assert!((twice - 0.5).abs() < 0.02, "{twice}");
    let outcome = run("errors = { model = \"uniform\", rate = 0.2 }");
    let delivered = outcome.payload_bytes.unwrap() as f64 / sent as f64;
    assert!(delivered < 0.95, "{delivered}");
}

#[test]
fn staged_links_give_the_same_run() {
    let radio = "[[hop]]\nname = \"radio\"\nrate = \"2 Mbit/s\"\ndelay = \"100 ms\"\nframe = 128\n";
    let errors = "errors = { model = \"uniform\", per = \"frame\", rate = 0.01 }\n";
    let until = "[until]\ntime = \"60 s\"\n";
    let cross = "[[flow]]\nkind = \"bulk\"\n[[flow]]\nkind = \"cbr\"\nrate = \"300 kbit/s\"\nsize = 700\n\
                 [[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\n[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n";
    let with_requests = format!("{cross}{REQUESTS}");
    let cases = [
        ("plain", String::new()),
        ("small queue", "queue = \"8 packets\"\n".to_owned()),
        ("errors", errors.to_owned()),
        ("arq", format!("{errors}arq = {{ retries = 2, delay = \"30 ms\" }}\n")),
        ("policer", "policer = { rate = \"1 Mbit/s\", burst = \"15 kB\" }\n".to_owned()),
        ("burst", "burst = \"30 kB\"\n".to_owned()),
        ("red", "queue = { limit = \"60 packets\", discipline = \"red\" }\n".to_owned()),
        ("jitter", "jitter = \"20 ms\"\n".to_owned()),
        ("copies", "duplicate = 0.02\n".to_owned()),
    ];
    for (name, keys) in cases {
        for flows in ["", cross, &with_requests] {
            let scenario = scenario(&format!("{WIRED}{radio}{keys}{flows}{until}"));
            // Jitter on the way back sits on its first link: that way is staged in both runs.
            let computed = Sim.run(&scenario, &mut Unwatched).unwrap();
            let mut world = World::staged(&scenario, NoObserver);
            world.run(&mut Unwatched).unwrap();
            assert!(computed.payload_bytes.unwrap() > 100_000, "{name}");
            let asks = |flow: &&Outcome| flow.requests.is_some();
            assert!(
                computed.flows.iter().filter(asks).all(|flow| flow.requests > Some(0)),
                "{name}"
            );
            assert_eq!(comparable(world.outcome(&scenario)), comparable(computed), "{name}");
        }
    }
}

/// Timers of every kind of flow: those of Linux's own TCP and its pacing, of the RFCs', of requests, of datagrams.
#[test]
fn many_flows_run_alike_whether_their_deadlines_are_kept_or_not() {
    let kinds = [
        "[[flow]]\nkind = \"bulk\"\n",
        "[[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\nstart = \"700 ms\"\n",
        "[[flow]]\nkind = \"cbr\"\nrate = \"50 kbit/s\"\nsize = 700\n",
        "[[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\n",
        REQUESTS,
    ];
    let flows = kinds.concat().repeat(12);
    let narrow = WIRED.replace("wired", "narrow") + "mtu = 1400\nqueue = \"60 kB\"\n";
    let until = "[until]\ntime = \"20 s\"\n";
    let ends = ["cubic", "bbr"].map(|name| {
        format!("[sender]\nstack = \"linux\"\ncongestion = \"{name}\"\n[receiver]\nstack = \"linux\"\ncongestion = \"{name}\"\n")
    });
    let older = "[sender]\nstack = \"rfc\"\n[receiver]\nstack = \"rfc\"\n".to_owned();
    for ends in ends.into_iter().chain([older]) {
        let scenario = scenario(&format!("{WIRED}{narrow}{flows}{ends}{until}"));
        let kept = Sim.run(&scenario, &mut Unwatched).unwrap();
        let mut world = World::new(&scenario, NoObserver);
        assert!(!world.net.deadlines.blocks().is_empty());
        world.net.deadlines = Deadlines::default();
        world.run(&mut Unwatched).unwrap();
        assert_eq!(world.outcome(&scenario), kept, "{ends}");
        assert!(kept.retransmitted_packets > Some(20), "{kept:?}");
    }
}

#[test]
fn flows_on_a_part_of_the_path_share_what_they_cross() {
    let hops = format!("{WIRED}{}", WIRED.replace("wired", "second").replace("10 Mbit", "20 Mbit"));
    let flow = |hops: &str| {
        format!(
            "[[flow]]\nkind = \"cbr\"\nrate = \"8 Mbit/s\"\nrate_counts = \"packet\"\nsize = 972\n{hops}"
        )
    };
    // 8 Mbit/s alone pass. Two of them overload a hop of 10 Mbit/s, where they meet, but not one of 20.
    for (hops_of_second, passes) in
        [("hops = [\"wired\"]\n", 10.0), ("hops = [\"second\"]\n", 16.0)]
    {
        let outcome =
            run(&format!("{hops}{}{}[until]\ntime = \"20 s\"\n", flow(""), flow(hops_of_second)));
        let passed = outcome.goodput_bps.unwrap() * 1000.0 / 972.0 / 1e6;
        assert!((passed / passes - 1.0).abs() < 0.01, "{hops_of_second}: {passed} is not {passes}");
        let shares: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_bps.unwrap()).collect();
        assert!(shares.iter().all(|bps| *bps > 0.2 * outcome.goodput_bps.unwrap()), "{shares:?}");
    }
}

#[test]
fn tcp_on_the_middle_hop_has_its_own_round_trip() {
    let path = format!("{WIRED}{}", WIRED.replace("wired", "second").replace("20 ms", "100 ms"));
    let bulk = "[[flow]]\nkind = \"bulk\"\nhops = [\"wired\"]\n[[flow]]\nkind = \"ping\"\nhops = [\"second\"]\nfrom = \"receiver\"\n";
    let window = "[receiver]\nwindow = \"64 segments\"\n";
    let outcome = run(&format!("{path}{bulk}{window}[until]\ntime = \"20 s\"\n"));
    let [tcp, ping] = outcome.flows.as_slice() else { panic!("two flows") };
    assert!(tcp.rtt_min_s.unwrap() < 0.045, "{tcp:?}");
    assert!((ping.ping_mean_s.unwrap() - 0.2).abs() < 0.001, "{ping:?}");
    assert!(tcp.goodput_bps.unwrap() > 8e6, "{tcp:?}");
}

#[test]
fn datagrams_above_the_mtu_are_cut_or_turned_back() {
    let narrow = WIRED.replace("wired", "narrow") + "mtu = 576\n";
    let flow = "[[flow]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nsize = 1400\nstop = \"4 s\"\n[until]\ntime = \"5 s\"\n";
    let with = |settings: &str, hop: &str| run(&format!("{WIRED}{narrow}{hop}{flow}{settings}"));
    let cut = with("[sender]\ndf = false\n", "");
    assert_eq!((cut.segment_loss, cut.limited_by), (Some(0.0), Some(LimitedBy::Application)));
    for hop in ["", "icmp = \"drop\"\n"] {
        let whole = with("", hop);
        assert_eq!((whole.segment_loss, whole.limited_by), (Some(1.0), Some(LimitedBy::PathMtu)));
    }
    // IPv6 is not fragmented on the way, whatever DF would say.
    assert_eq!(
        with("[sender]\ndf = false\n", "[hop.reverse]\nicmp = \"send\"\n").segment_loss,
        Some(0.0)
    );
    let narrow = narrow.replace("576", "1280");
    let v6 = run(&format!("ip = 6\n{WIRED}{narrow}{flow}[sender]\ndf = false\n"));
    assert_eq!(v6.segment_loss, Some(1.0));
}

#[test]
fn news_of_a_small_mtu_comes_after_the_way_back() {
    use super::notices::Notices;
    use crate::link::Fate;
    use crate::scenario::End;
    use crate::units::Mtu;

    let scenario = scenario(&format!(
        "{WIRED}{}{}",
        WIRED.replace("wired", "second"),
        WIRED.replace("wired", "third")
    ));
    let mut notices = Notices::new(&scenario);
    let fate = |hop| Fate::TooBig { at: Time::from_secs(1), hop, mtu: Mtu::new(576).unwrap() };
    // Two hops of 20 ms and 56 bytes at 10 Mbit/s.
    notices.on_loss(End::Sender, 0, 3, fate(2));
    assert_eq!(notices.next_arrival(), Time::from_nanos(1_000_000_000 + 2 * (20_000_000 + 44_800)));
    // From its own first hop at once, wherever that is.
    notices.on_loss(End::Receiver, 1, 3, fate(1));
    assert_eq!(notices.next_arrival(), Time::from_secs(1));
    let notice = notices.pop_due(Time::from_secs(1)).unwrap();
    assert_eq!((notice.flow, notice.to, notice.mtu.get()), (3, End::Receiver, 576));
    // A black hole says nothing.
    let silent = self::scenario(&format!("{WIRED}icmp = \"drop\"\n"));
    let mut notices = Notices::new(&silent);
    notices.on_loss(End::Sender, 0, 3, fate(0));
    assert_eq!(notices.next_arrival(), Time::NEVER);
}

#[test]
fn codel_takes_the_delay_out_of_a_bulk_flow() {
    let mean = |queue: &str| {
        let outcome = run(&format!("{WIRED}queue = {queue}\n[until]\ntime = \"60 s\"\n"));
        (outcome.queue_mean_s.unwrap(), outcome.goodput_bps.unwrap())
    };
    let (tail, full) = mean("{ limit = \"500 packets\" }");
    let (codel, kept) = mean("{ limit = \"500 packets\", discipline = \"codel\" }");
    assert!(codel < 0.03 && tail > 0.1, "{codel} s with CoDel, {tail} s without");
    assert!(kept > 0.85 * full, "{kept} against {full} bit/s");
}

#[test]
fn what_is_repeated_on_the_link_tcp_does_not_see() {
    let radio = "[[hop]]\nrate = \"2 Mbit/s\"\ndelay = \"100 ms\"\nframe = 128\nerrors = { model = \"uniform\", per = \"frame\", rate = 0.05 }\n";
    let rest = "[receiver]\nwindow = \"60 segments\"\n[until]\ntime = \"100 s\"\n";
    let bare = run(&format!("{radio}{rest}"));
    let arq = run(&format!("{radio}arq = {{ retries = 3, delay = \"20 ms\" }}\n{rest}"));
    assert!(arq.goodput_bps.unwrap() > 10.0 * bare.goodput_bps.unwrap());
    // 12 frames: 1 − 0.95¹² = 46%; after three repeats 12 × 6.25·10⁻⁶.
    assert!(
        arq.segment_loss.unwrap() < 1e-3 && bare.segment_loss.unwrap() > 0.4,
        "{arq:?} {bare:?}"
    );
}

#[test]
fn a_small_buffer_of_linux_limits_by_its_own_name() {
    let run = |buffer: &str| {
        let long = "[[hop]]\nrate = \"1 Gbit/s\"\ndelay = \"50 ms\"\nqueue = \"20000 packets\"\n[until]\ntime = \"20 s\"\n";
        run(&format!(
            "{long}[sender]\nstack = \"linux\"\nlinux = {{ tcp_wmem = [4096, 16384, {buffer}] }}\n[receiver]\nstack = \"linux\"\n"
        ))
    };
    assert_eq!(run("524288").limited_by, Some(LimitedBy::SendBuffer));
    assert_eq!(run("67108864").limited_by, Some(LimitedBy::ReceiveWindow));
}

/// The link stands idle before, for want of any flow.
#[test]
fn a_flow_that_starts_late_and_fills_its_link_is_limited_by_it() {
    for start in ["0 s", "5 s"] {
        let text = format!(
            "hop = [{{ rate = \"1 Mbit/s\", delay = \"10 ms\" }}]\nflow = [{{ kind = \"bulk\", \
             start = \"{start}\" }}]\nuntil = {{ time = \"10 s\" }}\n"
        );
        let scenario = Scenario::from_toml("test", &text).unwrap();
        let outcome = Sim.run(&scenario, &mut Unwatched).unwrap();
        assert_eq!(outcome.limited_by, Some(LimitedBy::Bandwidth), "{start}: {:?}", outcome.limits);
    }
}

/// `SO_MAX_PACING_RATE` holds the payload's rate, as in the lab, and is the limit.
#[test]
fn a_bulk_flow_is_paced_as_in_the_lab() {
    let text = format!("{WIRED}[lab]\npacing_rate = \"4 Mbit/s\"\n[until]\ntime = \"20 s\"\n");
    let outcome = run(&text);
    let goodput = outcome.goodput_bps.unwrap();
    assert!((3.9e6..=4e6).contains(&goodput), "{goodput}");
    assert_eq!(outcome.limited_by, Some(LimitedBy::Paced));
    let codes = |text: &str| -> Vec<String> {
        Sim.caveats(&scenario(text)).into_iter().map(|caveat| caveat.code).collect()
    };
    assert!(!codes(&text).contains(&"lab-keys".to_owned()));
    assert!(
        codes(&text.replace("[lab]", "[lab]\ntraffic = \"iperf3\""))
            .contains(&"lab-keys".to_owned())
    );
}

/// What a token bucket lets go at once does not occupy the link, however many bytes it is.
#[test]
fn tokens_of_a_bucket_leave_a_link_idle() {
    let run = |keys: &str| {
        run(&format!("{WIRED}queue = \"1000 packets\"\n{keys}\n[until]\ntime = \"8 s\"\n"))
    };
    let windowed = "burst = \"40 MB\"\n[receiver]\nwindow = \"64 KiB\"";
    let idle = run(windowed);
    assert!(idle.goodput_bps.unwrap() > 12e6, "faster than the rate of the link");
    assert_eq!(idle.limited_by, Some(LimitedBy::ReceiveWindow));
    let emptied = run("burst = \"400 kB\"");
    assert_eq!(
        emptied.limited_by,
        Some(LimitedBy::Bandwidth),
        "an empty bucket lets the rate through"
    );
}

/// A reply is written at once: what is out of it, on its way or lost, is no lack of data.
#[test]
fn a_reply_on_its_way_is_not_the_applications_wait() {
    let share = |stack: &str, keys: &str, kind| {
        let text = format!(
            "sender.stack = \"{stack}\"\nreceiver.stack = \"{stack}\"\n[[hop]]\nrate = \"20 Mbit/s\"\ndelay = \"40 ms\"\n{keys}\n\
             [[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"200 B\"\nreply = \"100 kB\"\ncount = 5\n"
        );
        let limits = run(&text).limits;
        limits.iter().filter(|limit| limit.kind == kind).map(|limit| limit.share).sum::<f64>()
    };
    for stack in ["linux", "rfc"] {
        let lossy = "queue = \"64 KiB\"";
        let repairing =
            share(stack, lossy, LimitedBy::Congestion) + share(stack, lossy, LimitedBy::Rto);
        let idle = share(stack, lossy, LimitedBy::Application);
        assert!(repairing > 0.5 && idle < 0.3, "{stack}: {repairing} {idle}");
        let starting = share(stack, "queue = \"1000 packets\"", LimitedBy::StartUp);
        assert!(starting > 0.5, "{stack}: {starting}");
    }
}

/// What is in flight is what is not acknowledged: bytes, not full segments, and lost ones until they are repaired.
#[test]
fn in_flight_is_what_is_not_acknowledged() {
    let mean = |stack: &str, keys: &str| {
        let outcome = run(&format!(
            "sender.stack = \"{stack}\"\nreceiver.stack = \"{stack}\"\n{WIRED}{keys}"
        ));
        outcome.in_flight_mean_bytes.unwrap()
    };
    let asked = "[[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"1 B\"\nreply = \"1 B\"\ncount = 20\n";
    let outage = "errors = [{ model = \"none\" }, { at = \"5 s\", model = \"uniform\", rate = 1.0 }, { at = \"15 s\", model = \"none\" }]\n\
                  [until]\ntime = \"20 s\"\n";
    for stack in ["linux", "rfc"] {
        let bytes = mean(stack, asked);
        assert!(bytes <= 2.0, "{stack}: {bytes} of the two that are ever out");
        // Half of the time all that was out is lost: a queue and what the path holds.
        let lost = mean(stack, outage);
        assert!(lost > 60_000.0, "{stack}: {lost}");
    }
}

/// The link's time before a flow is not the flow's, whoever used it.
#[test]
fn a_ping_beside_a_transfer_does_not_change_its_limit() {
    let limits = |ping: &str| {
        let text = format!(
            "{WIRED}[[flow]]\nkind = \"bulk\"\nstart = \"10 s\"\n{ping}[until]\ntime = \"20 s\"\n"
        );
        let outcome = run(&text);
        let bulk = outcome.flows.first().unwrap_or(&outcome);
        bulk.limits
            .iter()
            .map(|limit| (limit.kind, (limit.share * 50.0).round()))
            .collect::<Vec<_>>()
    };
    let alone = limits("");
    assert_eq!(alone[0].0, LimitedBy::Bandwidth, "{alone:?}");
    assert_eq!(limits("[[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\n"), alone);
}

/// A program that rests between requests gains nothing from a faster link, though a transfer fills that meanwhile.
#[test]
fn requests_beside_a_transfer_are_the_programs() {
    let limit = |think: &str| {
        let request = format!(
            "[[flow]]\nkind = \"request\"\nfrom = \"receiver\"\nrequest = \"200 B\"\nreply = \"30 kB\"\nthink = \"{think}\"\ncount = 1000\n"
        );
        let outcome =
            run(&format!("{WIRED}{request}[[flow]]\nkind = \"bulk\"\n[until]\ntime = \"20 s\"\n"));
        let [requests, bulk] = outcome.flows.as_slice() else { panic!("two flows") };
        assert_eq!(bulk.limited_by, Some(LimitedBy::Bandwidth));
        requests.limited_by
    };
    assert_eq!(limit("2 s"), Some(LimitedBy::Application));
    assert_eq!(limit("1 ms"), Some(LimitedBy::Bandwidth));
}

/// The kernel sends echo replies without DF (`net/ipv4/icmp.c`); in IPv6 no router fragments.
#[test]
fn echo_replies_above_the_mtu_of_the_way_back_are_fragmented() {
    let narrow = WIRED.replace("wired", "narrow") + "[hop.reverse]\nmtu = 1000\n";
    let ping =
        "[[flow]]\nkind = \"ping\"\nsize = 1100\ninterval = \"100 ms\"\n[until]\ntime = \"4 s\"\n";
    for (ip, answered, fate) in [(4, true, "is fragmented there"), (6, false, "is dropped there")] {
        // 1280 bytes are IPv6's least.
        let mtu = if ip == 6 { "mtu = 1280" } else { "mtu = 1000" };
        let ping = if ip == 6 { ping.replace("1100", "1300") } else { ping.to_owned() };
        let text = format!("ip = {ip}\n{WIRED}{}{ping}", narrow.replace("mtu = 1000", mtu));
        let scenario = scenario(&text);
        let told = size_caveats(&scenario);
        assert!(
            told.iter().any(|it| it.text.starts_with("echo replies") && it.text.contains(fate))
        );
        let [sim, model] = [&mut Sim as &mut dyn Engine, &mut crate::model::Model]
            .map(|engine| engine.run(&scenario, &mut Unwatched).unwrap());
        // What was sent shortly before the end is still on its way.
        assert_eq!(sim.segment_loss.unwrap() < 0.1, answered, "{sim:?}");
        assert_eq!(model.segment_loss, Some(if answered { 0.0 } else { 1.0 }));
        let means = sim.ping_mean_s.zip(model.ping_mean_s);
        assert_eq!(means.is_some(), answered);
        assert!(means.is_none_or(|(sim, model)| (sim / model - 1.0).abs() < 0.01), "{means:?}");
    }
}
