//! What the journal keeps of an interface besides its value, so that the very same one is found and restored, and how it is found.
//!
//! `ifindex 5`, and behind it, where there is something: `mtu6 1450`, IPv6's own MTU of it; `bridge 7`, the bridge whose MTU follows
//! it, and that one's `mtu6 1450`.

use std::fmt;
use std::io;

use maxseg_core::tune::{Target, Value};

use crate::netlink::{InterfaceFacts, InterfaceIndex, Link, Netlink};

/// What is kept of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct InterfaceImage {
    /// Its index.
    index: u32,
    /// IPv6's own MTU of it, where that is another one.
    of_v6: Option<u32>,
    /// The bridge that it is a port of and that follows it: its index, and IPv6's own MTU of it, where that is another one.
    bridge: Option<(u32, Option<u32>)>,
}

impl InterfaceImage {
    /// Of an index alone.
    pub(super) fn of(index: u32) -> Self {
        Self { index, ..Self::default() }
    }

    /// The same with IPv6's own MTU, and with the bridge and its own.
    pub(super) const fn with(self, of_v6: Option<u32>, bridge: Option<(u32, Option<u32>)>) -> Self {
        Self { of_v6, bridge, ..self }
    }

    /// The interface's index.
    pub(super) const fn index(&self) -> u32 {
        self.index
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut image = Self::default();
        while let (Some(word), Some(number)) = (words.next(), words.next()) {
            let number = number.parse().ok()?;
            match (word, &mut image.bridge) {
                ("ifindex", _) => image.index = number,
                ("mtu6", None) => image.of_v6 = Some(number),
                ("mtu6", Some((_, of_v6))) => *of_v6 = Some(number),
                ("bridge", bridge) => *bridge = Some((number, None)),
                // What a later version keeps.
                _ => {}
            }
        }
        (image.index != 0).then_some(image)
    }

    /// Of the image of a step; `None` of a route's, or where the journal of an earlier version has the name alone.
    pub(super) fn of_step(target: &Target, image: Option<&str>) -> Option<Self> {
        match target {
            Target::InterfaceMtu(_) | Target::Sysctl(_) => Self::parse(image?),
            Target::Route { .. } | Target::Socket { .. } | Target::Clamp(_) | Target::File(_) => {
                None
            }
        }
    }

    /// IPv6's own MTU of the interface, or of the bridge, where it was another one.
    pub(super) fn of_v6(&self, link: &Link) -> Option<u32> {
        match self.bridge {
            Some((bridge, of_v6)) if bridge == link.index => of_v6,
            _ if self.index == link.index => self.of_v6,
            _ => None,
        }
    }

    /// The interface and the bridge that follows it.
    pub(super) fn indices(&self) -> impl Iterator<Item = u32> {
        [Some(self.index), self.bridge.map(|(bridge, _)| bridge)].into_iter().flatten()
    }
}

impl fmt::Display for InterfaceImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_v6 = |f: &mut fmt::Formatter<'_>, own: Option<u32>| match own {
            Some(own) => write!(f, " mtu6 {own}"),
            None => Ok(()),
        };
        write!(f, "ifindex {}", self.index)?;
        of_v6(f, self.of_v6)?;
        let Some((bridge, own)) = self.bridge else { return Ok(()) };
        write!(f, " bridge {bridge}")?;
        of_v6(f, own)
    }
}

/// What there is to know of an interface.
pub(super) fn facts(index: InterfaceIndex) -> io::Result<InterfaceFacts> {
    Netlink::new()?.interface_facts(index.get())
}

/// The name of an interface, by its index.
pub(super) fn name_of(index: u32) -> io::Result<String> {
    Ok(facts(InterfaceIndex::new(index))?.name)
}

/// Whether the interface that was asked for is not there.
pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENODEV | libc::ENXIO))
}

/// Its index; `None` where there is none of this name.
pub(super) fn index(name: &str) -> Option<u32> {
    Netlink::interface(name).ok().map(InterfaceIndex::get)
}

/// The MTU that a value is.
pub(super) fn mtu_of(value: &Value) -> Option<u32> {
    value.number().and_then(|mtu| u32::try_from(mtu).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_read_as_it_was_written() {
        for text in [
            "ifindex 5",
            "ifindex 5 mtu6 1450",
            "ifindex 5 bridge 7",
            "ifindex 5 bridge 7 mtu6 1480",
            "ifindex 5 mtu6 1450 bridge 7 mtu6 1480",
        ] {
            let image = InterfaceImage::parse(text).unwrap();
            assert_eq!(image.to_string(), text);
            assert_eq!(image.index, 5);
        }
        for text in ["", "5", "ifindex", "ifindex x", r#"{"added":true}"#] {
            assert_eq!(InterfaceImage::parse(text), None, "{text}");
        }
    }
}
