//! What a segment's options say, as far as the analysis of flows asks.

use crate::options::{SackBlocks, TcpOption, kind, walk};

/// The options of one segment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SeenOptions {
    pub(super) mss: Option<u16>,
    pub(super) window_scale: Option<u8>,
    pub(super) sack_permitted: bool,
    /// Value and echo.
    pub(super) timestamps: Option<(u32, u32)>,
    pub(super) sack: Option<SackBlocks>,
    pub(super) multipath: bool,
    pub(super) fast_open: bool,
}

impl SeenOptions {
    #[inline]
    pub(super) fn of(bytes: &[u8]) -> Self {
        // As most stacks write them behind the handshake (RFC 7323 appendix A): a tenth of the time.
        if let [1, 1, kind::TIMESTAMPS, 10, a, b, c, d, e, f, g, h] = *bytes {
            let value = u32::from_be_bytes([a, b, c, d]);
            let echo = u32::from_be_bytes([e, f, g, h]);
            return Self { timestamps: Some((value, echo)), ..Self::default() };
        }
        if bytes.is_empty() { Self::default() } else { Self::walked(bytes) }
    }

    #[inline(never)]
    fn walked(bytes: &[u8]) -> Self {
        let mut options = Self::default();
        for option in walk(bytes).values() {
            match option {
                TcpOption::Mss(mss) => options.mss = Some(mss),
                TcpOption::WindowScale(shift) => options.window_scale = Some(shift),
                TcpOption::SackPermitted => options.sack_permitted = true,
                TcpOption::Timestamps { value, echo } => options.timestamps = Some((value, echo)),
                TcpOption::Sack(blocks) => options.sack = Some(blocks),
                TcpOption::FastOpen(_) => options.fast_open = true,
                TcpOption::Other { kind: kind::MULTIPATH, .. } => options.multipath = true,
                TcpOption::NoOperation
                | TcpOption::Md5(_)
                | TcpOption::Ao { .. }
                | TcpOption::Other { .. } => {}
            }
        }
        options
    }
}
