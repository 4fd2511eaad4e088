//! The capture that would do where one does not.

use super::ReasonCode;

/// The capture that would do.
pub(in crate::diagnose) const fn wanted_capture(code: ReasonCode) -> &'static str {
    match code {
        ReasonCode::OneWay => {
            "a capture of both directions, at one of the hosts: with asymmetric routes no other point sees both"
        }
        ReasonCode::Merged => {
            "one of the two captures alone (--interface 0 where each has an interface of its own), or both as two files, the sender's \
             first: maxseg explain SENDER RECEIVER joins them"
        }
        ReasonCode::MidStream => "a capture that begins before the connection does",
        ReasonCode::CutHeaders => {
            "a capture with at least 256 bytes of each packet (tcpdump -s 256): TCP's options are cut off"
        }
        ReasonCode::CaptureLoss | ReasonCode::LostAcknowledgements => {
            "a capture that loses nothing: fewer bytes of each packet (tcpdump -s 128), a larger buffer (-B 65536), \
             written to a fast disk; or all files of a ring, where one is missing"
        }
        ReasonCode::MissingFiles => {
            "all files of the ring, or those on one side of what is missing"
        }
        ReasonCode::PayloadOnly => "a capture whose filter lets packets without payload pass",
        ReasonCode::ClockCoarse => "a capture with a clock of microseconds",
        ReasonCode::ClockJump => "a file in the order of its times (reordercap sorts it)",
        ReasonCode::CapturedTwice
        | ReasonCode::Translated
        | ReasonCode::SplitDirections
        | ReasonCode::Unordered
        | ReasonCode::Offload => {
            "a capture at one interface of one of the hosts (tcpdump -i INTERFACE)"
        }
    }
}
