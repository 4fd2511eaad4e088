//! The MTU of an interface, which is found again by its index: its name may be another's by then.

use std::io;

use maxseg_core::tune::{Target, Value};

use super::interface_v6::{hold_routes, own_mtu, set_own_mtu};
use super::{Reading, TuneError};
use crate::netlink::{InterfaceFacts, InterfaceIndex, Netlink};

/// What the image of an interface begins with; its index is behind it.
const IMAGE: &str = "ifindex ";
/// What stands between the index and IPv6's own MTU, where that is another one.
const OF_V6: &str = " mtu6 ";

fn target(name: &str) -> Target {
    Target::InterfaceMtu(name.to_owned())
}

/// The MTU of the interface of this image; without one, of the interface that has the name now.
pub(super) fn read(name: &str, image: Option<&str>) -> Result<Reading, TuneError> {
    let facts = |index| Ok((index, facts(index)?));
    match index_of(name, image).and_then(facts) {
        Ok((index, facts)) => {
            let value = facts.mtu.map_or(Value::Unset, |mtu| Value::Text(mtu.to_string()));
            let own = facts.mtu.and_then(|mtu| own_mtu(&facts.name, index.get(), mtu));
            let of_v6 = own.map_or_else(String::new, |own| format!("{OF_V6}{own}"));
            let image =
                image.map_or_else(|| format!("{IMAGE}{}{of_v6}", index.get()), str::to_owned);
            Ok(Reading { value, image: Some(image) })
        }
        Err(error) if is_gone(&error) => Ok(Reading::plain(Value::Absent)),
        Err(error) => Err(TuneError::read(&target(name), error)),
    }
}

/// The index in an image.
pub(super) fn index_in(image: &str) -> Option<u32> {
    let of = image.strip_prefix(IMAGE)?;
    of.split_once(OF_V6).map_or(of, |(index, _)| index).parse().ok()
}

/// The journal of an earlier version has the name alone.
fn index_of(name: &str, image: Option<&str>) -> io::Result<InterfaceIndex> {
    let index = image.and_then(index_in);
    index.map_or_else(|| Netlink::interface(name), |index| Ok(InterfaceIndex::new(index)))
}

fn facts(index: InterfaceIndex) -> io::Result<InterfaceFacts> {
    Netlink::new()?.interface_facts(index.get())
}

/// The name that the interface of this image has now, where that is another one.
pub(super) fn renamed(target: &Target, image: Option<&str>) -> Option<String> {
    let Target::InterfaceMtu(name) = target else { return None };
    let now = facts(index_of(name, Some(image?)).ok()?).ok()?.name;
    (now != *name).then_some(now)
}

/// The name that the kernel has for the interface of this name, which may be another one of it (`altname` of ip-link(8)): rules of
/// nftables and lists of interfaces know that one alone.
pub(super) fn own_name(name: &str) -> Option<String> {
    Some(facts(Netlink::interface(name).ok()?).ok()?.name)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO))
}

pub(super) fn write(name: &str, value: &Value, image: Option<&str>) -> Result<(), TuneError> {
    let Some(mtu) = value.number().and_then(|mtu| u32::try_from(mtu).ok()) else {
        return Err(TuneError::CannotBe { target: target(name), value: value.clone() });
    };
    let own = image.and_then(|image| image.split_once(OF_V6)?.1.parse::<u32>().ok());
    let set = || {
        let index = index_of(name, image)?;
        let before = facts(index)?;
        if before.mtu.is_some_and(|before| before < mtu) {
            hold_routes(&before.name, index.get(), before.mtu.unwrap_or(mtu))?;
        }
        Netlink::new()?.set_mtu(index, mtu)?;
        own.filter(|own| *own <= mtu).map_or(Ok(()), |own| set_own_mtu(&before.name, own))
    };
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
