//! What FreeBSD goes by when a connection begins: its release, and what a route sets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::SettingsError;
use crate::mss::freebsd::Release;
use crate::units::Bytes;

/// FreeBSD's settings; the stack has the values of keys that are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeBsdSpec {
    /// The release whose `tcp_mss` sizes segments and buffers.
    #[schemars(extend("x-example" = "\"2.2\"", "x-engines" = "model, sim"))]
    pub release: Option<ReleaseName>,
    /// The send buffer that the route sets (`route change -sendpipe`).
    #[schemars(extend("x-example" = "\"16 KiB\"", "x-engines" = "model, sim"))]
    pub sendpipe: Option<Bytes>,
    /// The receive buffer that the route sets (`route change -recvpipe`).
    #[schemars(extend("x-example" = "\"16 KiB\"", "x-engines" = "model, sim"))]
    pub recvpipe: Option<Bytes>,
    /// The largest buffer that the system grants (`sb_max`, `kern.ipc.maxsockbuf`).
    #[schemars(extend("x-example" = "\"256 KiB\"", "x-engines" = "model, sim"))]
    pub sb_max: Option<Bytes>,
}

/// The releases by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum ReleaseName {
    /// A buffer size on the route replaces the socket's, even a larger one (problem report 6032).
    #[serde(rename = "2.2")]
    V22,
    /// With the patch of that report: the larger of the two.
    #[serde(rename = "2.2-patched")]
    V22Patched,
    /// Today's: the route's size counts only where the application has set none.
    #[serde(rename = "modern")]
    Modern,
}

/// The same, complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FreeBsdRules {
    /// Whose `tcp_mss` decides.
    pub release: Release,
    /// The send buffer that the route sets.
    pub sendpipe: Option<Bytes>,
    /// The receive buffer that the route sets.
    pub recvpipe: Option<Bytes>,
    /// The largest buffer that the system grants.
    pub sb_max: Bytes,
}

impl FreeBsdSpec {
    /// What is given here, and the rest from `base`.
    pub(super) fn over(self, base: Self) -> Self {
        Self {
            release: self.release.or(base.release),
            sendpipe: self.sendpipe.or(base.sendpipe),
            recvpipe: self.recvpipe.or(base.recvpipe),
            sb_max: self.sb_max.or(base.sb_max),
        }
    }

    pub(super) fn complete(self) -> Result<FreeBsdRules, SettingsError> {
        let missing = SettingsError::Missing;
        Ok(FreeBsdRules {
            release: match self.release.ok_or(missing("freebsd.release"))? {
                ReleaseName::V22 => Release::V22,
                ReleaseName::V22Patched => Release::V22Patched,
                ReleaseName::Modern => Release::Modern,
            },
            sendpipe: self.sendpipe,
            recvpipe: self.recvpipe,
            sb_max: self.sb_max.ok_or(missing("freebsd.sb_max"))?,
        })
    }
}
