//! Sysctls of the network (`/proc/sys/net`).

use std::fs::OpenOptions;
use std::io::{self, Write as _};

use maxseg_core::similar::closest;
use maxseg_core::tune::{Target, Value};

use super::interface_image::{InterfaceImage, index, is_gone, name_of};
use super::{Reading, TuneError};
use crate::observe::host::{sysctl, sysctl_file};

fn target(name: &str) -> Target {
    Target::Sysctl(name.to_owned())
}

/// What a sysctl of an interface is named by: the interface has this place in it (`net.ipv4.conf.eth0.rp_filter`).
const INTERFACE: usize = 3;

/// The value; of a sysctl of an interface that of the interface of this image, whatever its name is by now.
pub(super) fn read(name: &str, image: Option<&str>) -> Result<Reading, TuneError> {
    let Some(now) = name_now(name, image)? else { return Ok(Reading::plain(Value::Absent)) };
    let of_index = || Some(InterfaceImage::of(index(&interface_in(name)?)?).to_string());
    let image = image.map(str::to_owned).or_else(of_index);
    match sysctl(&now) {
        Ok(text) => Ok(Reading { value: Value::of(&text), image }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Reading::plain(Value::Absent)),
        Err(error) => Err(TuneError::read(&target(name), error)),
    }
}

/// The kernel takes what one write(2) has.
pub(super) fn write(name: &str, value: &Value, image: Option<&str>) -> Result<(), TuneError> {
    let Value::Text(text) = value else {
        return Err(TuneError::CannotBe { target: target(name), value: value.clone() });
    };
    let mut file = open(name, image)?;
    file.write_all(format!("{text}\n").as_bytes())
        .map_err(|error| TuneError::write(&target(name), value, error))
}

/// Whether this user may write it: nothing is written.
pub(super) fn may_write(name: &str, image: Option<&str>) -> Result<(), TuneError> {
    open(name, image).map(|_| ())
}

fn open(name: &str, image: Option<&str>) -> Result<std::fs::File, TuneError> {
    let gone = || TuneError::open(&target(name), io::ErrorKind::NotFound.into());
    let now = name_now(name, image)?.ok_or_else(gone)?;
    let opened = OpenOptions::new().write(true).open(sysctl_file(&now));
    opened.map_err(|error| TuneError::open(&target(name), error))
}

/// The interface that a sysctl is of; `None` of one of the whole namespace, and of all interfaces or later ones.
pub(super) fn interface_in(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split('.').collect();
    let is_of_one = matches!(words[..], ["net", _, "conf" | "neigh", word, _, ..] if !matches!(word, "all" | "default"));
    is_of_one.then(|| words[INTERFACE].replace('/', "."))
}

/// The name that a sysctl has by now; `None` where its interface is gone.
fn name_now(name: &str, image: Option<&str>) -> Result<Option<String>, TuneError> {
    let image = image.and_then(InterfaceImage::parse);
    let Some((image, _)) = image.zip(interface_in(name)) else { return Ok(Some(name.to_owned())) };
    match name_of(image.index()) {
        Ok(now) => {
            let mut words: Vec<String> = name.split('.').map(str::to_owned).collect();
            words[INTERFACE] = now.replace('.', "/");
            Ok(Some(words.join(".")))
        }
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(TuneError::read(&target(name), error)),
    }
}

/// The sysctl of the same folder that was likely meant. The names of all of them begin alike, which makes none nearer.
pub(super) fn near(name: &str) -> Option<String> {
    let word = |name: &str| name.rsplit_once('.').map_or(name, |(_, word)| word).to_owned();
    let known = neighbours(name);
    let words: Vec<String> = known.iter().map(|name| word(name)).collect();
    let near = closest(&word(name), words.iter().map(String::as_str))?;
    known.into_iter().find(|name| word(name) == near)
}

/// Sysctls of the same folder.
fn neighbours(name: &str) -> Vec<String> {
    let path = sysctl_file(name);
    let Some(folder) = path.parent() else { return Vec::new() };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let stem = name.rsplit_once('.').map_or("net", |(stem, _)| stem);
    names.map(|word| format!("{stem}.{}", word.replace('.', "/"))).collect()
}

/// A number; `default` where this namespace does not have it.
pub(super) fn number(name: &str, default: u32) -> u32 {
    sysctl(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_of_a_sysctl_is_found() {
        for (name, interface) in [
            ("net.ipv4.conf.eth0.rp_filter", Some("eth0")),
            ("net.ipv6.neigh.eth0/100.retrans_time_ms", Some("eth0.100")),
            ("net.mpls.conf.eth0.input", Some("eth0")),
            ("net.ipv4.conf.all.rp_filter", None),
            ("net.ipv6.conf.default.mtu", None),
            ("net.ipv4.tcp_rmem", None),
            ("net.core.rmem_max", None),
        ] {
            assert_eq!(interface_in(name).as_deref(), interface, "{name}");
        }
    }
}
