//! Advice about a captured connection: what `explain` concludes, in the form of all advice.

use std::collections::BTreeMap;

use super::commands::{Commands, Form, HowTo, Ran};
use super::ends::{Ends, HostEnd};
use super::entry::{Advice, ProofRow, id};
use super::gained::AdviceGain;
use super::price::price;
use super::tune::settings;
use super::{caution, words};
use crate::advise::{Change, Command, Gain, Headline, HostSystem, Remedy, Rerun, System};
use crate::evidence::Direction;
use crate::outcome::LimitedBy;
use crate::scenario::Scenario;

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
    /// What is concluded about a captured connection, where that is a change of a host, a gateway or the path. Its gain is null
    /// where no run shows one; the reason says why.
    pub fn of_headline(headline: &Headline<'_>, connections: u64) -> Option<Self> {
        let remedy = headline.remedy.as_ref()?;
        let gain = headline.gain.as_ref().ok().filter(|gain| gain.missing().is_none());
        let scenario = headline.rerun.as_ref().map(Rerun::scenario);
        let finding = headline.finding().map(|finding| finding.text.trim_end_matches('.'));
        let mut reason = finding.map_or_else(|| headline.limit_text(), str::to_owned);
        if gain.is_none()
            && let Some(why) = headline.no_gain()
        {
            reason = format!("{reason}; {why}");
        }
        let mut advice =
            Self::of_remedy(remedy, reason, &ends_of(headline), scenario, connections)?;
        if let Some(gain) = gain {
            advice.gain = AdviceGain { unless: headline.unless(), ..gain_of(gain) };
            advice.proof = rows(gain, advice.change, headline.case.diagnosis.limited_by);
        }
        Some(advice)
    }

    /// What a remedy advises for a reason, without a gain; `scenario` is the path as it is, where that is known.
    pub fn of_remedy(
        remedy: &Remedy,
        reason: String,
        ends: &Ends,
        scenario: Option<&Scenario>,
        connections: u64,
    ) -> Option<Self> {
        let change = remedy.advises?;
        // What is concluded from evidence opens a limit; nothing else makes a window or a segment larger.
        let is_raise = matches!(change, Change::Window(_) | Change::SegmentSize(_));
        Some(Self {
            id: id(change, ends),
            change,
            text: remedy.sentence(),
            scope: words::scope(change),
            on: words::place_of(change, ends),
            current: scenario.map(|scenario| words::current(change, scenario)),
            proposed: words::proposed(change),
            gain: AdviceGain::default(),
            proof: Vec::new(),
            price: price(change, is_raise, connections),
            reason,
            risk: caution::risk(change, is_raise),
            note: remedy.note.clone().or_else(|| caution::note(change, is_raise)),
            source: caution::source(change),
            commands: commands_of(remedy),
            settings: settings(change, ends, is_raise, scenario.map(Scenario::tcp_ip_headers)),
        })
    }
}

fn gain_of(gain: &Gain) -> AdviceGain {
    let percent = |relative: f64| 100.0 * relative;
    AdviceGain {
        goodput_pct: gain.relative().map(percent),
        ci95: gain
            .relative_ci95()
            .filter(|_| !gain.is_bound)
            .map(|(low, high)| [percent(low), percent(high)]),
        is_bound: gain.is_bound,
        ..AdviceGain::default()
    }
}

/// The path as it is, whose limit is as observed where that was not run, and with a change.
fn rows(gain: &Gain, change: Change, observed: LimitedBy) -> Vec<ProofRow> {
    let Some(leading) = gain.leading() else { return Vec::new() };
    let [runs, then_runs] = leading.runs;
    let [half_bps, then_half_bps] = leading.half_bps;
    let row = |changes: Vec<String>, goodput_bps: f64| ProofRow {
        changes,
        engine: leading.engine,
        runs,
        goodput_bps,
        goodput_half_bps: half_bps,
        ping_s: None,
        request_s: None,
        others_goodput_bps: None,
        model_bps: None,
        limited_by: leading.limited_by.unwrap_or(observed),
    };
    let mut rows = vec![row(Vec::new(), leading.baseline_bps)];
    rows.extend(leading.without_bps.map(|bps| ProofRow {
        runs: then_runs,
        goodput_half_bps: then_half_bps,
        limited_by: leading.then_limited_by.unwrap_or(LimitedBy::Unknown),
        ..row(vec![change.describe()], bps)
    }));
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
            with_next: false,
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
