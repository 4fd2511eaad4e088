//! Spoilers of captures: each makes of a capture what an imperfect one would have shown of the same packets.
//!
//! What limited a transfer does not change when its capture is poorer: of each variant the same can be said, or that the
//! capture does not show it. The same seed spoils the same packets.

mod offload;
mod packets;
mod tcp;
mod variants;

pub use packets::{Packet, Packets};
pub use variants::Spoiler;
