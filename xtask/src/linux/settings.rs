//! Settings of a cell's hosts by the names of sysctls, of the route's attributes and of socket options.

use anyhow::{Context, Result};
use maxseg_core::tcp::linux::Host;
use maxseg_core::units::Mss;

use crate::sysctls;

/// Sets one.
///
/// # Errors
/// There is no such setting, or it has no such value.
pub(super) fn set(host: &mut Host, key: &str, value: &str) -> Result<()> {
    let number = || value.parse::<u64>().with_context(|| format!("{key}={value}"));
    match key {
        "initcwnd" => host.initcwnd = number()?,
        "quickack" => host.quickack = number()? != 0,
        "route_advmss" => host.route_advmss = Some(Mss::new(number()?)?),
        "so_max_pacing_rate" => host.max_pacing_rate = number()?,
        "mtu" => host.mtu = number()?,
        name => sysctls::set(host, name, value)?,
    }
    Ok(())
}
