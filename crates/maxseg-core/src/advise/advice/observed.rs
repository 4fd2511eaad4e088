//! Advice about a captured connection: what `explain` concludes, in the form of all advice.

use std::collections::BTreeMap;

use super::commands::{Commands, Form, HowTo, Ran};
use super::ends::{Ends, HostEnd};
use super::entry::{Advice, AdviceGain, ProofRow, id};
use super::price::price;
use super::words;
use crate::advise::{Change, Command, Gain, Headline, HostSystem, Remedy, System};
use crate::evidence::Direction;

/// The hosts of a connection, by the direction of its data.
pub fn ends_of(headline: &Headline<'_>) -> Ends {
    let case = &headline.case;
    let hosts = case.hosts();
    let direction = case.diagnosis.direction;
    let (sending, receiving): (&HostSystem, &HostSystem) = match direction {
        Direction::Forward => (&hosts.client, &hosts.server),
        Direction::Reverse => (&hosts.server, &hosts.client),
    };
    let end = |role, address: std::net::SocketAddr, system: &HostSystem| HostEnd {
        role,
        address: Some(address.ip().to_canonical()),
        system: system.name,
        is_here: None,
    };
    Ends {
        sender: end("sender", case.evidence.sender(direction), sending),
        receiver: end("receiver", case.evidence.receiver(direction), receiving),
    }
}

impl Advice {
    /// The conclusion about a captured connection, where its change has a gain.
    pub fn of_headline(headline: &Headline<'_>, ends: &Ends, connections: u64) -> Option<Self> {
        let remedy = headline.remedy.as_ref()?;
        let change = *remedy.what_if.last()?;
        let gain = headline.gain.as_ref().ok().filter(|gain| gain.missing().is_none())?;
        let rerun = headline.rerun.as_ref()?;
        let scenario = rerun.scenario();
        Some(Self {
            id: id(change, ends),
            change,
            text: remedy.sentence(),
            scope: words::scope(change),
            on: words::place_of(change, ends),
            current: words::current(change, scenario),
            proposed: words::proposed(change),
            gain: gain_of(gain),
            proof: rows(gain, change),
            price: price(change, scenario, connections),
            reason: headline.finding().map_or_else(
                || words::reason(change, scenario, None),
                |finding| finding.text.trim_end_matches('.').to_owned(),
            ),
            risk: remedy.note.clone().unwrap_or_else(|| words::risk(change, scenario)),
            source: words::source(change),
            commands: commands_of(remedy),
            settings: Vec::new(),
        })
    }

    /// With the words and the commands of what `explain` concludes, where that is about the same: it knows more of the hosts
    /// than their settings.
    #[must_use]
    pub fn worded_by(mut self, remedy: &Remedy) -> Self {
        let is_of = |change: &Change| group(*change) == group(self.change);
        if group(self.change).is_some()
            && remedy.what_if.iter().any(is_of)
            && !remedy.commands.is_empty()
        {
            self.text = remedy.sentence();
            self.commands = commands_of(remedy);
            if let Some(note) = &remedy.note {
                self.risk.clone_from(note);
            }
        }
        self
    }
}

/// What changes are about, where a remedy may be about the same.
#[expect(clippy::wildcard_enum_match_arm, reason = "no remedy is about any other")]
const fn group(change: Change) -> Option<u8> {
    match change {
        Change::Window(_) | Change::ReceiveBuffer(_) => Some(0),
        Change::SendBuffer(_) => Some(1),
        Change::Mtu(_) | Change::Clamp(_) | Change::IcmpSent | Change::MtuProbing => Some(2),
        _ => None,
    }
}

fn gain_of(gain: &Gain) -> AdviceGain {
    let percent = |relative: f64| 100.0 * relative;
    AdviceGain {
        goodput_pct: gain.relative().map(percent),
        ci95: gain.relative_interval().map(|(low, high)| [percent(low), percent(high)]),
        ..AdviceGain::default()
    }
}

fn rows(gain: &Gain, change: Change) -> Vec<ProofRow> {
    let Some(leading) = gain.leading() else { return Vec::new() };
    let row = |changes: Vec<String>, goodput_bps: f64, spread: f64| ProofRow {
        changes,
        engine: leading.engine,
        runs: 1,
        goodput_bps,
        goodput_half_bps: (spread > 0.0).then_some(goodput_bps * spread),
        ping_s: None,
        request_s: None,
        model_bps: None,
        limited_by: leading.then_limited_by.unwrap_or(crate::outcome::LimitedBy::Unknown),
    };
    let mut rows = vec![row(Vec::new(), leading.baseline_bps, leading.baseline_spread)];
    rows.extend(leading.without_bps.map(|bps| row(vec![change.describe()], bps, leading.spread)));
    rows
}

/// A remedy's commands, by system.
fn commands_of(remedy: &Remedy) -> Commands {
    let mut commands: Commands = BTreeMap::new();
    for command in &remedy.commands {
        let Some(system) = system(command) else { continue };
        commands.entry(system).or_default().push(HowTo {
            kind: command.kind,
            form: Form::Shell,
            on: command.on.clone(),
            line: command.line.clone(),
            undo: command.undo.clone(),
            only_where: command.only_where.clone(),
            known: Ran::Documentation,
        });
    }
    commands
}

const fn system(command: &Command) -> Option<&'static str> {
    match command.system {
        System::Linux => Some("linux"),
        System::FreeBsd => Some("freebsd"),
        System::MacOs => Some("macos"),
        System::Windows => Some("windows"),
        System::OpenBsd | System::Solaris | System::Embedded | System::Unknown => None,
    }
}
