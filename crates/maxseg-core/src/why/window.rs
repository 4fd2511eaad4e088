//! The window that a running connection offers its peer (`__tcp_select_window`, `tcp_select_initial_window`,
//! `tcp_rcv_space_adjust`, `tcp_measure_rcv_mss`).
//!
//! It is no more than `rcv_ssthresh`, which grows with the data that arrives up to `window_clamp`, and no more than the window
//! scale can carry. `window_clamp` begins as `TCP_WINDOW_CLAMP` or the route's `window`; since Linux 6.6 the first full
//! segment lets it follow the receive buffer. The window scale is for good: one that was chosen for a small clamp keeps the
//! window small.

use super::chain::{Chain, Link, Source};
use crate::framing::TCP_TIMESTAMPS;
use crate::units::Bytes;
use crate::window::{FIELD, LARGEST_SHIFT, SHUT_AT_UNREAD, linux_shift};

/// What socket and host show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowFacts {
    /// Whether the peer's SYN has not come yet: only it tells whether windows are scaled.
    pub is_opening: bool,
    /// `tcpi_rcv_wnd`: the window that was last advertised.
    pub advertised: Option<Bytes>,
    /// `tcpi_rcv_ssthresh`.
    pub grown: Bytes,
    /// The shift of this end's window scale option; `None` where scaling is not in use.
    pub shift: Option<u8>,
    /// The peer's segments with this end's `tcpi_advmss`: by so much windows are rounded.
    pub advmss: Bytes,
    /// `sk_rcvbuf`: twice what `SO_RCVBUF` was set to.
    pub buffer: Option<Bytes>,
    /// Bytes of the buffer that are taken.
    pub buffer_used: Bytes,
    /// Data that the program has not read.
    pub unread: Bytes,
    /// What only the socket itself tells; `None` where it may not be asked.
    pub options: Option<WindowOptions>,
    /// `window` of the route, where it is set.
    pub route_window: Option<Bytes>,
    /// `net.core.rmem_max`.
    pub rmem_max: Option<Bytes>,
    /// The third number of `net.ipv4.tcp_rmem`.
    pub tcp_rmem_max: Option<Bytes>,
}

/// Options of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowOptions {
    /// `TCP_WINDOW_CLAMP`.
    pub clamp: Bytes,
    /// Whether the program has set `SO_RCVBUF` (`SO_BUF_LOCK`).
    pub is_buffer_set: bool,
}

/// The least share of a buffer that becomes a window, whatever the size of segments: a fifth.
const LEAST_SHARE: u64 = 5;
/// Shares of a buffer are counted in parts of this (`TCP_RMEM_TO_WIN_SCALE`).
const RATIO_BITS: u32 = 8;

/// Why a connection offers its window.
pub fn why_window(facts: &WindowFacts) -> Chain {
    let carries = facts.carries();
    let effective = facts.advertised.unwrap_or(facts.grown).min(carries);
    let mut chain = Chain { effective, links: links(facts, carries), unexplained: None };
    match holds(facts, carries) {
        Ok(source) => chain.let_win(source),
        Err(why) => chain.unexplained = Some(why.to_owned()),
    }
    add_notes(facts, &mut chain);
    chain
}

/// The window that a small clamp at the SYN allows for as long as the connection lasts: the shift is less than buffers of this host
/// want. `None` where nothing keeps it small.
pub fn lasting_clamp(facts: &WindowFacts) -> Option<Bytes> {
    let shift = facts.shift?;
    (shift < facts.wanted_shift()?).then(|| facts.carries())
}

/// Whether a route's `window` holds a window far below what the receive buffer has room for: FreeBSD's PR 6032.
pub fn is_held_by_route(facts: &WindowFacts, chain: &Chain) -> bool {
    let (Some(route), Some(buffer)) = (facts.route_window, facts.buffer) else { return false };
    let is_small = LEAST_SHARE * route.get() < buffer.get();
    let by_scale = lasting_clamp(facts).is_some() && facts.route_explains_shift();
    is_small && (chain.winner().is_some_and(|link| link.source == Source::RouteWindow) || by_scale)
}

impl WindowFacts {
    /// The largest window that the header can carry.
    fn carries(&self) -> Bytes {
        Bytes::new(FIELD << self.shift.unwrap_or(0).min(LARGEST_SHIFT))
    }

    /// The shift that the kernel chooses without a clamp (`tcp_select_initial_window`).
    fn wanted_shift(&self) -> Option<u8> {
        match self.options {
            Some(WindowOptions { is_buffer_set: true, .. }) => {
                Some(linux_shift(Bytes::new(self.buffer?.get() / 2)))
            }
            _ => Some(linux_shift(self.tcp_rmem_max?.max(self.rmem_max?))),
        }
    }

    fn route_explains_shift(&self) -> bool {
        self.route_window.is_some_and(|window| Some(linux_shift(window)) == self.shift)
    }

    /// Whether a clamp is what the kernel makes of the buffer: some share of it in parts of 256, at times less a segment
    /// (`tcp_win_from_space`, `tcp_init_buffer_space`).
    fn is_of_buffer(&self, clamp: Bytes) -> bool {
        let Some(buffer) = self.buffer.map(Bytes::get) else { return false };
        let shares = |clamp: u64| {
            // The smallest share that gives at least the clamp, if any gives it exactly.
            let ratio = (u128::from(clamp) << RATIO_BITS).div_ceil(u128::from(buffer.max(1)));
            ratio <= 1 << RATIO_BITS
                && (u128::from(buffer) * ratio) >> RATIO_BITS == u128::from(clamp)
        };
        shares(clamp.get()) || shares(clamp.get() + self.advmss.get())
    }
}

fn links(facts: &WindowFacts, carries: Bytes) -> Vec<Link> {
    let is_set = facts.options.map(|options| options.is_buffer_set);
    let buffer = if is_set == Some(true) { Source::SocketBuffer } else { Source::Autotuning };
    // The window that a buffer gives the kernel has computed itself, as its clamp.
    let clamp = facts.options.map(|options| options.clamp);
    let gives = clamp.filter(|clamp| facts.is_of_buffer(*clamp));
    let mut links = vec![
        Link::new(buffer, facts.buffer, gives),
        Link::new(Source::TcpRmem, facts.tcp_rmem_max, None),
        Link::new(Source::RmemMax, facts.rmem_max, None),
        Link::new(Source::RouteWindow, facts.route_window, facts.route_window),
        Link::new(Source::WindowClamp, clamp, clamp),
        Link::new(Source::WindowScale, Some(carries), Some(carries)),
        Link::new(Source::Growth, Some(facts.grown), Some(facts.grown)),
    ];
    if facts.unread > Bytes::ZERO {
        links.push(Link::new(Source::UnreadData, Some(facts.unread), None));
    }
    links
}

/// The bound that holds, or why that is not known.
fn holds(facts: &WindowFacts, carries: Bytes) -> Result<Source, &'static str> {
    let (part, whole) = SHUT_AT_UNREAD;
    let is_full =
        facts.buffer.is_some_and(|buffer| facts.buffer_used.get() * whole >= buffer.get() * part);
    if facts.unread > Bytes::ZERO && is_full {
        return Ok(Source::UnreadData);
    }
    // Initial windows are whole segments, the largest below the clamp.
    let is_reached = |bound: Bytes| facts.grown + facts.advmss + TCP_TIMESTAMPS >= bound;
    let Some(options) = facts.options else {
        let route = facts.route_window.filter(|window| facts.grown <= *window);
        return match route {
            Some(window) if is_reached(window) => Ok(Source::RouteWindow),
            _ if facts.grown >= carries => Ok(Source::WindowScale),
            _ => Err("TCP_WINDOW_CLAMP, and whether the program has set SO_RCVBUF, cannot be read"),
        };
    };
    if carries <= options.clamp && facts.grown >= carries {
        return Ok(Source::WindowScale);
    }
    if !is_reached(options.clamp) {
        return Ok(Source::Growth);
    }
    if facts.route_window == Some(options.clamp) {
        return Ok(Source::RouteWindow);
    }
    if !facts.is_of_buffer(options.clamp) {
        return Ok(Source::WindowClamp);
    }
    let Some(buffer) = facts.buffer else { return Ok(Source::WindowClamp) };
    let is_at = |limit: Option<Bytes>| limit.is_some_and(|limit| buffer >= limit);
    Ok(if options.is_buffer_set {
        let most = facts.rmem_max.map(|most| Bytes::new(2 * most.get()));
        if most == Some(buffer) { Source::RmemMax } else { Source::SocketBuffer }
    } else if is_at(facts.tcp_rmem_max) {
        Source::TcpRmem
    } else {
        Source::Autotuning
    })
}

fn add_notes(facts: &WindowFacts, chain: &mut Chain) {
    if facts.is_opening {
        chain.note(
            Source::WindowScale,
            "no answer to the SYN has come: whether windows are scaled it will tell",
        );
    } else if facts.shift.is_none() {
        chain.note(Source::WindowScale, "one of the SYNs had no window scale option");
    } else if lasting_clamp(facts).is_some() {
        let by = if facts.route_explains_shift() {
            "the route's `window` was there at the SYN"
        } else {
            "TCP_WINDOW_CLAMP, a route's `window` or a smaller buffer was there at the SYN"
        };
        chain.note(
            Source::WindowScale,
            format!("chosen small for good: {by}, and buffers of this host want a larger one"),
        );
    }
    let Some(options) = facts.options else {
        chain.note(Source::WindowClamp, "not readable here");
        return;
    };
    let winner = chain.winner().map(|link| link.source);
    let wins = |source| winner == Some(source);
    if wins(Source::RmemMax) {
        chain.note(Source::RmemMax, "SO_RCVBUF is granted up to it, and the kernel doubles that");
    } else if wins(Source::WindowClamp) {
        let is_small =
            facts.buffer.is_some_and(|buffer| LEAST_SHARE * options.clamp.get() < buffer.get());
        let why = if is_small {
            "far below the buffer: the program has set it, or a route's `window` was there at the SYN"
        } else {
            "not what the buffer gives: the program has set it, a route's `window` was there at the SYN, or the buffer has \
             changed since"
        };
        chain.note(Source::WindowClamp, why);
    } else if facts.is_of_buffer(options.clamp) {
        chain.note(Source::WindowClamp, "it follows the receive buffer");
    }
    if wins(Source::Growth) {
        chain.note(Source::Growth, "it grows with the data that arrives");
    }
    if wins(Source::Autotuning) {
        chain.note(Source::Autotuning, "it follows what the program reads in a round trip");
    }
}
