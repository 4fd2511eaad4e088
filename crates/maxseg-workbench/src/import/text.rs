//! The scenario as a file, with where each part comes from.

use std::fmt::Write as _;
use std::path::Path;

use toml::Value;

use super::chain::Chain;
use super::hop::Hop;
use super::miniedit::Topology;
use super::notes::shown;

/// What the scenario comes from.
pub(super) struct Origin<'a> {
    pub(super) file: &'a str,
    pub(super) topology: &'a Topology,
    pub(super) chain: &'a Chain<'a>,
}

/// The scenario of `hops`, with `notes` at its head.
pub(super) fn scenario(origin: &Origin<'_>, hops: &[Hop], notes: &[String]) -> String {
    let mut text = head(origin, hops, notes);
    for hop in hops {
        text.push('\n');
        text.push_str(&entry(hop));
    }
    text
}

fn head(origin: &Origin<'_>, hops: &[Hop], notes: &[String]) -> String {
    let file = Path::new(origin.file);
    let name = |part: Option<&std::ffi::OsStr>| {
        part.map_or_else(|| "MiniEdit".to_owned(), |part| part.to_string_lossy().into_owned())
    };
    let version = origin
        .topology
        .version
        .as_deref()
        .map(|version| format!(", format version {}", shown(version)));
    let mut text = format!(
        "# {}: imported from {}, which MiniEdit saved{}.\n",
        origin.chain.words(),
        shown(&name(file.file_name())),
        version.unwrap_or_default()
    );
    if !notes.is_empty() {
        text.push_str("#\n# Not carried over as it was:\n");
        for note in notes {
            let _ = writeln!(text, "# - {note}");
        }
    }
    text.push_str(
        "#\n# MiniEdit knows no MTU: every interface has Mininet's 1500. Of all hops: --set 'hop.*.mtu=9000'\n",
    );
    if hops.iter().any(|hop| hop.loss.is_some()) {
        text.push_str(
            "# Each packet is lost by itself; netem on a host loses at once what segmentation offload hands it at\n\
             # once: [lab] as_netem = true is its way.\n",
        );
    }
    if let (Some(first), Some(last)) = (origin.chain.steps.first(), origin.chain.steps.last()) {
        let (from, to) = (shown(&first.from.name), shown(&last.to.name));
        let _ = writeln!(
            text,
            "# No [[flow]] is given: {from} sends {to} as much as one connection carries."
        );
    }
    let _ = write!(text, "\nname = {}\n", quoted(&name(file.file_stem())));
    text
}

fn entry(hop: &Hop) -> String {
    let mut text = format!("[[hop]] # {}\nname = {}\n", hop.between, quoted(&hop.name));
    let chosen = if hop.rate_is_chosen { " # chosen: a veth has no limit" } else { "" };
    let _ = writeln!(text, "rate = \"{}\"{chosen}", hop.rate);
    let _ = writeln!(text, "delay = \"{}\"", hop.delay);
    if let Some(jitter) = hop.jitter {
        let _ = writeln!(text, "jitter = \"{jitter}\"");
    }
    let default = if hop.queue_is_default { " # netem's own, and a veth's" } else { "" };
    let packets = if hop.queue == 1 { "packet" } else { "packets" };
    let _ = writeln!(text, "queue = \"{} {packets}\"{default}", hop.queue);
    if let Some(loss) = hop.loss {
        let errors =
            format!("errors = {{ model = \"uniform\", per = \"packet\", rate = \"{loss}\" }}");
        let _ = writeln!(
            text,
            "{errors}\n[hop.reverse] # Mininet sets both interfaces of a link\n{errors}"
        );
    }
    text
}

/// As TOML writes a text.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}
