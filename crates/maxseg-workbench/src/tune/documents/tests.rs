use maxseg_core::tunables::{Acts, tunables};

use super::*;

mod any;

fn read(format: Format, text: &str) -> Result<Document, DocumentError> {
    format.read("file", text, Prefix::ALL_V4)
}

fn settings(document: &Document) -> Vec<String> {
    document.settings.iter().map(|one| format!("{}={}", one.target, one.value)).collect()
}

/// The two documents of the talk on Open Transport's tuner.
const SLOW_LINK: &str = "#auto\ntcp_rexmit_interval_initial=1500\ntcp_rexmit_interval_min=1500\n\
                         tcp_conn_grace_period=1500\n#end\n";
const MODEM: &str = "Settings for a modem\r\n#auto\r\ntcp_mss_max=536\r\ntcp_rwin_mss_multiplier=6\r\n\
                     tcp_rexmit_interval_initial=3000\r\ntcp_rexmit_interval_min=3000\r\n\
                     tcp_conn_grace_period=3000\r\n#end\r\n";

fn guessed(file: &str, text: &str) -> Format {
    Format::guess(file, text).unwrap()
}

#[test]
fn the_documents_of_open_transport_s_tuner_are_read() {
    let slow = read(guessed("slow", SLOW_LINK), SLOW_LINK).unwrap();
    assert_eq!(settings(&slow), ["route.default.rto_min=1500"]);
    let noted: Vec<_> = slow.notes.iter().map(|note| (note.line, note.key.as_str())).collect();
    assert_eq!(
        noted,
        [
            (2, "tcp_rexmit_interval_initial"),
            (3, "tcp_rexmit_interval_min"),
            (4, "tcp_conn_grace_period")
        ]
    );
    assert!(
        slow.notes[0].text.contains("Nearest: tcp_rexmit_interval_min"),
        "{}",
        slow.notes[0].text
    );
    let modem = read(guessed("modem", MODEM), MODEM).unwrap();
    let want = ["route.default.mtu=576", "route.default.window=3216", "route.default.rto_min=3000"];
    assert_eq!(settings(&modem), want);
    assert_eq!(modem.settings[1].line, 4);
    let of_a_mac = MODEM.replace("\r\n", "\r");
    assert_eq!(guessed("modem", &of_a_mac), Format::OpenTransport);
    assert_eq!(read(Format::OpenTransport, &of_a_mac).unwrap(), modem);
    let elsewhere =
        Format::OpenTransport.read("modem", MODEM, "10.0.0.0/8".parse().unwrap()).unwrap();
    assert_eq!(settings(&elsewhere)[0], "route.10.0.0.0/8.mtu=576");
    // And back.
    let written = Format::OpenTransport.write(&modem);
    assert_eq!(
        written.text,
        "#auto\ntcp_mss_max=536\ntcp_rwin_mss_multiplier=6\ntcp_rexmit_interval_min=3000\n#end\n"
    );
    assert!(written.left_out.is_empty());
}

/// What holds for one prefix here holds for every host there.
#[test]
fn what_a_format_widens_is_told() {
    let text = "[settings]\n\"route.10.0.0.0/8.mtu\" = 1400\n\"route.default.window\" = 9000\n";
    let document = read(Format::Toml, text).unwrap();
    for (format, count) in [(Format::OpenTransport, 1), (Format::Stcp, 1), (Format::Toml, 0)] {
        let widened = format.write(&document).widened;
        assert_eq!(widened.len(), count, "{widened:?}");
        let is_as_said = |note: &Note| {
            note.key == "route.10.0.0.0/8.mtu" && note.text.contains("beyond 10.0.0.0/8")
        };
        assert!(widened.iter().all(is_as_said), "{widened:?}");
    }
}

#[test]
fn the_requests_of_stcp_are_read() {
    for text in [
        "as:\nset_stcp_param min_mss 1480\nChanging maximum tcp segment size (min_mss)\n  from 556 to 1480\n",
        "analyze_system -request_line ‘set_stcp_param min_mss 1480’ –quit",
        "analyze_system -request_line 'set_longword default_min_mtu 5c8' -quit",
        "set_external_variable default_min_mtu -in ip.cp.pm -type integer -to 1480\n",
        "set_longword tcpos_default_mss$ 5b4",
    ] {
        assert_eq!(guessed("start_stcp.cm", text), Format::Stcp, "{text}");
        let document = read(Format::Stcp, text).unwrap();
        assert_eq!(settings(&document), ["route.default.mtu=1500"], "{text}");
        assert_eq!(Format::Stcp.write(&document).text, "set_stcp_param min_mss 1480\n");
    }
    let before = read(Format::Stcp, "set_stcp_param min_mss 556").unwrap();
    assert_eq!(settings(&before), ["route.default.mtu=576"], "segments of 536 bytes");
}

/// What sysctl(8) and the kernel make of the same lines: the first numbers count, and a line that they refuse keeps no other from holding.
#[test]
fn a_line_of_sysctl_d_that_is_not_taken_keeps_no_other_from_holding() {
    let text = "net.ipv4.tcp_sack = 1 # on\nnet.ipv4.tcp_wmem = 8192\nnet.ipv4.tcp_ecn\nnet.ipv4.tcp_frto =\n\
                net.ipv4.tcp_rmem = 3 2 1\nnet.ipv4.tcp_mtu_probing = 0x1\nnet.ipv4.tcp_congestion_control = cubic # x\n\
                net//a = 1\nnet.ipv4.tcp_mtu_probing = many\nnet.ipv4.tcp_rmem = 4096 x 6291456\n";
    let document = read(Format::SysctlD, text).unwrap();
    assert_eq!(
        settings(&document),
        [
            "sysctl.net.ipv4.tcp_sack=1",
            "sysctl.net.ipv4.tcp_wmem=8192 - -",
            "sysctl.net.ipv4.tcp_mtu_probing=1"
        ]
    );
    let notes: Vec<_> = document.notes.iter().map(|note| (note.line, &note.text[..])).collect();
    assert!(notes[0].0 == 1 && notes[0].1.contains("passes over `# on`"), "{notes:?}");
    let left_out = |(line, text): &(usize, &str)| text.starts_with("left out").then_some(*line);
    let left_out: Vec<usize> = notes.iter().filter_map(left_out).collect();
    assert_eq!(left_out, [3, 4, 5, 7, 8, 9, 10], "{notes:?}");
    let told = |line: usize| notes.iter().find(|note| note.0 == line).unwrap().1;
    assert!(told(3).contains("has no `=`") && told(4).contains("has no value"), "{notes:?}");
    assert!(told(9).contains("`many` is not 0 to 2"), "{notes:?}");
    // And as the document that `tune import` writes.
    let own = Format::Toml.write(&document).text;
    assert_eq!(settings(&read(Format::Toml, &own).unwrap()), settings(&document));
}

#[test]
fn what_has_none_of_the_formats_is_not_guessed() {
    let network = "[Match]\nName=eth0\n\n[Link]\nMTUBytes=1400\n";
    assert_eq!(Format::guess("10-eth0.network", network), None);
    assert_eq!(guessed("settings", "why = \"x\"\n[settings]\n"), Format::Toml);
}

#[test]
fn sysctl_d_is_read_as_sysctl_reads_it() {
    let text = "# the path to the archive\n# has 120 MB in flight\nnet.ipv4.tcp_rmem = 4096 131072 134217728\n\n\
                ; another\n-net/ipv4/tcp_mtu_probing=1\nkernel.panic = 10\nnet.ipv4.conf.*.rp_filter = 1\n\
                -net.ipv4.conf.lo\nnet.ipv4.tcp_mtu_probing=2\n";
    let document = read(guessed("90-path.conf", text), text).unwrap();
    let want =
        ["sysctl.net.ipv4.tcp_rmem=4096 131072 134217728", "sysctl.net.ipv4.tcp_mtu_probing=2"];
    assert_eq!(settings(&document), want);
    let why = document.settings[0].why.as_deref();
    assert_eq!(why, Some("the path to the archive has 120 MB in flight"));
    let lines: Vec<_> = document.notes.iter().map(|note| note.line).collect();
    assert_eq!(lines, [7, 8, 9, 6], "{:?}", document.notes);
    let written = Format::SysctlD.write(&document);
    assert_eq!(settings(&read(Format::SysctlD, &written.text).unwrap()), want);
}

#[test]
fn our_own_documents_take_tables_and_dotted_keys() {
    let text = "why = \"slow\"\n[settings]\n\"route.10.0.0.0/8.mtu\" = 1_280\nsysctl.net.ipv4.tcp_sack = true\n\
                \"sysctl.net.ipv4.tcp_rmem\" = [4096, 131072, 6291456]\n\
                \"clamp.eth0\" = { value = \"rt mtu\", why = \"a tunnel behind it\" }\n\
                [settings.interface.eth0]\nmtu = 0x5dc\n";
    let document = read(guessed("path.toml", text), text).unwrap();
    assert_eq!(document.why.as_deref(), Some("slow"));
    let mut found = settings(&document);
    found.sort();
    let want = [
        "clamp.eth0=rt mtu",
        "interface.eth0.mtu=1500",
        "route.10.0.0.0/8.mtu=1280",
        "sysctl.net.ipv4.tcp_rmem=4096 131072 6291456",
        "sysctl.net.ipv4.tcp_sack=1",
    ];
    assert_eq!(found, want);
    let clamp =
        document.settings.iter().find(|one| one.target.to_string() == "clamp.eth0").unwrap();
    assert_eq!((clamp.line, clamp.why.as_deref()), (6, Some("a tunnel behind it")));
}

/// A format, a text, the line and the key at fault, a part of the fault, a part of the hint.
type Fault = (Format, &'static str, usize, &'static str, &'static str, &'static str);

const FAULTS: [Fault; 25] = [
    (Format::Toml, "settings = 3", 1, "settings", "`settings` is a table", "[settings]"),
    (Format::Toml, "", 1, "settings", "sets nothing", "[settings]"),
    (Format::Toml, "[settings\n", 1, "", "", "[settings]"),
    (
        Format::Toml,
        "[setings]\n",
        1,
        "setings",
        "unknown key `setings`",
        "did you mean `settings`?",
    ),
    (
        Format::Toml,
        "[settings]\n\n\"route.default.mut\" = 3",
        3,
        "route.default.mut",
        "`mut` is not a route metric",
        "did you mean `route.mtu`?",
    ),
    (
        Format::Toml,
        "[settings]\n\"route.default.mtu\" = 1.5",
        2,
        "route.default.mtu",
        "takes a number",
        "[settings]",
    ),
    (
        Format::Toml,
        "[settings]\n\"route.default.mtu\" = 5",
        2,
        "route.default.mtu",
        "5 is not in the range 68 to 65520",
        "tune show route.mtu",
    ),
    (
        Format::Toml,
        "[settings]\n\"route.default.mtu\" = { value = 1280, wyh = \"x\" }",
        2,
        "wyh",
        "unknown key `wyh`",
        "did you mean `why`?",
    ),
    (
        Format::Toml,
        "[settings]\n\"interface.eth0.mtu\" = \"unset\"",
        2,
        "interface.eth0.mtu",
        "always has a value",
        "unset",
    ),
    (
        Format::Toml,
        "[settings]\n\"sysctl.net.ipv4.tcp_rmem\" = [3, 2, 1]",
        2,
        "sysctl.net.ipv4.tcp_rmem",
        "go down",
        "tune show",
    ),
    (Format::OpenTransport, "tcp_mss_max=536", 1, "#auto", "no part #auto", "#auto"),
    (Format::OpenTransport, "#auto\n#end", 1, "#auto", "nothing is set", "#auto"),
    (Format::OpenTransport, "#auto\ntcp_mss_max=536", 1, "#auto", "has no #end", "#end"),
    (Format::OpenTransport, "#end", 1, "#end", "nothing has begun", "#auto"),
    (Format::OpenTransport, "#auto\n#auto", 2, "#auto", "has no #end", "#end"),
    (
        Format::OpenTransport,
        "#auto\ntcp_mss_max 536\n#end",
        2,
        "tcp_mss_max 536",
        "has no `=`",
        "tcp_mss_max=536",
    ),
    (
        Format::OpenTransport,
        "#auto\ntcp_mss_max=big\n#end",
        2,
        "tcp_mss_max",
        "`big` is not a whole number",
        "tcp_mss_max=536",
    ),
    (
        Format::OpenTransport,
        "#auto\ntcp_mss_mx=536\n#end",
        2,
        "tcp_mss_mx",
        "has no `tcp_mss_mx`",
        "did you mean `tcp_mss_max`?",
    ),
    (
        Format::OpenTransport,
        "#auto\ntcp_mss_max=5\ntcp_mss_max=5\n#end",
        3,
        "tcp_mss_max",
        "given twice",
        "keep one",
    ),
    (
        Format::OpenTransport,
        "#auto\ntcp_mss_max=99999\n#end",
        2,
        "tcp_mss_max",
        "100039 is not in the range",
        "tune show",
    ),
    (Format::Stcp, "set_stcp_param min_mss", 1, "min_mss", "has no value", "min_mss 1480"),
    (Format::Stcp, "set_stcp_param", 1, "set_stcp_param", "names nothing", "min_mss 1480"),
    (
        Format::Stcp,
        "set_stcp_param min_mss 1481",
        1,
        "min_mss",
        "1481 is outside 500 to 1480",
        "500 to 1480",
    ),
    (
        Format::Stcp,
        "set_longword default_min_mtu xyz",
        1,
        "default_min_mtu",
        "not a hexadecimal number",
        "min_mss",
    ),
    (Format::Stcp, "hello", 1, "", "sets nothing", "min_mss"),
];

#[test]
fn faults_have_their_line_their_key_and_a_hint() {
    for (format, text, line, key, what, hint) in FAULTS {
        let fault = read(format, text).expect_err(text);
        let found = (fault.excerpt.line, fault.key.as_str());
        assert_eq!(found, (line, key), "{text}: {}", fault.what);
        assert!(fault.what.contains(what), "{text}: {}", fault.what);
        assert!(fault.hint.contains(hint), "{text}: {}", fault.hint);
    }
}
