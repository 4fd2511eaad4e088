//! Whether a program waits for room in its send buffer beside whatever limits.

use super::full_link;
use super::pace::Pace;
use super::send_buffer;
use crate::evidence::{Direction, Evidence};
use crate::outcome::LimitedBy;

/// Whether the program of a direction's sender waits for room in its send buffer while the link is idle, and whether it may.
pub(super) fn waits(
    evidence: &Evidence,
    direction: Direction,
    limited_by: LimitedBy,
) -> (bool, bool) {
    let (data, acks) = (evidence.stats(direction), evidence.stats(direction.other()));
    let may_be_buffer =
        matches!(limited_by, LimitedBy::SendBuffer | LimitedBy::Bandwidth | LimitedBy::Unknown);
    if !may_be_buffer || evidence.beside.is_some() || !full_link::has_room(data) {
        return (false, false);
    }
    let waits = send_buffer::waits_for_room(data);
    let may_wait = limited_by == LimitedBy::Bandwidth && send_buffer::lets_flight_drain(data);
    if !waits && !may_wait {
        return (false, false);
    }
    // The pace is much to look at for each connection.
    let pace = Pace::of(data, acks);
    let waits = waits && pace.waits_for_room;
    (waits, may_wait && !pace.is_dialogue && !waits)
}
