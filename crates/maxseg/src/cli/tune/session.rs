//! The connection over which this session runs.

use std::net::IpAddr;

use maxseg_linux::tune::Peer;

/// The other end of the `ssh` session of this shell; sudo(8) drops the variable, the process that holds the session has it still.
pub(super) fn peer() -> Option<Peer> {
    let own = std::env::var("SSH_CONNECTION").ok();
    let text = own.or_else(of_ancestors)?;
    let end = text.split_whitespace().next()?;
    let (address, zone) =
        end.split_once('%').map_or((end, None), |(address, zone)| (address, Some(zone)));
    let address = address.parse::<IpAddr>().ok()?.to_canonical();
    Some(Peer { address, zone: zone.map(str::to_owned) })
}

fn of_ancestors() -> Option<String> {
    let mut pid = std::os::unix::process::parent_id();
    // A session is not nested deeper than this.
    for _ in 0..32 {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        let found = variables.find_map(|variable| variable.strip_prefix(b"SSH_CONNECTION="));
        if let Some(found) = found {
            return String::from_utf8(found.to_vec()).ok();
        }
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        pid = parent.trim().parse().ok().filter(|parent| *parent > 1)?;
    }
    None
}
