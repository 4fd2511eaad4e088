//! The MTU of an interface.

use std::io;

use maxseg_core::tune::{Target, Value};

use super::TuneError;
use crate::netlink::{InterfaceIndex, Netlink};

fn target(name: &str) -> Target {
    Target::InterfaceMtu(name.to_owned())
}

pub(super) fn read(name: &str) -> Result<Value, TuneError> {
    match mtu(name) {
        Ok(Some(mtu)) => Ok(Value::Text(mtu.to_string())),
        Ok(None) => Ok(Value::Unset),
        Err(error) if is_gone(&error) => Ok(Value::Absent),
        Err(error) => Err(TuneError::read(&target(name), error)),
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO))
}

fn mtu(name: &str) -> io::Result<Option<u32>> {
    let index = Netlink::interface(name)?;
    Ok(Netlink::new()?.interface_facts(index.get())?.mtu)
}

pub(super) fn write(name: &str, value: &Value) -> Result<(), TuneError> {
    let Some(mtu) = value.number().and_then(|mtu| u32::try_from(mtu).ok()) else {
        return Err(TuneError::CannotBe { target: target(name), value: value.clone() });
    };
    let set = || Netlink::new()?.set_mtu(Netlink::interface(name)?, mtu);
    set().map_err(|error| TuneError::write(&target(name), value, error))
}

/// The interfaces of this namespace.
pub(super) fn names() -> Vec<String> {
    let all = nix::net::if_::if_nameindex();
    let names = all.iter().flat_map(|all| all.iter());
    names.map(|interface| interface.name().to_string_lossy().into_owned()).collect()
}

/// Whether it has IPv6 addresses, which it loses with an MTU below 1280 (`/proc/net/if_inet6`).
pub(super) fn has_v6(name: &str) -> bool {
    let text = std::fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
    text.lines().any(|line| line.split_whitespace().last() == Some(name))
}

/// Its index; `None` where there is none of this name.
pub(super) fn index(name: &str) -> Option<u32> {
    Netlink::interface(name).ok().map(InterfaceIndex::get)
}
