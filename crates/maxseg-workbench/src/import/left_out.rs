//! What a scenario has no word for: said of hosts, switches, links and MiniEdit itself.

use serde_json::Value;

use super::chain::Chain;
use super::miniedit::{NodeKind, Topology, note_unknown};
use super::notes::{FORWARDS, Notes, shown};
use super::value::{Table, quoted, text};

const ADDRESSES: &str = "the lab gives its own addresses and routes";
const COMMANDS: &str = "not run";
const OUTSIDE: &str = "the lab takes no interface of this machine";
const PROCESSORS: &str =
    "the lab's hosts share all processors; packet_cost slows a host in model and sim";
const EXPORTS: &str = "nothing exports flow records here";

/// Keys that say nothing a path depends on: names, counts, and who controls a switch.
const OWN: [&str; 3] = ["hostname", "nodeNum", "controllers"];

/// What MiniEdit writes of hosts and switches, and why it is left out.
const OF_NODES: [(&str, &str); 15] = [
    ("ip", ADDRESSES),
    ("defaultRoute", ADDRESSES),
    ("switchIP", ADDRESSES),
    ("cpu", PROCESSORS),
    ("cores", PROCESSORS),
    ("sched", PROCESSORS),
    ("startCommand", COMMANDS),
    ("stopCommand", COMMANDS),
    ("externalInterfaces", OUTSIDE),
    (
        "vlanInterfaces",
        "the lab's links carry no VLANs; framing = \"ethernet-vlan\" counts their tag's bytes",
    ),
    ("privateDirectory", "the lab's hosts see this machine's files"),
    ("dpid", FORWARDS),
    ("dpctl", FORWARDS),
    ("sflow", EXPORTS),
    ("netflow", EXPORTS),
];

/// What MiniEdit's preferences say, likewise; the terminal and the command line are its own.
const OF_MINIEDIT: [(&str, &str); 3] =
    [("ipBase", ADDRESSES), ("dpctl", FORWARDS), ("switchType", FORWARDS)];

/// What only says how MiniEdit itself behaves.
const ITS_OWN: [&str; 2] = ["startCLI", "terminalType"];

/// Values that change nothing: what MiniEdit writes where nobody chose.
const UNCHOSEN: [(&str, &str); 4] =
    [("sched", "host"), ("sflow", "0"), ("netflow", "0"), ("switchType", "ovs")];

/// Notes all that the scenario leaves out.
pub(super) fn note(topology: &Topology, chain: &Chain<'_>, notes: &mut Notes) {
    note_application(topology.application.clone(), notes);
    for controller in &topology.controllers {
        notes.add(format!("controller {}", shown(controller)), FORWARDS);
    }
    for node in &topology.nodes {
        let name = shown(&node.name);
        let mut options = node.options.clone();
        if !chain.has(node) {
            notes.add(&name, format!("not on the path {}", chain.words()));
            // Whoever imports a file of somebody else's wants to know of every command in it.
            let commands = OF_NODES.iter().filter(|(_, why)| *why == COMMANDS);
            note_known(&mut options, commands, &name, notes);
            continue;
        }
        if node.kind == NodeKind::LegacyRouter {
            notes.add(format!("legacyRouter {name}"), FORWARDS);
        }
        options.drop_keys(&OWN);
        note_known(&mut options, &OF_NODES, &name, notes);
        note_unknown(&options, &format!(" of {name}"), notes);
    }
}

fn note_known<'a>(
    options: &mut Table,
    known: impl IntoIterator<Item = &'a (&'a str, &'a str)>,
    name: &str,
    notes: &mut Notes,
) {
    for (key, why) in known {
        if let Some(value) = options.take_said(key).filter(|value| is_chosen(key, value)) {
            notes.add(format!("{key} {} of {name}", quoted(&value)), *why);
        }
    }
}

fn is_chosen(key: &str, value: &Value) -> bool {
    let value = text(value);
    !UNCHOSEN.iter().any(|(of, unchosen)| *of == key && value.as_deref() == Some(*unchosen))
}

fn note_application(mut application: Table, notes: &mut Notes) {
    application.drop_keys(&ITS_OWN);
    note_known(&mut application, &OF_MINIEDIT, "MiniEdit", notes);
    for (key, target) in [("netflow", "nflowTarget"), ("sflow", "sflowTarget")] {
        let target = application.take_table(key).ok().and_then(|mut table| table.take_text(target));
        if let Some(target) = target {
            notes.add(format!("{key} to {}", shown(&target)), EXPORTS);
        }
    }
    if let Ok(versions) = application.take_table("openFlowVersions") {
        let on = |value: &Value| text(value).is_some_and(|text| text != "0");
        // OpenFlow 1.0 is what MiniEdit chooses.
        for (version, _) in
            versions.rest().filter(|(version, value)| *version != "ovsOf10" && on(value))
        {
            notes.add(format!("openFlowVersions {}", shown(version)), FORWARDS);
        }
    }
    note_unknown(&application, " of MiniEdit", notes);
}
