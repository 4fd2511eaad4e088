//! `maxseg tune` on what no network namespace of this machine has: sysctls of the whole machine, and VLANs.

use anyhow::{Result, ensure};

use super::Check;
use super::guest::Guest;

/// Every check, in order.
pub(super) const CHECKS: [Check; 3] = [
    Check {
        name: "tune: settings of the whole machine are set and restored",
        run: sets_the_machine,
    },
    Check { name: "tune: killed at each line of the journal, and undone", run: is_killed },
    Check {
        name: "tune: a VLAN is lowered with its interface, and raised again",
        run: lowers_a_vlan,
    },
];

/// The program, with a journal in memory.
const TUNE: &str = "XDG_STATE_HOME=/tmp/state maxseg tune";
/// What is set, and what reads it.
const WANTED: &str = "--set sysctl.net.core.rmem_max=4194304 --set sysctl.net.core.wmem_max=4194304 \
                      --set 'sysctl.net.ipv4.tcp_mem=10000 20000 30000' --set sysctl.net.ipv4.tcp_sack=0";
const VALUES: &str = "cat /proc/sys/net/core/rmem_max /proc/sys/net/core/wmem_max /proc/sys/net/ipv4/tcp_mem \
                      /proc/sys/net/ipv4/tcp_sack | tr '\\t\\n' '  '";
const AFTER: &str = "4194304 4194304 10000 20000 30000 0 ";

fn sets_the_machine(guest: &mut Guest) -> Result<String> {
    let before = guest.must(VALUES)?;
    guest.must(&format!("{TUNE} apply --yes {WANTED}"))?;
    let after = guest.must(VALUES)?;
    ensure!(after == AFTER, "{after}");
    guest.must(&format!("{TUNE} status"))?;
    guest.must(&format!("{TUNE} undo --all"))?;
    let restored = guest.must(VALUES)?;
    ensure!(restored == before, "{before}: {restored}");
    Ok(format!("{} -> {}", before.trim(), after.trim()))
}

/// Kills it at its first sync of the journal, its second, … until it ends by itself: so often was it killed.
fn killed(guest: &mut Guest, before: &str, is_undo: bool) -> Result<usize> {
    // More than either command has.
    const MOST: usize = 40;
    for number in 1..MOST {
        guest.must("rm -rf /tmp/state")?;
        let arguments =
            if is_undo { "undo --all".to_owned() } else { format!("apply --yes {WANTED}") };
        if is_undo {
            guest.must(&format!("{TUNE} apply --yes {WANTED}"))?;
        }
        let inject =
            format!("strace -qq -o /dev/null -e inject=fdatasync:signal=KILL:when={number}");
        let command = TUNE.replacen("maxseg", &format!("{inject} maxseg"), 1);
        let ended = guest.run(&format!("{command} {arguments}"))?.success;
        let now = guest.must(VALUES)?;
        let done = if is_undo { before } else { AFTER };
        ensure!(!ended || now == done, "{arguments}: {now}");
        guest.must(&format!("{TUNE} undo --all"))?;
        let restored = guest.must(VALUES)?;
        ensure!(restored == before, "{arguments}, killed at {number}: {before}: {restored}");
        guest.must(&format!("{TUNE} status"))?;
        if ended {
            return Ok(number - 1);
        }
    }
    anyhow::bail!("it was killed {MOST} times, and never ended")
}

fn is_killed(guest: &mut Guest) -> Result<String> {
    if !guest.run("strace -V")?.success {
        return Ok("skipped: strace is not installed".to_owned());
    }
    let before = guest.must(VALUES)?;
    let (apply, undo) = (killed(guest, &before, false)?, killed(guest, &before, true)?);
    // Two lines for each of the four settings, and two of the plan.
    ensure!(apply == 10 && undo == 8, "{apply} lines of apply, {undo} of undo");
    Ok(format!("{apply} times in apply, {undo} times in undo"))
}

fn lowers_a_vlan(guest: &mut Guest) -> Result<String> {
    guest
        .must("ip link add wire type dummy && ip link add link wire name tagged type vlan id 5")?;
    guest.must("ip link add link tagged name twice type vlan id 6")?;
    let mtus = "cat /sys/class/net/wire/mtu /sys/class/net/tagged/mtu /sys/class/net/twice/mtu | tr '\\n' ' '";
    guest.must(&format!("{TUNE} apply --yes --set interface.wire.mtu=1300"))?;
    let lowered = guest.must(mtus)?;
    guest.must(&format!("{TUNE} status && {TUNE} undo"))?;
    let restored = guest.must(mtus)?;
    guest.must("ip link del wire")?;
    ensure!(lowered == "1300 1300 1300 " && restored == "1500 1500 1500 ", "{lowered}, {restored}");
    Ok(format!("{}, then {}", lowered.trim(), restored.trim()))
}
