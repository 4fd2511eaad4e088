//! Whether the kernel may still grow the buffers of a connection: its options and sysctls tell.

use maxseg_core::evidence::SocketState;
use maxseg_core::window::{FIELD, LARGEST_SHIFT};

use super::Connection;

impl Connection {
    /// Adds what the socket's options tell of its buffers.
    pub(super) fn add_growth(&self, state: &mut SocketState) {
        let set = self.options.buffers_set;
        state.send_buffer_grows = self.send_buffer_grows();
        state.send_buffer_is_set = set.map(|[send, _]| send);
        state.receive_buffer_is_set = set.map(|[_, receive]| receive);
        state.receive_window_grows = self.receive_window_grows();
    }

    /// Whether the kernel would grow the send buffer; `None` where the socket's options are not known.
    fn send_buffer_grows(&self) -> Option<bool> {
        let [is_set, _] = self.options.buffers_set?;
        let buffer = self.sample.as_ref()?.memory?.send_buffer;
        if is_set {
            return Some(false);
        }
        let [most, _] = self.options.buffers_most?;
        Some(buffer < most)
    }

    /// Whether autotuning may still widen the window that is offered; `None` where the socket's options are not known.
    fn receive_window_grows(&self) -> Option<bool> {
        let [_, is_set] = self.options.buffers_set?;
        let sample = self.sample.as_ref()?;
        let (info, buffer) = (&sample.info, sample.memory?.receive_buffer);
        let shift = if info.options.window_scaling() { info.window_scales.receive } else { 0 };
        let carries = FIELD << shift.min(LARGEST_SHIFT);
        // Windows are whole segments.
        let is_at_scale =
            info.rcv_wnd.is_some_and(|window| u64::from(window + info.advmss) >= carries);
        if is_set || is_at_scale {
            return Some(false);
        }
        let [_, most] = self.options.buffers_most?;
        Some(buffer < most)
    }
}
