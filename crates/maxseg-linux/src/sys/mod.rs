//! System calls: the only module with `unsafe` code.
//!
//! Each file wraps its descriptors into values that close them when dropped; decisions are made elsewhere.

mod borrowed_socket;
mod bpf_iterator;
mod bulk_socket;
mod capabilities;
mod clock;
mod control;
mod datagram_socket;
mod error_queue;
mod find_program;
mod hosts_file;
mod huge_pages;
mod interface;
mod link_reader;
mod namespace_access;
mod netns;
mod packet_ring;
mod packet_socket;
pub(crate) mod probe;
mod process;
mod process_status;
mod socket;
mod state_folder;
mod tun;
mod userns;
mod wait;

pub(crate) use borrowed_socket::{BorrowedSocket, Buffer};
pub(crate) use bpf_iterator::{BpfIterator, Instruction, Register, Width};
pub(crate) use bulk_socket::send_as_probes;
pub(crate) use capabilities::{give_up_file_right, give_up_rights, may_trace_kernel};
pub use clock::sleeps;
pub(crate) use clock::{Clock, coarse_tick, cpu_of_process, cpu_of_thread, minimize_timer_slack};
pub(crate) use control::{ControlListener, ControlSocket};
pub(crate) use datagram_socket::{Arrived, note_arrivals, receive_noted};
#[cfg(test)]
pub(crate) use error_queue::TRIES;
pub(crate) use error_queue::{ProbeSocket, QueuedError, SendResult, send_past_errors};
pub use find_program::find_program;
pub(crate) use hosts_file::add_to_private_hosts;
pub use huge_pages::prefer_huge_pages;
pub(crate) use interface::{Offload, hardware_type, has_offload, offloads_off};
pub(crate) use link_reader::LinkReader;
pub use namespace_access::NamespaceAccess;
pub(crate) use netns::{NetNs, namespace_cookie};
pub(crate) use packet_ring::{PacketRing, RingPacket};
pub(crate) use packet_socket::{PacketCounts, PacketSocket, ReceivedFrame};
pub use probe::ProbeError;
pub use process::detach_from_terminal;
pub(crate) use process::{dies_with_parent, in_namespace, run_to_end};
pub(crate) use process_status::ProcessStatus;
pub(crate) use socket::{
    TcpSocket, discover_mtu_by_df, forbid_fragments, set_pacing_rate, set_tcp_option,
};
pub(crate) use state_folder::{ROOT_FOLDER, open_growing, state_folder_of, state_folders};
pub use state_folder::{latest_state_file, open_regular, read_regular, state_folder, sudo_user};
pub(crate) use tun::{Tun, VNET_HEADER};
pub use userns::own_user_namespace;
pub(crate) use userns::{enter_user_namespace, user_id, user_namespace};
pub use wait::Waker;
pub(crate) use wait::{wait_for, wait_while_read};
