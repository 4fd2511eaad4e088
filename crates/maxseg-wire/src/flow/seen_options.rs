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

/// Timestamps behind two bytes of padding.
const STAMPED: u32 = u32::from_be_bytes([1, 1, kind::TIMESTAMPS, 10]);

impl SeenOptions {
    #[inline(always)]
    pub(super) fn of(bytes: &[u8]) -> Self {
        // As most stacks write them behind the handshake (RFC 7323 appendix A): a tenth of the time.
        if let Some(([b0, b1, b2, b3, a, b, c, d, e, f, g, h], behind)) = bytes.split_first_chunk()
            && u32::from_be_bytes([*b0, *b1, *b2, *b3]) == STAMPED
        {
            let value = u32::from_be_bytes([*a, *b, *c, *d]);
            let echo = u32::from_be_bytes([*e, *f, *g, *h]);
            let stamped = Self { timestamps: Some((value, echo)), ..Self::default() };
            if behind.is_empty() {
                return stamped;
            }
            if let Some(sack) = Self::sack(behind) {
                return Self { sack: Some(sack), ..stamped };
            }
        }
        if bytes.is_empty() { Self::default() } else { Self::walked(bytes) }
    }

    /// The blocks of a SACK option that nothing follows.
    #[inline(never)]
    fn sack(bytes: &[u8]) -> Option<SackBlocks> {
        match bytes {
            [1, 1, kind::SACK, length, blocks @ ..] if usize::from(*length) == blocks.len() + 2 => {
                SackBlocks::read(blocks)
            }
            _ => None,
        }
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
