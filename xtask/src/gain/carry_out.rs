//! The advice carried out as printed: commands run as they are in the host whose address they name; what a program or a
//! router is to do is done to the scenario, which is program and router here.

use super::advice::{Advice, Told};
use super::draw::Draw;
use super::once::HostLine;

/// The advice on a drawn run: the run with it, and the commands of its hosts.
pub(super) fn carry_out(draw: &Draw, advice: &Advice) -> (Draw, Vec<HostLine>) {
    let mut changed = draw.clone();
    for told in &advice.changes {
        match *told {
            // What the commands do: tcp_rmem, tcp_wmem, the route's advmss or MTU.
            Told::Window(_)
            | Told::SendBuffer(_)
            | Told::SegmentSize(_)
            | Told::Icmp
            | Told::Reads => {}
            Told::Queue(bytes) => changed.queue_bytes = changed.queue_bytes.max(bytes),
            Told::FairQueue => changed = changed.with_fair_queue(),
            Told::NoErrors => changed.loss = 0.0,
        }
    }
    let commands = advice.commands.iter().filter_map(|command| {
        let host = host_of(draw, &command.host)?;
        Some(HostLine::new(host, command.line.clone()))
    });
    (changed, commands.collect())
}

/// The host of the lab with this address; the sender's is 10.77.0.1 in every run.
fn host_of(draw: &Draw, address: &str) -> Option<&'static str> {
    let receiver = if draw.hidden_mtu.is_some() { "10.77.1.2" } else { "10.77.0.2" };
    match address {
        "10.77.0.1" => Some("sender"),
        _ if address == receiver => Some("receiver"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Congestion;
    use crate::gain::Limit;

    #[test]
    fn a_command_runs_as_printed_on_the_host_that_it_names() {
        let draw = Draw::of(Limit::SendBuffer, Congestion::Cubic, 1, 0);
        let line = "sysctl -w net.ipv4.tcp_wmem=\"4096 16384 4194304\"";
        let advice = Advice {
            commands: vec![HostLine::new("10.77.0.1", line), HostLine::new("192.0.2.1", "reboot")],
            changes: vec![Told::SendBuffer(1 << 20)],
            ..Advice::default()
        };
        let (changed, commands) = carry_out(&draw, &advice);
        assert_eq!(commands, [HostLine::new("sender", line)]);
        assert_eq!(changed, draw, "the command does it");
    }

    #[test]
    fn what_no_command_does_is_done_to_the_scenario() {
        let told = |told| Advice { changes: vec![told], ..Advice::default() };
        let errors = Draw::of(Limit::Errors, Congestion::Reno, 1, 0);
        assert!(carry_out(&errors, &told(Told::NoErrors)).0.loss <= 0.0);
        let queue = Draw::of(Limit::Queue, Congestion::Reno, 1, 0);
        assert!(carry_out(&queue, &told(Told::FairQueue)).0.to_toml().contains("codel"));
    }
}
