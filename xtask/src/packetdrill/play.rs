//! Plays a script: its packets and calls reach a socket, and what the socket sends is compared with it.

use maxseg_core::units::Time;

use super::compare::differs;
use super::host::UnderTest;
use super::script::{Event, Pattern, Script, What, When};
use super::verdict::{NotRun, Stop, Verdict};
use super::{code, info};

/// Beyond this nothing is waited for.
const PATIENCE: Time = Time::from_secs(300);
/// What a call and a packet take to the socket: with none at all, rules that compare spans with a millisecond would be
/// met on the edge, which no kernel is.
const CALL: Time = Time::from_nanos(20_000);
const RECEPTION: Time = Time::from_nanos(30_000);

/// The host under test, and where in the script it is.
struct Player {
    host: UnderTest,
    /// The time of the event before, where the next may count from it.
    anchor: Option<Time>,
}

/// From when to when something may happen, before tolerances, and how much these are.
#[derive(Debug, Clone, Copy)]
struct Window {
    from: Time,
    to: Time,
    tolerance: Time,
}

impl Window {
    fn latest(&self) -> Time {
        self.to.saturating_add(self.tolerance)
    }

    fn contains(&self, at: Time) -> bool {
        at.saturating_add(self.tolerance) >= self.from && at <= self.latest()
    }
}

/// Plays a script to its end, or to where the two part.
pub(super) fn play(script: &Script) -> Verdict {
    let mut player = Player { host: UnderTest::new(script.options), anchor: Some(Time::ZERO) };
    for event in &script.events {
        match player.event(event) {
            Ok(()) => {}
            Err(Stop::Differs(what)) => return Verdict::Failed(event.line, what),
            Err(Stop::NotRun(reason)) => return Verdict::NotRun(reason),
        }
    }
    Verdict::Passed
}

impl Player {
    fn event(&mut self, event: &Event) -> Result<(), Stop> {
        let window = self.window(event.when);
        if let What::Outgoing(pattern) = &event.what {
            self.expect(pattern, window)?;
        } else {
            let reaction = if matches!(event.what, What::Incoming(_)) { RECEPTION } else { CALL };
            self.host.advance(window.from.saturating_add(reaction));
            self.do_now(&event.what, event.when)?;
            self.host.collect();
        }
        self.anchor = match event.when {
            When::At(_) | When::After(_) => Some(window.from),
            When::Within(..) | When::Any => None,
        };
        self.host.check_waiting()
    }

    fn do_now(&mut self, what: &What, when: When) -> Result<(), Stop> {
        match what {
            What::Incoming(pattern) => self.inject(pattern),
            What::Call(call) => {
                let from = self.host.now;
                self.host.call(call, from, matches!(when, When::At(_)))
            }
            What::Command(command) => {
                self.host.settings.command(command)?;
                self.host.apply_settings();
                Ok(())
            }
            What::Code(code) => self.assert(code),
            What::Outgoing(_) => Ok(()),
        }
    }

    /// Where an event stands in time: after the one before if both have a time, else from now on.
    fn window(&self, when: When) -> Window {
        let now = self.host.now;
        let (from, to) = match when {
            When::At(at) => (at, at),
            When::After(span) => {
                let at = self.anchor.unwrap_or(now).saturating_add(span);
                (at, at)
            }
            When::Within(from, to) => (now.saturating_add(from), now.saturating_add(to)),
            When::Any => (now, now.saturating_add(PATIENCE)),
        };
        // An eighth of the time since the event before, where that is more.
        let since = self.anchor.map_or(Time::ZERO, |anchor| from.since(anchor.min(from)));
        let tolerance = self.host.options.tolerance.max(Time::from_nanos(since.as_nanos() / 8));
        Window { from, to, tolerance }
    }

    fn inject(&mut self, pattern: &Pattern) -> Result<(), Stop> {
        let packet = self.host.wire.packet(pattern)?;
        let now = self.host.now;
        self.host.socket_mut()?.on_packet(now, &packet);
        Ok(())
    }

    /// The socket is to send this: in one packet or, unless segments are strict, in several.
    fn expect(&mut self, pattern: &Pattern, window: Window) -> Result<(), Stop> {
        let end = pattern.seq + pattern.len;
        let mut seq = pattern.seq;
        loop {
            let Some((at, packet)) = self.host.next_sent(window.latest()) else {
                let from = window.from.as_secs_f64();
                return Err(Stop::Differs(format!(
                    "{seq}:{end} was to be sent at {from:.3} s, and nothing was"
                )));
            };
            self.host.now = self.host.now.max(at);
            let is_last = packet.seq + packet.len >= end || self.host.options.strict_segments;
            // Of a burst the first segment has CWR (RFC 3168 §6.1.2), and the last one FIN.
            let mut flags = pattern.flags;
            flags.fin &= is_last;
            flags.cwr &= seq == pattern.seq;
            let part = Pattern {
                seq,
                flags,
                len: if self.host.options.strict_segments {
                    pattern.len
                } else {
                    (end - seq).min(packet.len)
                },
                ..pattern.clone()
            };
            if let Some(what) = differs(&mut self.host.wire, &part, &packet, at) {
                return Err(Stop::Differs(what));
            }
            if !window.contains(at) {
                return Err(Stop::Differs(format!(
                    "{}:{} was sent at {:.4} s, and was to be at {:.4} to {:.4} s",
                    packet.seq,
                    packet.end(),
                    at.as_secs_f64(),
                    window.from.as_secs_f64(),
                    window.to.as_secs_f64()
                )));
            }
            seq += packet.len;
            if is_last {
                return Ok(());
            }
        }
    }

    fn assert(&mut self, text: &str) -> Result<(), Stop> {
        let Some(socket) = &self.host.socket else {
            return Err(Stop::Differs("an assertion before there is a socket".to_owned()));
        };
        info::names(socket, self.host.now, &mut self.host.names);
        match code::run(text, &mut self.host.names) {
            Ok(None) => Ok(()),
            Ok(Some(what)) => Err(Stop::Differs(what)),
            Err(error) => Err(NotRun::Rule(format!("{error:#}")).into()),
        }
    }
}
