//! What is seen of packets on their way, for whoever looks.

use std::collections::VecDeque;

use super::Fate;
use super::pieces::{FragmentRange, Piece};
use crate::units::Time;

/// A packet, or a piece of one, at a place of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopSighting {
    /// The link that it comes to, in the order in which packets of this direction meet them, from 0;
    /// `None` at the host behind the last.
    pub link: Option<usize>,
    /// When: at a link when it gets its place there, at the host when it has come whole.
    pub at: Time,
    /// Which part of the packet it is; `None` for all of it.
    pub part: Option<FragmentRange>,
    /// Whether a link before has marked it (RFC 3168 §5).
    pub marked: bool,
    /// What becomes of it on that link; at the host it has arrived.
    pub fate: Fate,
}

impl HopSighting {
    /// A packet that stays one and whole, at a link.
    #[inline(always)]
    pub(super) const fn of_whole(link: usize, at: Time, fate: Fate) -> Self {
        Self { link: Some(link), at, part: None, marked: false, fate }
    }

    /// The same at the host.
    #[inline(always)]
    pub(super) const fn of_arrival(at: Time) -> Self {
        Self { link: None, at, part: None, marked: false, fate: Fate::Arrives(at) }
    }

    pub(super) const fn of_piece(link: usize, at: Time, piece: &Piece, fate: Fate) -> Self {
        Self { link: Some(link), at, part: piece.part(), marked: piece.marked, fate }
    }

    pub(super) const fn of_landing(at: Time, piece: &Piece) -> Self {
        let fate = Fate::Arrives(at);
        Self { link: None, at, part: piece.part(), marked: piece.marked, fate }
    }
}

/// What was seen on a staged path and has not been told yet. What becomes of a packet on a link is known
/// when it leaves, so it is told then, with the time when it came.
#[derive(Debug, Clone)]
pub(super) struct SightingLog<P> {
    seen: VecDeque<(P, HopSighting)>,
    /// For each link, what has come and not left it, in its order.
    inside: Vec<VecDeque<(Time, P, Piece)>>,
}

impl<P> SightingLog<P> {
    pub(super) fn new(links: usize) -> Self {
        Self { seen: VecDeque::new(), inside: (0..links).map(|_| VecDeque::new()).collect() }
    }

    /// A piece gets its place at a link.
    pub(super) fn enter(&mut self, link: usize, now: Time, packet: P, piece: Piece) {
        self.inside[link].push_back((now, packet, piece));
    }

    /// The first of those that are inside has left the link, or was dropped.
    pub(super) fn leave(&mut self, link: usize, fate: Fate) {
        if let Some((came, packet, piece)) = self.inside[link].pop_front() {
            self.seen.push_back((packet, HopSighting::of_piece(link, came, &piece, fate)));
        }
    }

    /// Nobody will tell what becomes of those that are inside.
    pub(super) fn close(&mut self) {
        for link in 0..self.inside.len() {
            while !self.inside[link].is_empty() {
                self.leave(link, Fate::Arrives(Time::NEVER));
            }
        }
    }

    /// A piece reaches, or will reach, its host.
    pub(super) fn land(&mut self, at: Time, packet: P, piece: &Piece) {
        self.seen.push_back((packet, HopSighting::of_landing(at, piece)));
    }

    /// What was seen next.
    pub(super) fn poll(&mut self) -> Option<(P, HopSighting)> {
        self.seen.pop_front()
    }

    /// Since when something is inside, of which it is not known yet what to tell.
    pub(super) fn waits_since(&self) -> Time {
        let first = self.inside.iter().filter_map(|link| Some(link.front()?.0));
        first.min().unwrap_or(Time::NEVER)
    }
}
