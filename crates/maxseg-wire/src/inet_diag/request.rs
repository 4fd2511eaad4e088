//! What is asked of the kernel: `struct inet_diag_req_v2` in a netlink message, or the older `struct inet_diag_req`.

use super::filter::Filter;
use super::framing::{BY_FAMILY, GET_SOCKET, HEADER, aligned};
use super::selection::{Family, StateSet};

/// `NLM_F_REQUEST | NLM_F_DUMP`, `INET_DIAG_REQ_BYTECODE`, `IPPROTO_TCP`.
const REQUEST_DUMP: u16 = 0x301;
const BYTECODE: u16 = 1;
const TCP: u8 = 6;
/// Bytes of `struct inet_diag_req_v2`: with all zeros after the states no socket in particular is asked for.
const BODY: usize = 56;
/// Bytes of `struct inet_diag_req`, and where its states are: with all zeros before them no socket in particular.
const OLDER_BODY: usize = 60;
const OLDER_STATES: usize = 52;
/// Bytes of `struct nlattr`.
const ATTRIBUTE: usize = 4;
/// Attributes to add, each a bit of `idiag_ext`: `INET_DIAG_INFO`, `VEGASINFO` (and the like of BBR and DCTCP),
/// `CONG`, `SKMEMINFO`. What has no bit, the kernel adds where it may.
const ATTRIBUTES: u8 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 6;
/// `TOS`, `TCLASS`.
const TYPE_OF_SERVICE: u8 = 1 << 4 | 1 << 5;

/// A list of TCP sockets that is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Sockets of this family, mapped addresses with IPv6; of both where there is none. The kernel goes through all its sockets
    /// for each request, and lists both families at once for the older one alone (`inet_diag_dump_compat` in
    /// `net/ipv4/inet_diag.c`).
    pub family: Option<Family>,
    /// In these states.
    pub states: StateSet,
    /// That match this; all where there is none, or one that the kernel [does not take](Filter::fits_request).
    pub filter: Option<Filter>,
    /// Whether their type of service and traffic class are told.
    pub type_of_service: bool,
}

impl Request {
    /// The netlink message. `sequence` comes back in each answer.
    pub fn encode(&self, sequence: u32) -> Vec<u8> {
        let filter = self.filter.as_ref().filter(|filter| filter.fits_request());
        let code = filter.map(Filter::bytecode);
        let room = code.as_ref().map_or(0, |code| ATTRIBUTE + aligned(code.len()));
        let (kind, body) = match self.family {
            Some(_) => (BY_FAMILY, BODY),
            None => (GET_SOCKET, OLDER_BODY),
        };
        let length = HEADER + body + room;
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_ne_bytes());
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(&REQUEST_DUMP.to_ne_bytes());
        bytes.extend_from_slice(&sequence.to_ne_bytes());
        bytes.extend_from_slice(&[0; 4]);
        let attributes = ATTRIBUTES | if self.type_of_service { TYPE_OF_SERVICE } else { 0 };
        if let Some(family) = self.family {
            bytes.extend_from_slice(&[family as u8, TCP, attributes, 0]);
        } else {
            bytes.extend_from_slice(&[0, 0, 0, attributes]);
            bytes.resize(HEADER + OLDER_STATES, 0);
        }
        bytes.extend_from_slice(&self.states.bits().to_ne_bytes());
        bytes.resize(HEADER + body, 0);
        if let Some(code) = code {
            let size = u16::try_from(ATTRIBUTE + code.len()).unwrap_or(u16::MAX);
            bytes.extend_from_slice(&size.to_ne_bytes());
            bytes.extend_from_slice(&BYTECODE.to_ne_bytes());
            bytes.extend_from_slice(&code);
            bytes.resize(length, 0);
        }
        bytes
    }
}
