mod links;
mod mss;
mod sweeps;

use super::*;

const CELLULAR: &str = r#"name = "Cellular"
seed = 7

[[hop]]
name = "wired"
rate = "10 Mbit/s"
delay = "20 ms"

[[hop]]
name = "radio"
rate = "2 Mbit/s"
delay = "200 ms"
mtu = 576
frame = 128
queue = "64 KiB"
errors = { model = "uniform", per = "frame", rate = 0.01 }

[sender]
mss = 536

[receiver]
window = "20 segments"

[sweep]
"sender.mss" = [88, 536]
"hop.radio.errors.rate" = ["0.5%", 0.1, 0.2]
"#;

/// `file:line:column what | hint`, or the argument in place of the place.
fn complaint(error: &ScenarioError) -> String {
    let location = match &error.location {
        Location::File(excerpt) => format!("{}:{}", excerpt.line, excerpt.column),
        Location::Argument(argument) => argument.clone(),
        Location::Missing(_) => "missing".to_owned(),
    };
    format!("{location} {} | {}", error.what, error.hint)
}

/// A draft with `--set` arguments, and `--axis` arguments that say so.
fn draft(text: &str, arguments: &[&str]) -> Result<Draft, ScenarioError> {
    let mut draft = Draft::parse("test.toml", text)?;
    for argument in arguments {
        match argument.strip_prefix("--axis ") {
            Some(axis) => draft.sweep_argument(axis)?,
            None => draft.set_argument(argument)?,
        }
    }
    Ok(draft)
}

fn complain(text: &str, arguments: &[&str]) -> String {
    let run = || -> Result<(), ScenarioError> {
        let draft = draft(text, arguments)?;
        let sweep = draft.sweep()?;
        draft.scenario()?;
        sweep.points(&draft).map(|_| ())
    };
    complaint(&run().expect_err(text))
}

#[test]
fn a_file_gives_what_it_says_and_defaults_for_the_rest() {
    let scenario = Scenario::from_toml("test.toml", CELLULAR).unwrap();
    assert_eq!(scenario.seed, 7);
    let [wired, radio] = scenario.path.hops.as_slice() else { panic!("two hops") };
    assert_eq!(wired.forward.queue, crate::path::QueueLimit::Packets(100));
    assert_eq!(radio.forward.queue, crate::path::QueueLimit::Bytes(Bytes::new(65_536)));
    assert!(radio.forward.errors.is_random() && !radio.reverse.errors.is_random());
    assert_eq!(scenario.sender.stack, "linux");
    assert_eq!(scenario.until, Until { time: Time::from_secs(60), bytes: None });
    assert_eq!(scenario.flows.len(), 1);
    assert_eq!(scenario.mss(&scenario.flows[0]).effective.get(), 536 - 12);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn one_error_with_its_place_and_a_hint() {
    let hop = "[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
    let with = |line: &str| format!("{hop}{line}\n");
    let hosts = format!(
        "{hop}[receiver]\npacket_cost = \"5 ms\"\n[[flow]]\nkind = \"ping\"\ninterval = \"10 ms\"\n"
    );
    let cases = [
        (
            hosts.as_str(),
            "5:15 a host that takes 5 ms for a packet cannot keep up: datagrams and echoes alone are 1.000 times what \
             it has time for | make it smaller, or let flows send less often",
        ),
        // Syntax and structure.
        (
            "name = ",
            "1:8 string values must be quoted, expected literal string | a text stands in quotes: rate = \"10 Mbit/s\"",
        ),
        (
            "",
            "missing the path has no hop | add [[hop]] with rate = \"10 Mbit/s\" and delay = \"20 ms\"",
        ),
        ("[[hop]]\ndelay = \"1 ms\"\n", "1:1 hop.0 has no `rate` | add rate = \"10 Mbit/s\""),
        // Unknown keys, near and far.
        (&with("ratee = 1"), "4:1 unknown key `ratee` | did you mean `rate`?"),
        (&with("[sender]\nmms = 1"), "5:1 unknown key `mms` | did you mean `mss`?"),
        (&with("[sender.rto]\nmim = \"1 s\""), "5:1 unknown key `mim` | did you mean `min`?"),
        // Names and lists.
        (
            &format!(
                "{}{}",
                hop.replace("[[hop]]", "[[hop]]\nname = \"1\""),
                hop.replace("[[hop]]", "[[hop]]\nname = \"0\"")
            ),
            "2:8 `1` cannot name a hop | a name is a word such as radio: keys like hop.radio.rate must find it",
        ),
        (
            &format!("lab = []\n{hop}"),
            "1:7 `lab` is a list; it takes a table | for example lab = { backend = \"relay\" }",
        ),
        // Units.
        (
            "[[hop]]\nrate = 10\ndelay = \"1 ms\"",
            "2:8 `10` has no unit; a rate needs one of: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s | for example rate = \"10 Mbit/s\"",
        ),
        (
            "[[hop]]\nrate = \"10 MB/s\"\ndelay = \"1 ms\"",
            "2:8 `MB/s` is not a unit of a rate; use one of: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s | for example rate = \"10 Mbit/s\"",
        ),
        // Impossible values.
        (
            "[[hop]]\nrate = \"0 Mbit/s\"\ndelay = \"1 ms\"",
            "2:8 `0 Mbit/s` is out of range: a rate is from 1 bit/s to 100 Tbit/s, and never zero | for example rate = \"10 Mbit/s\"",
        ),
        (&with("[sender]\nmss = 0"), "5:7 MSS 0 is outside 1 to 65495 | for example mss = 1460"),
        (&with("[sender]\nmss = -5"), "5:7 MSS -5 is outside 1 to 65495 | for example mss = 1460"),
        (
            &with("[sender]\nmss = 65496"),
            "5:7 MSS 65496 is outside 1 to 65495 | for example mss = 1460",
        ),
        (&with("mtu = 67"), "4:7 MTU 67 is outside 68 to 65535 | for example mtu = 1500"),
        (
            &with("errors = { model = \"uniform\", rate = 1.5 }"),
            "4:38 `1.5` is not a probability: it must lie between 0 and 1 (or 0% and 100%) | for example rate = 0.01",
        ),
        (
            &with("errors = { model = \"uniform\", per = \"frame\", rate = 0.1 }"),
            "4:10 errors per frame need to know the frame | add frame = 128 (bytes) to the hop, or use per = \"packet\"",
        ),
        (
            &with("errors = { model = \"gilbert-elliott\", rate = 0.1, burst = 0.5 }"),
            "4:59 a mean bad run of 0.5 units is shorter than one | use burst = 1 or more",
        ),
        (
            &with("errors = [{ at = \"5 s\", model = \"none\" }]"),
            "4:18 the schedule begins at 5 s | a schedule begins with at = \"0 s\" and its times rise",
        ),
        (&with("[until]\ntime = \"0 s\""), "5:8 a run of 0 s is no run | write time = \"60 s\""),
        (
            &with("[sender]\nwindow = \"2 GiB\""),
            "5:10 a window of 2 GiB is above what TCP can offer: 65535 x 2^14 bytes, just below 1 GiB (RFC 7323) | for example window = \"64 KiB\"",
        ),
        (
            &with("[sender]\nrto = { min = \"2 s\", max = \"1 s\" }"),
            "5:15 rto.min (2 s) is above rto.max (1 s) | `maxseg stacks show linux` shows what the stack sets",
        ),
        // Types and words.
        (
            &with("mtu = \"big\""),
            "4:7 `mtu` is the text \"big\"; it takes an MTU in bytes: a bare number from 68 to 65535 | for example mtu = 1500",
        ),
        (
            &with("pad = 5"),
            "4:7 `pad` is the number 5; it takes true or false | for example pad = true",
        ),
        (
            &with("framing = \"ehternet\""),
            "4:11 `ehternet` is not a value of `framing` | did you mean `ethernet`?",
        ),
        // Names.
        (
            "[[hop]]\nname = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[[hop]]\nname = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"",
            "6:8 two hops are called `a` | give each its own name, such as a-2",
        ),
        (
            &with("name = \"a.b\""),
            "4:8 `a.b` cannot name a hop | a name is a word such as radio: keys like hop.radio.rate must find it",
        ),
        (
            &with("[sender]\nstack = \"ns2-ren\""),
            "5:9 there is no stack `ns2-ren` | did you mean `ns2-reno`?",
        ),
        // Flows.
        (
            &with("[[flow]]\nkind = \"bulk\"\nrate = \"1 Mbit/s\""),
            "6:8 a bulk flow has no `rate` | known here: kind, from, hops, start",
        ),
        (
            &with("[[flow]]\nkind = \"cbr\"\nsize = 100"),
            "4:1 a cbr flow needs `rate` | add rate = \"250 kbit/s\"",
        ),
        (
            &with("[[flow]]\nkind = \"request\"\nreply = \"1 KiB\""),
            "4:1 a request flow needs `request` | add request = \"200 B\"",
        ),
        (
            &with("[[flow]]\nkind = \"request\"\nrequest = \"200 B\"\nreply = \"0 B\""),
            "7:9 0 bytes are nothing that could arrive | write \"1 B\" at least, or \"20 KiB\"",
        ),
        (
            &with("[[flow]]\nkind = \"request\"\nrequest = \"2 TiB\"\nreply = \"1 B\""),
            "6:11 2048 GiB at a time is above 1024 GiB | make it smaller, or let a bulk flow carry it",
        ),
        (
            &with("[[flow]]\nkind = \"request\"\nrequest = \"1 B\"\nreply = \"1 B\"\ncount = 0"),
            "8:9 0 requests are no flow | write count = 1 or more, or take it out",
        ),
        (
            &with("[[flow]]\nkind = \"request\"\nrequest = \"1 B\"\nreply = \"1 B\"\nsize = 5"),
            "8:8 a request flow has no `size` | known here: kind, from, hops, start, stop, request, reply, pause, think, connection, count",
        ),
        (
            &with(
                "[[flow]]\nkind = \"request\"\nrequest = \"1 B\"\nreply = \"1 B\"\nconnection = \"knew\"",
            ),
            "8:14 `knew` is not a value of `connection` | did you mean `new`?",
        ),
        (
            &with("[[flow]]\nkind = \"request\"\nrequest = 200\nreply = \"1 B\""),
            "6:11 `200` has no unit; a size needs one of: B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024) | for example request = \"200 B\"",
        ),
        // Sweeps.
        (
            &with("[sweep]\n\"sender.mss\" = []"),
            "5:16 the axis `sender.mss` is empty | give it at least one value, or take it out",
        ),
        (
            &with("[sweep]\n\"sender.mss\" = [536, 0]"),
            "5:22 MSS 0 is outside 1 to 65495 | for example mss = 1460",
        ),
        (
            &with("[sweep]\nsender.mss = [536]"),
            "5:1 `sender` is a table, not an axis | a key with dots needs quotes here: \"sender.mss\" = [536, 1460]",
        ),
        (
            &with("[sweep]\n\"hop.radio.rate\" = [\"1 Mbit/s\"]"),
            "5:21 no hop is called `radio` | they have no names here: write hop.0, hop.1 …, or hop.* for all",
        ),
    ];
    let got = cases.map(|(text, _)| complain(text, &[]));
    assert_eq!(got.as_slice(), cases.map(|(_, want)| want.to_owned()).as_slice());
}

#[test]
fn what_was_set_from_outside_is_blamed_there() {
    let cases = [
        ("sender.mss=0", "--set sender.mss=0 MSS 0 is outside 1 to 65495 | for example mss = 1460"),
        ("sender.msss=5", "--set sender.msss=5 unknown key `msss` | did you mean `mss`?"),
        (
            "sender.mss",
            "--set sender.mss `sender.mss` is not KEY=VALUE | write for example --set sender.mss=536",
        ),
        (
            "hop.radoi.rate=1 Mbit/s",
            "--set hop.radoi.rate=1 Mbit/s no hop is called `radoi` | did you mean `hop.radio`?",
        ),
        (
            "hop.5.rate=1 Mbit/s",
            "--set hop.5.rate=1 Mbit/s there is no hop.5: the file has 2 of them | they are counted from 0, as in hop.0",
        ),
        (
            "hop.radio.rate=2",
            "--set hop.radio.rate=2 `2` has no unit; a rate needs one of: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s | for example rate = \"10 Mbit/s\"",
        ),
    ];
    for (argument, want) in cases {
        assert_eq!(complain(CELLULAR, &[argument]), want, "{argument}");
    }
    let cases: [(&[&str], &str); 6] = [
        (
            &["hop.*.mtu=576", "--axis hop.radio.mtu=576,1500"],
            "--axis hop.radio.mtu=576,1500 `--set hop.*.mtu=576` is about the same key | leave one of them out",
        ),
        (
            &["--axis sender.mss=88", "--axis sender.mss=536"],
            "--axis sender.mss=536 `--axis sender.mss=88` is about the same key | leave one of them out",
        ),
        (
            &["--axis sender.mss=88,536,88"],
            "--axis sender.mss=88,536,88 the axis `sender.mss` has 88 twice | take one of them out: \"64 KiB\" and \"65536 B\" are one value",
        ),
        (
            &["--axis seed=1..5..1"],
            "--axis seed=1..5..1 the seed is not an axis | --seeds 10 runs the scenario's own seed and the nine after it",
        ),
        (
            &["--axis sender.mss=0"],
            "--axis sender.mss=0 MSS 0 is outside 1 to 65495 | for example mss = 1460",
        ),
        (&["--axis seed2=1,2"], "--axis seed2=1,2 unknown key `seed2` | did you mean `seed`?"),
    ];
    for (arguments, want) in cases {
        assert_eq!(complain(CELLULAR, arguments), want, "{arguments:?}");
    }
}

#[test]
fn keys_reach_every_hop_by_name_number_or_star() {
    let set = |arguments: &[&str]| {
        let mut draft = Draft::parse("test.toml", CELLULAR).unwrap();
        for argument in arguments {
            draft.set_argument(argument).unwrap();
        }
        draft.scenario().unwrap()
    };
    let mtus = |scenario: &Scenario| -> Vec<u16> {
        scenario.path.hops.iter().map(|hop| hop.forward.mtu.get()).collect()
    };
    assert_eq!(mtus(&set(&["hop.radio.mtu=1400"])), [1500, 1400]);
    assert_eq!(mtus(&set(&["hop.1.mtu=1400"])), [1500, 1400]);
    assert_eq!(mtus(&set(&["hop.*.mtu=9000"])), [9000, 9000]);
    // A key that no file has yet, in a table that no file has yet.
    let scenario = set(&["sender.rto.min=2 s", "until.bytes=1 MiB"]);
    assert_eq!(scenario.sender.rto.min, Time::from_secs(2));
    assert_eq!(scenario.until.bytes, Some(Bytes::new(1 << 20)));
}

#[test]
fn the_hash_knows_what_matters() {
    let hash = |arguments: &[&str]| {
        let mut draft = Draft::parse("test.toml", CELLULAR).unwrap();
        for argument in arguments {
            draft.set_argument(argument).unwrap();
        }
        draft.scenario().unwrap().content_hash()
    };
    let plain = hash(&[]);
    for same in [
        "seed=8",
        "name=Other",
        "hop.radio.delay=0.2 s",
        "hop.radio.errors.rate=1%",
        "sender.stack=linux",
    ] {
        assert_eq!(hash(&[same]), plain, "{same}");
    }
    for other in [
        "sender.mss=600",
        "hop.radio.errors.rate=0.011",
        "until.time=61 s",
        "sender.stack=ns2-reno",
    ] {
        assert_ne!(hash(&[other]), plain, "{other}");
    }
}

#[test]
fn a_host_that_takes_no_time_is_none() {
    let hash = |more: &str| {
        let text = format!("[[hop]]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{more}");
        Scenario::from_toml("test.toml", &text).unwrap().content_hash()
    };
    let cost = |time: &str| hash(&format!("[sender]\npacket_cost = \"{time}\"\n"));
    assert_eq!(cost("0 s"), hash(""));
    assert_ne!(cost("1 ns"), hash(""));
}

#[test]
fn flows_share_the_hosts_where_they_begin_and_end() {
    let hop =
        |name: &str| format!("[[hop]]\nname = \"{name}\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n");
    let ping = "[[flow]]\nkind = \"ping\"\ninterval = \"100 ms\"\n";
    let cost = "[sender]\npacket_cost = \"10 ms\"\n";
    let text = format!("{}{}{cost}{ping}{ping}hops = [\"b\"]\n", hop("a"), hop("b"));
    let scenario = Scenario::from_toml("test.toml", &text).unwrap();
    let [whole, part] = scenario.flows.as_slice() else { panic!("two flows") };
    let same = |end| scenario.host(whole, end) == scenario.host(part, end);
    assert!(same(End::Receiver) && !same(End::Sender));
    // A request and its answer, ten times a second.
    assert!((scenario.steady_load(scenario.host(whole, End::Sender)) - 0.2).abs() < 1e-12);
    assert!(scenario.steady_load(scenario.host(whole, End::Receiver)).abs() < 1e-12);
}
