//! The MTU of an interface, which is found again by its index: its name may be another's by then.

use std::io;

use maxseg_core::tune::{Step, Target, Value};

pub(super) use super::interface_image::index;
use super::interface_image::{InterfaceImage, facts, is_gone, mtu_of, name_of};
use super::interface_v6::{OwnMtu, is_needed, own_mtu, set_own_mtu, sysctl_of};
use super::{Reading, TuneError, sysctl};
use crate::netlink::{InterfaceIndex, Link, Netlink, bridge_of};

fn target(name: &str) -> Target {
    Target::InterfaceMtu(name.to_owned())
}

/// The MTU of the interface of this image; without one, of the interface that has the name now.
pub(super) fn read(name: &str, image: Option<&str>) -> Result<Reading, TuneError> {
    let look = || -> io::Result<Reading> {
        let index = index_of(name, image)?;
        let facts = facts(index)?;
        let value = facts.mtu.map_or(Value::Unset, |mtu| Value::Text(mtu.to_string()));
        let image = match (image, facts.mtu) {
            (Some(image), _) => image.to_owned(),
            (None, None) => InterfaceImage::of(index.get()).to_string(),
            (None, Some(mtu)) => image_of(&facts.name, index.get(), mtu)?.to_string(),
        };
        Ok(Reading { value, image: Some(image) })
    };
    match look() {
        Err(error) if is_gone(&error) => Ok(Reading::plain(Value::Absent)),
        look => look.map_err(|error| TuneError::read(&target(name), error)),
    }
}

/// What is kept of an interface as it is now.
fn image_of(name: &str, index: u32, mtu: u32) -> io::Result<InterfaceImage> {
    let of_bridge = |bridge: &Link| (bridge.index, own_mtu(&bridge.name, bridge.index, bridge.mtu));
    let bridge = bridge_of(&Netlink::new()?.links()?, index).map(of_bridge);
    Ok(InterfaceImage::of(index).with(own_mtu(name, index, mtu), bridge))
}

/// The journal of an earlier version has the name alone.
fn index_of(name: &str, image: Option<&str>) -> io::Result<InterfaceIndex> {
    let image = image.and_then(InterfaceImage::parse);
    image.map_or_else(|| Netlink::interface(name), |image| Ok(InterfaceIndex::new(image.index())))
}

/// The name that the interface of a step has now, where that is another one.
pub(super) fn renamed(target: &Target, image: Option<&str>) -> Option<String> {
    let then = match target {
        Target::InterfaceMtu(name) => name.clone(),
        Target::Sysctl(name) => sysctl::interface_in(name)?,
        Target::Route { .. } | Target::Socket { .. } | Target::Clamp(_) | Target::File(_) => {
            return None;
        }
    };
    let now = name_of(InterfaceImage::of_step(target, image)?.index()).ok()?;
    (now != then).then_some(now)
}

/// The name that the kernel has for the interface of this name, which may be another one of it (`altname` of ip-link(8)): rules of
/// nftables and lists of interfaces know that one alone.
pub(super) fn own_name(name: &str) -> Option<String> {
    Some(facts(Netlink::interface(name).ok()?).ok()?.name)
}

/// Whether a step is of an interface that is gone: of one that its name alone tells, nothing else can have become of it.
pub(super) fn is_of_gone(step: &Step) -> bool {
    let image = InterfaceImage::of_step(&step.target, step.image.as_deref());
    match image {
        Some(image) => name_of(image.index()).is_err_and(|error| is_gone(&error)),
        None => matches!(step.target, Target::InterfaceMtu(_)),
    }
}

pub(super) fn write(name: &str, value: &Value, image: Option<&str>) -> Result<(), TuneError> {
    let Some(mtu) = mtu_of(value) else {
        return Err(TuneError::CannotBe { target: target(name), value: value.clone() });
    };
    let set = || {
        let index = index_of(name, image)?;
        let image = image.and_then(InterfaceImage::parse).unwrap_or_default();
        let moved = moved_with(index.get(), mtu)?;
        let mut of_v6 = Vec::new();
        for (link, after) in &moved {
            // What cannot be restored later is not changed now.
            of_v6.push(OwnMtu::open(link, *after, image.of_v6(link))?);
        }
        let mut set = of_v6.iter_mut().try_for_each(OwnMtu::hold);
        if set.is_ok() {
            set = Netlink::new()?.set_mtu(index, mtu);
        }
        // Also where the MTU was refused: what was held for its sake is let go.
        let settled = of_v6.iter_mut().map(OwnMtu::settle).fold(Ok(()), Result::and);
        set.and(settled)
    };
    set().map_err(|error| {
        // Where IPv6's own MTU is written.
        if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
            return TuneError::open(&target(name), error);
        }
        TuneError::write(&target(name), value, error)
    })
}

/// Gives IPv6 its own MTU of an interface, and of a bridge that follows it, where the program ended while they were held for this step:
/// the interface has the MTU of before.
pub(super) fn let_go(step: &Step) -> Result<(), TuneError> {
    let Target::InterfaceMtu(_) = step.target else { return Ok(()) };
    let image = InterfaceImage::of_step(&step.target, step.image.as_deref());
    let let_go = |image: InterfaceImage| {
        let links = Netlink::new()?.links()?;
        let held = |link: &&Link| image.indices().any(|index| index == link.index);
        links.iter().filter(held).try_for_each(|link| set_own_mtu(link, image.of_v6(link)))
    };
    image
        .map_or(Ok(()), let_go)
        .map_err(|error| TuneError::write(&step.target, &step.before, error))
}

/// An interface that is given this MTU, and the bridge that it is a port of where the kernel moves that one's too: each with the MTU
/// that it then has. None where there is no such interface.
pub(super) fn moved_with(index: u32, mtu: u32) -> io::Result<Vec<(Link, u32)>> {
    let links = Netlink::new()?.links()?;
    let own = links.iter().find(|link| link.index == index).ok_or_else(no_such)?;
    let bridge = bridge_of(&links, index)
        .map(|bridge| (bridge, bridge.as_least_of(&links, &[(index, mtu)])))
        .filter(|(bridge, mtu)| bridge.mtu != *mtu);
    Ok([(own, mtu)].into_iter().chain(bridge).map(|(link, mtu)| (link.clone(), mtu)).collect())
}

fn no_such() -> io::Error {
    io::Error::from_raw_os_error(libc::ENODEV)
}

/// An interface of which IPv6 keeps something that the kernel changes with the MTU of a step, so that it is held meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldByV6 {
    /// The interface of the step, or the bridge that follows it.
    pub interface: String,
    /// IPv6's own MTU of it, bytes, to be restored; `None` where that goes with the interface's.
    pub own: Option<u32>,
}

impl HeldByV6 {
    /// The sysctl of IPv6's own MTU.
    pub(super) fn sysctl(&self) -> String {
        sysctl_of(&self.interface)
    }
}

/// What is held while a step of an interface's MTU is made or undone; nothing of other steps.
pub fn held_by_v6(step: &Step) -> Vec<HeldByV6> {
    let Target::InterfaceMtu(_) = step.target else { return Vec::new() };
    let image = InterfaceImage::of_step(&step.target, step.image.as_deref());
    let Some((image, after)) = image.zip(mtu_of(&step.after)) else { return Vec::new() };
    let links = Netlink::new().and_then(|mut netlink| netlink.links()).unwrap_or_default();
    // A bridge that does not move with this port alone may with another one of the plan.
    let moved = links.iter().filter(|link| image.indices().any(|index| index == link.index));
    let needed = moved.filter(|link| is_needed(link, after, image.of_v6(link)));
    let held = |link: &Link| HeldByV6 { own: image.of_v6(link), interface: link.name.clone() };
    needed.map(held).collect()
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
