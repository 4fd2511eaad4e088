//! Packets as lines: what each says, in words or in JSON.
//!
//! ```text
//! CapturedPacket ─┐
//! Record ─────────┴→ View → Decoded ─┬→ line, hex      with connections: relative numbers, scaled windows
//!                                    └→ json
//! ```

mod arp;
mod clock;
mod connections;
mod decode;
mod frame;
mod hex;
mod icmp_words;
mod json;
mod line;
#[cfg(test)]
mod tests;
mod view;

use maxseg_wire::bpf::Selection;

pub(crate) use clock::TimeFormat;
pub(crate) use json::json_line;
pub(crate) use view::{View, link_type_of};

use crate::printer::Printer;
use clock::Clock;
use connections::Connections;
use decode::Decoded;

/// How packets are shown.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Manner {
    /// As JSON, one object a line, instead of words.
    pub(crate) json: bool,
    /// Times of lines in words.
    pub(crate) time: TimeFormat,
    /// Sequence numbers as they stand.
    pub(crate) absolute_seq: bool,
    /// The bytes too.
    pub(crate) hex: bool,
    /// The interface too, for there are several.
    pub(crate) names_interface: bool,
}

/// Turns packets into lines. It knows of the connections that it has seen.
#[derive(Debug)]
pub(crate) struct Monitor {
    printer: Printer,
    manner: Manner,
    clock: Clock,
    connections: Connections,
    packets: u64,
}

impl Monitor {
    pub(crate) fn new(printer: Printer, manner: Manner) -> Self {
        let clock = Clock::new(manner.time);
        Self { printer, manner, clock, connections: Connections::default(), packets: 0 }
    }

    /// Appends the lines about a packet.
    pub(crate) fn show(&mut self, view: &View<'_>, out: &mut String) {
        self.show_selected(view, &Selection::default(), out);
    }

    /// Appends the lines about a packet that is asked for; whether it is.
    pub(crate) fn show_selected(
        &mut self,
        view: &View<'_>,
        selection: &Selection,
        out: &mut String,
    ) -> bool {
        let decoded = Decoded::of(view, &mut self.connections);
        if !decoded.passes(selection) {
            return false;
        }
        self.packets += 1;
        if self.manner.json {
            let packet = json::Packet::of(self.packets, view, &decoded, self.manner.hex);
            out.push_str(&json_line(&packet));
            return true;
        }
        let time = self.clock.show(view.at_nanos);
        line::write(self.printer, self.manner, &time, view, &decoded, out);
        if self.manner.hex {
            hex::dump(view.bytes, out);
        }
        true
    }

    /// Whether lines name interfaces, from now on.
    pub(crate) fn name_interfaces(&mut self, names: bool) {
        self.manner.names_interface = names;
    }
}
