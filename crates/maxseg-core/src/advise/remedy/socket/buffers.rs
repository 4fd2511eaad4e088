//! Buffers that a program has set, and processes that do not read what arrives.

use super::super::command::{Host, Remedy};
use super::super::{linux, window::LINUX_FIRST_BUFFER};
use super::{SocketCase, quoted, size};
use crate::advise::Change;
use crate::diagnose::{counted, fills_receive_window, waits_for_reader};
use crate::evidence::{BufferFill, RateSpread};
use crate::units::{Bytes, approx};
use crate::why::Source;
use crate::window::{FIELD, MEMORY_PER_PAYLOAD};

impl SocketCase<'_> {
    /// The receive window of this host is the limit.
    pub(super) fn window_here(&self) -> String {
        let (state, share) = (&self.evidence.state, self.share());
        if fills_receive_window(self.evidence) {
            return self.full_window_here();
        }
        let unread = counted(state.unread_bytes.into(), "byte");
        if waits_for_reader(self.evidence) {
            let full = state.receive_buffer.map_or_else(String::new, |buffer| {
                format!(
                    " in a receive buffer that is {} full",
                    approx::whole_percent(buffer.share())
                )
            });
            let seconds = approx::time(self.evidence.bin.duration.as_secs_f64());
            return if self.is_unaccepted {
                format!(
                    "Nobody has accepted this connection: {unread} wait{full}, and nothing has arrived for {seconds}."
                )
            } else {
                let reader = self.process();
                format!(
                    "This connection is limited by {reader}, which does not read: {unread} wait{full}, and nothing has arrived for \
                     {seconds}."
                )
            };
        }
        if self.has_small_buffer() {
            let limit = state.receive_buffer.map_or(0, |buffer| buffer.limit);
            return format!(
                "The receive buffer of this host limits this connection {share}: the program has set it (SO_RCVBUF), and it holds \
                 {}, overhead included.",
                size(Bytes::new(limit.into()))
            );
        }
        format!("The process here limits this connection {share}: it has not read {unread}.")
    }

    /// The peer fills the window in each round trip, though the reader keeps up.
    fn full_window_here(&self) -> String {
        let (window, share) = (size(self.window.effective), self.share());
        let rtt = self
            .evidence
            .state
            .receive_rtt
            .map_or_else(String::new, |rtt| format!(" of {}", approx::time(rtt.as_secs_f64())));
        let what = if self.is_window_of_buffer() {
            format!("SO_RCVBUF keeps the receive window of this host at {window}, which limits")
        } else {
            format!("The receive window of this host, {window}, limits")
        };
        format!("{what} this connection {share}: the peer fills it in each round trip{rtt}.")
    }

    /// The buffer that the program has set holds the window, and no clamp does. In a small one what has arrived, and how far the window
    /// had grown, are bounds of the moment that come from the buffer.
    fn is_window_of_buffer(&self) -> bool {
        let of_moment = |source| matches!(source, Source::Growth | Source::UnreadData);
        self.window.winner().is_some_and(|link| {
            matches!(link.source, Source::SocketBuffer | Source::RmemMax)
                || of_moment(link.source) && self.has_small_buffer()
        })
    }

    pub(super) fn widen_window_here(&self, here: &Host) -> Remedy {
        if fills_receive_window(self.evidence) && self.is_window_of_buffer() {
            return self.free_receive_buffer(here);
        }
        if fills_receive_window(self.evidence) {
            return self.widen_held_window(here);
        }
        if waits_for_reader(self.evidence) && self.is_unaccepted {
            let port = self.local.port();
            return Remedy::new(format!(
                "find why the program that listens at port {port} does not accept connections"
            ))
            .look_linux(here, format!("ss -ltnp 'sport = :{port}'"));
        }
        if waits_for_reader(self.evidence) {
            return self.examine(here, "it does not read what has arrived");
        }
        if self.has_small_buffer() {
            return self.free_receive_buffer(here);
        }
        self.examine(here, "it reads more slowly than data arrives")
    }

    /// A window that something other than `SO_RCVBUF` holds.
    fn widen_held_window(&self, here: &Host) -> Remedy {
        let held_by = self.window.winner().map(|link| link.source);
        if held_by == Some(Source::TcpRmem) {
            let wanted = (4 * self.window.effective.get()).next_power_of_two();
            let buffer = (MEMORY_PER_PAYLOAD * wanted).clamp(1 << 19, 1 << 30);
            return Remedy::new(format!(
                "raise the largest receive buffer of this host, the third number of tcp_rmem, to {}: it holds the window",
                size(Bytes::new(buffer))
            ))
            .look_linux(here, "sysctl net.ipv4.tcp_rmem")
            .linux(here, linux::raise_third("net.ipv4.tcp_rmem", buffer))
            .advises(Change::ReceiveBuffer(Bytes::new(buffer)))
            .note("New connections grow up to it; one that runs may not.");
        }
        let scale = self.window.winner().filter(|link| link.source == Source::WindowScale);
        if scale.is_some_and(|link| link.value == Some(Bytes::new(FIELD))) {
            return Remedy::new(
                "find out which SYN has no window scale option, or a scale of 0: without it no window exceeds 65 535 bytes (RFC 7323). A \
                 device on the way may have removed it",
            )
            .look_linux(here, "sysctl net.ipv4.tcp_window_scaling")
            .look_linux(here, self.capture("syn.pcapng"))
            .note("The scale of this connection stays: a change acts on new connections.");
        }
        Remedy::new(
            "widen the receive window of this host: what holds it is in the table of its bounds",
        )
    }

    /// What the sender is told of the window here may be less than this host offers.
    pub(super) fn window_on_the_way(&self) -> String {
        format!(
            "This host offers a receive window of {}: where the sender's sockets show a smaller one (snd_wnd of `ss -ti`), a device on the \
             way rewrites it.",
            size(self.window.effective)
        )
    }

    /// The process here in words.
    pub(super) fn process(&self) -> String {
        self.pid.map_or_else(|| "the process here".to_owned(), |pid| format!("process {pid}"))
    }

    /// The program has set a buffer smaller than Linux begins with: what is not read fills it at once, whether the program reads
    /// slowly or not.
    pub(super) fn has_small_buffer(&self) -> bool {
        let is_small = |buffer: BufferFill| u64::from(buffer.limit) < LINUX_FIRST_BUFFER;
        self.is_receive_buffer_set == Some(true)
            && self.evidence.state.receive_buffer.is_some_and(is_small)
    }

    pub(super) fn free_receive_buffer(&self, here: &Host) -> Remedy {
        let reader = self.process();
        Remedy::new("let the program not set SO_RCVBUF, which ends autotuning, or set a larger one")
            .linux(here, self.autotuned())
            .note(format!(
                "The command acts on this connection alone. Where the buffer is full after it too, {reader} reads more slowly than data \
                 arrives."
            ))
    }

    /// Lets the receive buffer of this socket grow by itself.
    pub(super) fn autotuned(&self) -> String {
        linux::autotuned(&quoted(self.local, self.remote))
    }

    /// A send buffer that cannot grow was seen to be full, the congestion window not.
    pub(super) fn send_buffer_was_full(&self) -> bool {
        let was_full = |spread: RateSpread| spread.send_buffer_share > 0.0;
        let is_held = self.is_send_buffer_set == Some(true)
            || self.evidence.state.send_buffer_grows == Some(false);
        is_held && self.evidence.spread.is_some_and(was_full)
    }

    /// A full link, and a send buffer that was full at some looks: how much it keeps from the link is not known.
    pub(super) fn fill_link(&self, here: &Host) -> Remedy {
        let is_set = self.is_send_buffer_set == Some(true);
        let held_by = if is_set { "that the program has set" } else { "that tcp_wmem holds" };
        let line = if is_set {
            linux::send_autotuned(&quoted(self.local, self.remote))
        } else {
            linux::raise_third("net.ipv4.tcp_wmem", self.wanted_send_buffer())
        };
        Remedy::new(format!(
            "send less, or get a faster link: the send buffer {held_by} was full at times, and a larger one gains little"
        ))
            .look_linux(here, "tc -s qdisc show")
            .linux(here, line)
            .only_where("the link is faster than what this connection gets")
    }

    /// Four times the send buffer, as a power of two.
    fn wanted_send_buffer(&self) -> u64 {
        let now = self.evidence.state.send_buffer.map_or(1 << 16, |buffer| u64::from(buffer.limit));
        (4 * now).next_power_of_two().clamp(1 << 18, 1 << 30)
    }

    /// The buffer of which the kernel itself takes as much again.
    pub(super) fn raise_send_buffer(&self, here: &Host) -> Remedy {
        if self.is_send_buffer_set == Some(true) {
            return Remedy::new(
                "let the program not set SO_SNDBUF, which ends autotuning, or set a larger one",
            )
            .look_linux(here, "sysctl net.ipv4.tcp_wmem net.core.wmem_max")
            .linux(here, linux::send_autotuned(&quoted(self.local, self.remote)))
            .note("The command acts on this connection alone.");
        }
        let wanted = self.wanted_send_buffer();
        Remedy::new(format!("raise the send buffer of this host to {}", size(Bytes::new(wanted))))
            .look_linux(here, "sysctl net.ipv4.tcp_wmem net.core.wmem_max")
            .linux(here, linux::raise_third("net.ipv4.tcp_wmem", wanted))
            .advises(Change::SendBuffer(Bytes::new(wanted / 2)))
            .note("A program that sets SO_SNDBUF ends autotuning: change it in the program then.")
    }
}
