//! Settings made permanent: files that the system reads when it starts, each with the reason as a comment.

use std::fmt::Write as _;
use std::path::Path;

use maxseg_core::tune::{Target, Value};

use super::documents::{Document, Format, Note, Setting, one_line};

/// How settings are made permanent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeper {
    /// A file of sysctl.d(5), for sysctls.
    SysctlD,
    /// A stanza of interfaces(5) for each interface, for its MTU.
    Ifupdown,
    /// A document and a service of systemd that applies it when the network is up, for everything but connections.
    Unit,
    /// Lines of systemd.network(5), for MTUs and routes; from documentation: nothing is written.
    Networkd,
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// Each file by its whole path, with what it is to hold.
    pub files: Vec<(Target, Value)>,
    /// What is left out.
    pub left_out: Vec<Note>,
    /// What to run afterwards, once.
    pub then: Vec<String>,
}

pub(super) const SYSCTLS: &str = "etc/sysctl.d/90-maxseg.conf";
pub(super) const INTERFACES: &str = "etc/network/interfaces.d/maxseg";
pub(super) const DOCUMENT: &str = "etc/maxseg/tune.toml";
pub(super) const SERVICE: &str = "etc/systemd/system/maxseg-tune.service";

impl Keeper {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::SysctlD, Self::Ifupdown, Self::Unit, Self::Networkd];

    /// Its name in arguments.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SysctlD => "sysctl.d",
            Self::Ifupdown => "ifupdown",
            Self::Unit => "unit",
            Self::Networkd => "networkd",
        }
    }

    /// The one that can keep all of these: sysctl.d for sysctls alone, otherwise a unit.
    pub fn of(document: &Document) -> Self {
        let is_whole_sysctl =
            |one: &Setting| matches!(one.target, Target::Sysctl(_)) && !one.value.keeps_words();
        let all = document.settings.iter().all(is_whole_sysctl);
        if all { Self::SysctlD } else { Self::Unit }
    }

    /// The files below `root`; `program` is run by a unit.
    pub fn files(self, document: &Document, root: &Path, program: &str) -> Files {
        match self {
            Self::SysctlD => sysctl_d(document, root),
            Self::Ifupdown => ifupdown(document, root),
            Self::Unit => unit(document, root, program),
            Self::Networkd => Files {
                left_out: document
                    .settings
                    .iter()
                    .map(|one| Note::of(one, "networkd is not written"))
                    .collect(),
                ..Files::default()
            },
        }
    }
}

fn file(root: &Path, name: &str, text: String) -> (Target, Value) {
    (Target::File(root.join(name).display().to_string()), Value::Text(text))
}

const HEADING: &str = "# Written by `maxseg tune persist`; `maxseg tune undo` removes it.\n";

fn sysctl_d(document: &Document, root: &Path) -> Files {
    let written = Format::SysctlD.write(document);
    let mut files = Files { left_out: written.left_out, ..Files::default() };
    if written.text.lines().any(|line| !line.starts_with('#') && !line.is_empty()) {
        files.files.push(file(root, SYSCTLS, format!("{HEADING}{}", written.text)));
    }
    files
}

fn ifupdown(document: &Document, root: &Path) -> Files {
    let mut files = Files::default();
    let mut text = HEADING.to_owned();
    for setting in &document.settings {
        let (Target::InterfaceMtu(name), Some(mtu)) = (&setting.target, setting.value.number())
        else {
            let why = "interfaces(5) is written for MTUs of interfaces: --as unit keeps the others";
            files.left_out.push(Note::of(setting, why));
            continue;
        };
        // A shell runs the line at every start.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:@-".contains(c);
        if !name.chars().all(is_plain) {
            let why = "interfaces(5) cannot hold the name of this interface";
            files.left_out.push(Note::of(setting, why));
            continue;
        }
        if let Some(why) = &setting.why {
            let _ = writeln!(text, "# {}", one_line(why));
        }
        // A stanza beside others of the interface adds to them; `manual` brings nothing up by itself.
        let _ =
            writeln!(text, "iface {name} inet manual\n    up ip link set dev {name} mtu {mtu}\n");
    }
    if text != HEADING {
        files.files.push(file(root, INTERFACES, text));
    }
    files
}

fn unit(document: &Document, root: &Path, program: &str) -> Files {
    let (why, allows_router) = (document.why.clone(), document.allows_router);
    let mut kept = Document { why, allows_router, ..Document::default() };
    let mut files = Files::default();
    for setting in &document.settings {
        if matches!(setting.target, Target::Socket { .. } | Target::File(_)) {
            let why = "connections end with a reboot";
            files.left_out.push(Note::of(setting, why));
        } else {
            kept.settings.push(setting.clone());
        }
    }
    if kept.settings.is_empty() {
        return files;
    }
    let program = unit_word(program);
    let flags = unit_flags(&kept);
    let service = format!(
        "{HEADING}[Unit]\n\
         Description=TCP settings of /{DOCUMENT}\n\
         Documentation=man:maxseg-tune(1)\n\
         Wants=network-online.target\n\
         After=network-online.target systemd-sysctl.service\n\
         ConditionPathExists=/{DOCUMENT}\n\n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         ExecStart={program} tune apply /{DOCUMENT} --yes{flags}\n\
         # What drifts is seen by its exit code 3.\n\
         ExecStartPost=-{program} tune status\n\
         ExecReload={program} tune apply /{DOCUMENT} --yes{flags}\n\n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    );
    files.files.push(file(root, DOCUMENT, Format::Toml.write(&kept).text));
    files.files.push(file(root, SERVICE, service));
    files.then.push(if root == Path::new("/") {
        "systemctl daemon-reload && systemctl enable maxseg-tune.service".to_owned()
    } else {
        // This host's own systemd has nothing to do with what is below another root.
        let option = super::script::quoted(&format!("--root={}", root.display()));
        format!("systemctl {option} enable maxseg-tune.service")
    });
    files
}

/// A word of a command line in a unit (systemd.service(5), "Command lines").
fn unit_word(word: &str) -> String {
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte)) {
        return word.to_owned();
    }
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('%', "%%").replace('$', "$$"))
}

/// What the settings were allowed by, so that they are at the next start as well.
fn unit_flags(document: &Document) -> String {
    let is_locked = |setting: &Setting| setting.value.is_locked();
    let lock = if document.settings.iter().any(is_locked) { " --lock" } else { "" };
    let is_router = document.allows_router && document.settings.iter().any(Setting::is_route_mtu);
    format!("{lock}{}", if is_router { " --i-am-router" } else { "" })
}

/// Lines of systemd.network(5) and systemd.link(5) for what they have, from their manual pages.
pub fn networkd_lines(document: &Document) -> (String, Vec<Note>) {
    use maxseg_core::tune::RouteMetricName as Metric;
    let mut text =
        "# From the manual pages of systemd.network(5): not tried by `maxseg`.\n".to_owned();
    let mut left_out = Vec::new();
    for setting in &document.settings {
        let value = &setting.value;
        let line = match &setting.target {
            Target::InterfaceMtu(name) => {
                Some(format!("# of the .network file of {name}\n[Link]\nMTUBytes={value}\n"))
            }
            Target::Route { prefix, metric } => {
                let key = match metric {
                    Metric::Mtu => Some("MTUBytes"),
                    Metric::Advmss => Some("TCPAdvertisedMaximumSegmentSize"),
                    Metric::InitCwnd => Some("InitialCongestionWindow"),
                    Metric::InitRwnd => Some("InitialAdvertisedReceiveWindow"),
                    Metric::CongestionControl => Some("TCPCongestionControlAlgorithm"),
                    Metric::QuickAck => Some("QuickAck"),
                    // In seconds there, milliseconds here.
                    Metric::RtoMin => Some("TCPRetransmissionTimeoutSec"),
                    Metric::Window => None,
                };
                let destination = match (prefix.length(), prefix.is_v6()) {
                    (0, false) => "0.0.0.0/0".to_owned(),
                    (0, true) => "::/0".to_owned(),
                    _ => prefix.to_string(),
                };
                let value = if *metric == Metric::RtoMin {
                    format!("{value}ms")
                } else {
                    value.to_string()
                };
                let is_number = setting.value.number().is_some()
                    || *metric == Metric::CongestionControl && setting.value.text().is_some();
                key.filter(|_| is_number).map(|key| {
                    format!(
                        "[Route]\nDestination={destination}\n# Gateway= of the route in use: without it the destination is on the link\n\
                         {key}={value}\n"
                    )
                })
            }
            Target::Sysctl(_) | Target::Socket { .. } | Target::Clamp(_) | Target::File(_) => None,
        };
        match line {
            Some(line) => {
                if let Some(why) = &setting.why {
                    let _ = writeln!(text, "# {}", one_line(why));
                }
                text += &line;
            }
            None => left_out.push(Note::of(setting, "systemd.network(5) has no such setting")),
        }
    }
    (text, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::documents::Setting;

    fn document(settings: &[(&str, &str)]) -> Document {
        let one = |(target, value): &(&str, &str)| Setting {
            target: target.parse().unwrap(),
            value: Value::of(value),
            why: Some("a long\nreason".to_owned()),
            line: 0,
        };
        Document { settings: settings.iter().map(one).collect(), ..Document::default() }
    }

    const MIXED: [(&str, &str); 4] = [
        ("sysctl.net.ipv4.tcp_mtu_probing", "1"),
        ("interface.eth0.mtu", "1400"),
        ("route.default.rto_min", "300"),
        ("socket.10.0.0.1:1-10.0.0.2:2.sndbuf", "auto"),
    ];

    fn text(files: &Files, at: usize) -> (&str, String) {
        let (target, value) = &files.files[at];
        let Target::File(path) = target else { panic!("a file") };
        (path, value.text().unwrap().to_owned())
    }

    #[test]
    fn each_keeper_takes_what_it_can_keep_and_names_the_rest() {
        let all = document(&MIXED);
        let root = Path::new("/r");
        let sysctls = Keeper::SysctlD.files(&all, root, "/usr/bin/maxseg");
        let (path, content) = text(&sysctls, 0);
        assert_eq!(path, "/r/etc/sysctl.d/90-maxseg.conf");
        assert!(content.contains("# a long reason\nnet.ipv4.tcp_mtu_probing = 1\n"), "{content}");
        assert_eq!(sysctls.left_out.len(), 3);
        let interfaces = Keeper::Ifupdown.files(&all, root, "");
        assert!(
            text(&interfaces, 0)
                .1
                .contains("iface eth0 inet manual\n    up ip link set dev eth0 mtu 1400\n")
        );
        let unit = Keeper::Unit.files(&all, root, "/usr/bin/maxseg");
        assert_eq!(unit.files.len(), 2);
        assert_eq!(unit.then, ["systemctl --root=/r enable maxseg-tune.service"]);
        assert_eq!(unit.left_out.len(), 1, "the connection");
        let (_, own) = text(&unit, 0);
        let again = Format::Toml.read("f", &own, maxseg_core::tune::Prefix::ALL_V4).unwrap();
        assert_eq!(again.settings.len(), 3);
        assert!(
            text(&unit, 1)
                .1
                .contains("ExecStart=/usr/bin/maxseg tune apply /etc/maxseg/tune.toml --yes\n")
        );
        let flags = |document: &Document| unit_flags(document);
        let mut router = document(&[("route.default.mtu", "lock 1400")]);
        assert_eq!(flags(&router), " --lock");
        router.allows_router = true;
        assert_eq!(flags(&router), " --lock --i-am-router");
        let unit = Keeper::Unit.files(&router, root, "m");
        let service = text(&unit, 1).1;
        assert_eq!(service.matches("--yes --lock --i-am-router\n").count(), 2, "{service}");
        assert_eq!(flags(&Document { allows_router: true, ..document(&MIXED) }), "");
        let (lines, left_out) = networkd_lines(&all);
        assert!(
            lines.contains("TCPRetransmissionTimeoutSec=300ms") && lines.contains("MTUBytes=1400"),
            "{lines}"
        );
        assert_eq!(left_out.len(), 2);
        assert_eq!(Keeper::of(&all), Keeper::Unit);
        assert_eq!(Keeper::of(&document(&MIXED[..1])), Keeper::SysctlD);
        let relative = document(&[("sysctl.net.ipv4.tcp_wmem", "- - >=33554432")]);
        assert_eq!(Keeper::of(&relative), Keeper::Unit);
        let written = Keeper::SysctlD.files(&relative, root, "");
        assert_eq!((written.files.len(), written.left_out.len()), (0, 1));
        let unit = Keeper::Unit.files(&relative, root, "m");
        let again = Format::Toml.read("f", &text(&unit, 0).1, maxseg_core::tune::Prefix::ALL_V4);
        assert_eq!(again.unwrap().settings[0].value, relative.settings[0].value);
        assert!(Keeper::SysctlD.files(&document(&MIXED[1..]), root, "").files.is_empty());
    }
}
