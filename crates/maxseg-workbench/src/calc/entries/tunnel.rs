//! `tunnel`

use maxseg_core::framing::{IpVersion, Tunnel};
use maxseg_core::scenario::TunnelEntry;
use maxseg_core::units::Mtu;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde_json::{Value, json};

use super::common::IP;
use crate::calc::parameter::Parameter;
use crate::calc::quantity::{Quantity, no_such};
use crate::calc::{Answer, Entry, Group, Inputs, Unit};
use crate::error::Error;

const KIND: Parameter<Kind> =
    Parameter::required("kind", "encapsulation, as `tunnel` in a scenario");
const MTU: Parameter<Mtu> = Parameter::with_default("mtu", "1500", "MTU of the outer path");
const OUTER: Parameter<IpVersion> =
    Parameter::with_default("outer", "4", "version of the IP that carries the tunnel");

pub(super) const ENTRY: Entry = Entry {
    name: "tunnel",
    group: Group::Sizes,
    about: "The largest packet and segment that fit into a tunnel",
    parameters: &[KIND.described(), MTU.described(), OUTER.described(), IP.described()],
    formula: "inner_mtu = mtu − outer IP header − the tunnel's headers (gre 4, gre-key 8, ipip and 6in4 0, vxlan \
              and geneve 30 with the inner Ethernet header, wireguard 40, gtp-u 16; esp-gcm 32 and esp-cbc-sha1 36, \
              8 more in UDP, then down to whole blocks of 4 or 16 less a trailer of 2); mss = inner_mtu − IP \
              header − 20",
    source: "RFC 2784, RFC 2890, RFC 2003, RFC 4213, RFC 7348, RFC 8926, RFC 4303, RFC 4106, RFC 3602, RFC 3948, \
             3GPP TS 29.281; WireGuard's protocol",
    range: || {
        "Exact for headers without further options. Outer packets must not be fragmented. TCP options come off \
         the MSS in each segment: 12 with timestamps."
            .to_owned()
    },
    example: "kind=wireguard mtu=1500 outer=6",
    compute,
};

fn compute(inputs: &Inputs<'_>) -> Result<Answer, Error> {
    let (kind, outer_mtu) = (inputs.get(&KIND)?, inputs.get(&MTU)?);
    let outer = inputs.get(&OUTER)?;
    let tunnel = kind.over(outer).map_err(|what| inputs.refuse(&OUTER, what))?;
    let given = inputs.get(&IP)?;
    let inner_ip = tunnel.carries().unwrap_or(given);
    let Some(inner) = tunnel.largest_inner(outer_mtu) else {
        let what = format!("nothing that IP must carry fits: an MTU is at least {}", Mtu::MIN);
        return Err(inputs.refuse(&MTU, what));
    };
    let Some(mss) = tunnel.mss(outer_mtu, inner_ip) else {
        return Err(inputs.refuse(&MTU, "nothing is left for a segment's payload"));
    };
    let packet = tunnel.wrap(inner.bytes(), inner).length();
    let around = packet.saturating_sub(inner.bytes());
    let answer = Answer::default()
        .count("inner_mtu", u64::from(inner.get()), Unit::Bytes)
        .count("mss", mss.get(), Unit::Bytes)
        .count("around", around.get(), Unit::Bytes)
        .count("outer_packet", packet.get(), Unit::Bytes)
        .count("unused", outer_mtu.bytes().saturating_sub(packet).get(), Unit::Bytes);
    let small = inner_ip == IpVersion::V6 && inner.get() < Mtu::IPV6_MIN;
    Ok(answer
        .warn_if(small, "less than the 1280 bytes that every IPv6 link must carry (RFC 8200 §5)")
        .warn_if(inner_ip != given, "it carries IPv6 only: the segment size is that of IPv6"))
}

/// A tunnel's word in a scenario.
#[derive(Debug, Clone)]
struct Kind(String);

impl Kind {
    fn over(&self, outer: IpVersion) -> Result<Tunnel, String> {
        let table = json!({ "kind": self.0, "outer": outer.number() });
        let entry = TunnelEntry::deserialize(table).map_err(|error| error.to_string())?;
        Ok(entry.0)
    }
}

impl Quantity for Kind {
    const KIND: &'static str = "a tunnel";
    const EXAMPLE: &'static str = "wireguard";
    fn read(text: &str) -> Result<Self, String> {
        let word: StrDeserializer<'_, WordError> = text.trim().into_deserializer();
        match TunnelEntry::deserialize(word) {
            Ok(_) => Ok(Self(text.trim().to_owned())),
            Err(error) => Err(no_such("tunnel", &error)),
        }
    }
    fn number(&self) -> Option<f64> {
        None
    }
    fn json(&self) -> Value {
        json!(self.0)
    }
}
