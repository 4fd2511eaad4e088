//! The kernel's calls: the only place of `unsafe`.
//!
//! Each file wraps what it needs into values that close themselves; nothing here decides anything.

mod clock;
mod control;
mod interface;
mod netns;
pub mod probe;
mod process;
mod socket;
mod tun;
mod userns;
mod wait;
mod way;

pub use clock::{Clock, cpu_of_process, cpu_of_thread, tight_timers};
pub use control::{Control, Listener};
pub use interface::offloads_off;
pub use netns::NetNs;
pub use process::{detach_from_terminal, dies_with_parent, in_namespace, run_to_end};
pub use socket::{TcpSocket, congestion_controls, set_tcp_option};
pub use tun::{Tun, VNET_HEADER};
pub use userns::{enter_user_namespace, own_user_namespace, user_id, user_namespace};
pub use wait::{Bell, wait_for};
pub use way::Way;
