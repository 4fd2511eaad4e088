//! What needs a Linux kernel, and rights over it: the only crate that has any.
//!
//! `unsafe` stands under `sys` alone.
//!
//! Modules use only those to their left:
//!
//! <!-- layers of maxseg-linux -->
//! ```text
//! sys · netlink iperf3 transfer · observe · probe · far_end responder tune · lab · doctor
//! ```
//! <!-- end of layers -->

#![cfg(target_os = "linux")]

pub mod doctor;
pub mod far_end;
pub mod iperf3;
pub mod lab;
mod netlink;
pub mod observe;
pub mod probe;
pub mod responder;
pub mod sys;
mod transfer;
pub mod tune;
