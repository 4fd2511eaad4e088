//! The host under test, at one instant of a script.

use std::collections::VecDeque;

use maxseg_core::tcp::linux::{Packet, Socket};
use maxseg_core::units::Time;

use super::code::Names;
use super::compare::Wire;
use super::info;
use super::script::Options;
use super::settings::Settings;
use super::verdict::Stop;

/// A call that blocks: what it waits for, and when it is to return.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) for_what: Wait,
    pub(super) from: Time,
    pub(super) until: Time,
    pub(super) returned: Option<Time>,
}

/// What a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    Connection,
    /// In the send buffer.
    Room,
}

/// The host, its socket, and what passes its interface.
pub(super) struct UnderTest {
    pub(super) now: Time,
    pub(super) options: Options,
    pub(super) settings: Settings,
    pub(super) socket: Option<Socket>,
    pub(super) wire: Wire,
    pub(super) names: Names,
    /// What the socket has sent and the script has not asked for yet.
    pub(super) sent: VecDeque<(Time, Packet)>,
    pub(super) waiting: Option<Waiting>,
}

impl UnderTest {
    pub(super) fn new(options: Options) -> Self {
        Self {
            now: Time::ZERO,
            options,
            settings: Settings::new(options.is_v6),
            socket: None,
            wire: Wire::new(options),
            names: info::constants(),
            sent: VecDeque::new(),
            waiting: None,
        }
    }

    pub(super) fn socket_mut(&mut self) -> Result<&mut Socket, Stop> {
        self.socket.as_mut().ok_or_else(|| Stop::Differs("there is no socket yet".to_owned()))
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, to: Time) {
        while self.next_timer() <= to {
            self.expire();
        }
        self.now = self.now.max(to);
    }

    fn next_timer(&self) -> Time {
        self.socket.as_ref().map_or(Time::NEVER, Socket::next_timer)
    }

    fn expire(&mut self) {
        self.now = self.now.max(self.next_timer());
        if let Some(socket) = &mut self.socket {
            socket.on_timer(self.now);
        }
        self.collect();
    }

    /// The next packet that the socket sends, until then.
    pub(super) fn next_sent(&mut self, latest: Time) -> Option<(Time, Packet)> {
        while self.sent.is_empty() && self.next_timer() <= latest {
            self.expire();
        }
        self.sent.pop_front()
    }

    /// Takes what the socket has sent.
    pub(super) fn collect(&mut self) {
        while let Some(packet) = self.socket.as_mut().and_then(Socket::poll_transmit) {
            self.sent.push_back((self.now, packet));
            self.settings.note_sent();
        }
        let (Some(waiting), Some(socket)) = (&mut self.waiting, &self.socket) else { return };
        let is_there = match waiting.for_what {
            Wait::Connection => socket.is_established(),
            Wait::Room => socket.unwritten() == 0,
        };
        if is_there && waiting.returned.is_none() {
            waiting.returned = Some(self.now);
        }
    }

    /// Whether a call that blocks has returned in its time.
    pub(super) fn check_waiting(&mut self) -> Result<(), Stop> {
        let tolerance = self.options.tolerance;
        let Some(Waiting { from, until, returned, .. }) = &self.waiting else { return Ok(()) };
        let latest = until.saturating_add(tolerance);
        match returned {
            Some(at) if *at <= latest && at.saturating_add(tolerance) >= *from => {
                self.waiting = None;
                Ok(())
            }
            None if self.now <= latest => Ok(()),
            _ => Err(Stop::Differs(format!(
                "a call returned at {:?} s, and was to by {:.3} s",
                returned.map(Time::as_secs_f64),
                until.as_secs_f64()
            ))),
        }
    }
}
