//! What limits a path, in words.

use crate::advise::data_flow::{
    data_flow, data_from, data_goodputs, data_hosts, data_rate, policer,
};
use crate::outcome::{LimitedBy, Outcome};
use crate::path::PolicerSpec;
use crate::scenario::{End, Scenario};
use crate::units::{Time, approx};

/// A program that reads takes this share of the goodput at least where its reading is the limit.
const READS: f64 = 0.9;
/// A host that is busy with packets for this share of the time limits what is sent: windows and buffers fill while it works.
const BUSY: f64 = 0.7;

/// The two limits that held longest, with their shares of the time.
pub(super) fn limit(scenario: &Scenario, outcome: &Outcome) -> String {
    if let Some(busy) = busy_host(scenario, outcome) {
        return busy;
    }
    let ends = Ends::of(scenario, outcome);
    let shares = outcome.limits.iter().take(2).filter(|limit| limit.share >= 0.005);
    let shares: Vec<String> = shares
        .map(|limit| {
            format!(
                "{} of the time {}",
                approx::whole_percent(limit.share),
                ends.clause(limit.kind)
            )
        })
        .collect();
    match (shares.is_empty(), outcome.limited_by) {
        (false, _) => shares.join(", "),
        (true, Some(LimitedBy::Unknown) | None) => "The limit is unknown".to_owned(),
        (true, Some(kind)) => format!("As it is, {}", ends.clause(kind)),
    }
}

/// What a policer drops of what the path carries, as a clause; empty where none drops any.
pub(super) fn policed(scenario: &Scenario) -> String {
    let slower = policer(scenario).filter(|(_, policer)| policer.rate < data_rate(scenario));
    slower.map_or_else(String::new, |(hop, policer)| {
        let (name, PolicerSpec { rate, burst }) = (hop.label(), policer);
        format!(", of which {name} drops what exceeds {rate} beyond a burst of {burst}")
    })
}

/// A host whose work for each packet is the limit, where the simulator finds that its windows and buffers are full meanwhile.
fn busy_host(scenario: &Scenario, outcome: &Outcome) -> Option<String> {
    if outcome.limits.first().is_none_or(|limit| limit.kind == LimitedBy::Host) {
        return None;
    }
    let hosts =
        [End::Sender, End::Receiver].into_iter().zip([&scenario.sender, &scenario.receiver]);
    let costs = hosts.filter_map(|(end, host)| Some((end, host.packet_cost?)));
    let (end, cost) = costs.max_by_key(|(_, cost)| *cost)?;
    let share = share_of_work(cost, outcome)?;
    let both = scenario.sender.packet_cost == scenario.receiver.packet_cost;
    let who = if both { "each host is" } else { &format!("the {} is", end.word()) };
    (share >= BUSY).then(|| {
        let share = approx::whole_percent(share.min(1.0));
        format!("{share} of the time {who} busy processing packets, {cost} for each")
    })
}

/// The share of the time that packets take at a host which sends or receives every one of them.
fn share_of_work(cost: Time, outcome: &Outcome) -> Option<f64> {
    let seconds = outcome.elapsed_s.filter(|seconds| *seconds > 0.0)?;
    Some(outcome.packets? as f64 * cost.as_secs_f64() / seconds)
}

/// The ends of the data, in words.
struct Ends {
    sender: &'static str,
    receiver: &'static str,
    /// Why the receiver's window is full, where that is no matter of its size.
    why_full: String,
}

impl Ends {
    fn of(scenario: &Scenario, outcome: &Outcome) -> Self {
        let from = data_from(scenario);
        Self {
            sender: from.word(),
            receiver: from.other().word(),
            why_full: why_full(scenario, outcome).unwrap_or_default(),
        }
    }

    /// A limit as a clause.
    fn clause(&self, kind: LimitedBy) -> String {
        let Self { sender, receiver, why_full } = self;
        match kind {
            LimitedBy::Congestion => "losses keep the congestion window small".to_owned(),
            LimitedBy::ReceiveWindow => format!("the {receiver}'s window is full{why_full}"),
            LimitedBy::SendBuffer => format!("the {sender}'s buffer is full"),
            LimitedBy::Host => "a host is busy processing packets".to_owned(),
            LimitedBy::Rto => format!("the {sender} waits for its retransmission timer"),
            LimitedBy::Application => "the application has nothing to send".to_owned(),
            LimitedBy::Paced => format!("the {sender} paces its segments"),
            LimitedBy::StartUp => "the connection is in slow start".to_owned(),
            LimitedBy::PathMtu => "packets are larger than the path MTU".to_owned(),
            LimitedBy::Bandwidth => "the path is full".to_owned(),
            LimitedBy::Unknown => "the limit is unknown".to_owned(),
        }
    }
}

fn why_full(scenario: &Scenario, outcome: &Outcome) -> Option<String> {
    let [_, receiving] = data_hosts(scenario);
    if let Some(rate) = receiving.read_rate
        && *data_goodputs(scenario, outcome).first()? >= READS * rate.get() as f64
    {
        return Some(format!(", as its program reads {rate}"));
    }
    let pipe = receiving.freebsd?.recvpipe?;
    let is_held = data_flow(scenario).is_some_and(|flow| {
        let mss = scenario.mss(&flow).effective.bytes();
        scenario.settings_in_use(&flow).1.offered_window(mss) < receiving.offered_window(mss)
    });
    is_held.then(|| format!(", which the recvpipe of its route holds at {pipe}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine as _, Unwatched};
    use crate::sim::Sim;

    fn said(text: &str) -> String {
        let scenario = Scenario::from_toml("test", text).unwrap();
        limit(&scenario, &Sim.run(&scenario, &mut Unwatched).unwrap())
    }

    #[test]
    fn a_program_that_reads_slowly_is_named() {
        let said = said(
            "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"5 ms\"\n[receiver]\nread_rate = \"2 Mbit/s\"\n[until]\ntime = \"20 s\"",
        );
        assert!(said.contains("its program reads 2 Mbit/s"), "{said}");
    }

    #[test]
    fn a_host_that_works_for_each_packet_is_named_before_the_window_that_it_fills() {
        let said = said(
            "[[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"0.5 ms\"\nqueue = \"1000 packets\"\n\
             [sender]\nstack = \"rfc\"\nmss = 536\npacket_cost = \"0.557 ms\"\n\
             [receiver]\nstack = \"rfc\"\nwindow = \"60352 B\"\npacket_cost = \"0.557 ms\"\n[until]\nbytes = \"1 MiB\"",
        );
        assert!(said.contains("is busy processing packets"), "{said}");
        assert!(!said.contains("window"), "{said}");
    }

    #[test]
    fn ends_are_called_as_the_scenario_has_them() {
        let said = said(
            "[[hop]]\nrate = \"50 Mbit/s\"\ndelay = \"20 ms\"\n[sender]\nwindow = \"16 KiB\"\n\
             [[flow]]\nkind = \"bulk\"\nfrom = \"receiver\"\n[until]\ntime = \"5 s\"",
        );
        assert!(said.contains("the sender's window is full"), "{said}");
    }
}
