//! Packets that are sent to see what becomes of them: what a path carries, how long it takes, and who says so.
//!
//! Nothing here judges: `maxseg_core::path_mtu` does.
