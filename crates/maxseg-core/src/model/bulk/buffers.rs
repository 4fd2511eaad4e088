//! The window and the buffer that bound a bulk flow.

use crate::scenario::{Flow, Scenario};
use crate::settings::{SocketMemory, WindowScale};
use crate::tcp::linux::Host;
use crate::units::Bytes;
use crate::window::FIELD;

/// The window that the receiver offers and what the sender's buffer holds, in bytes; Linux's buffers as far as they grow.
pub(super) fn buffers(scenario: &Scenario, flow: &Flow, mss: Bytes) -> (f64, f64) {
    let (sender, receiver) = scenario.agreed_settings(flow);
    if !scenario.runs_linux(flow) {
        let buffer = sender.send_buffer.map_or(f64::INFINITY, |bytes| bytes.get() as f64);
        return (receiver.offered_window(mss).get() as f64, buffer);
    }
    let (sending, receiving) = (SocketMemory::of(&sender, mss), SocketMemory::of(&receiver, mss));
    let host = Host { tcp_wmem: sending.tcp_wmem, tcp_rmem: receiving.tcp_rmem, ..Host::default() };
    let clamp = receiving.clamp.map_or(f64::INFINITY, |bytes| bytes.get() as f64);
    let field = match receiver.window_scale {
        WindowScale::Off => FIELD as f64,
        WindowScale::Auto | WindowScale::Shift(_) | WindowScale::Unlimited => f64::INFINITY,
    };
    (host.widest_window(mss.get()).min(clamp).min(field), host.mean_send_buffer())
}
