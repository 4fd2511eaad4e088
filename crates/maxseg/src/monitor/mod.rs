//! Packets as lines: what each says, in words or in JSON.
//!
//! ```text
//! Sighting → frame → decode ─┬→ line, hex      with connections: relative numbers, scaled windows
//!                            └→ json
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

use maxseg_linux::observe::capture::Sighting;

pub(crate) use clock::TimeFormat;
pub(crate) use json::json_line;

use crate::printer::Printer;
use clock::Clock;
use connections::Connections;
use decode::Decoded;

/// How packets are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// As JSON, one object a line, instead of words.
    pub(crate) json: bool,
    /// Times of lines in words.
    pub(crate) time: TimeFormat,
    /// Sequence numbers as they stand.
    pub(crate) absolute_seq: bool,
    /// The bytes too.
    pub(crate) hex: bool,
    /// Whether several interfaces are looked at.
    pub(crate) several_interfaces: bool,
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

    /// Appends the lines about a packet at the interface of this name.
    pub(crate) fn show(&mut self, sighting: &Sighting<'_>, interface: &str, out: &mut String) {
        self.packets += 1;
        let decoded = Decoded::of(sighting, &mut self.connections);
        if self.manner.json {
            let packet = json::Packet::of(self.packets, sighting, interface, &decoded, self.manner.hex);
            out.push_str(&json_line(&packet));
            return;
        }
        let time = self.clock.show(sighting.at_nanos);
        line::write(self.printer, self.manner, &time, interface, sighting, &decoded, out);
        if self.manner.hex {
            hex::dump(sighting.bytes, out);
        }
    }
}
