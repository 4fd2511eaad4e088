//! TCP as Linux 6.12 has it, sans-IO: one [`Socket`] is one end of a connection, with data in both directions.
//!
//! ```text
//! on_packet(now, packet)     what arrives
//! on_timer(now)              what next_timer() said is due
//! write · read               what the application does; a write may have to wait for room
//! poll_transmit()            what to send, until None
//! ```
//! Each file is one concern and names the kernel's functions whose rules it follows; windows and counters are
//! in segments and the fields have the kernel's names, so that a trace of `tcp_info` reads like the fields
//! here. Numbers are 64-bit and do not wrap. Time enters as the run's; [`clock`] makes jiffies of it, because
//! most timers and CUBIC's curve count in them.

mod ack;
mod cc;
mod clean;
mod clock;
mod delayed_ack;
mod handshake;
mod info;
mod output;
mod packet;
mod prr;
mod queue;
mod rack;
mod rate;
mod receive;
mod receive_buffer;
mod recovery;
mod reordered;
mod retransmit;
mod rtt;
mod sack;
mod segmentation;
mod settings;
mod skb;
mod socket;
#[cfg(test)]
mod tests;
mod timers;
mod tlp;
mod undo;
mod windowed;
mod write;

pub use info::Info;
pub use packet::{Blocks, Packet, Stamps, SynOptions};
pub use settings::{Algorithm, Host};
pub use socket::Socket;
