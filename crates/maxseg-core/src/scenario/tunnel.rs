//! A tunnel as a file writes it.

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::values::IpNumber;
use crate::framing::{EspCipher, GreFields, IpVersion, Tunnel, TunnelKind};

/// `"wireguard"`, or a table that names the outer IP as well.
#[derive(Debug, Clone, Copy)]
pub struct TunnelEntry(pub Tunnel);

/// The tunnels by name.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum TunnelName {
    /// GRE without optional fields.
    Gre,
    /// GRE with a key.
    GreKey,
    /// IP in IP.
    Ipip,
    /// IPv6 in IPv4.
    #[serde(rename = "6in4")]
    SixInFour,
    /// VXLAN.
    Vxlan,
    /// Geneve without options.
    Geneve,
    /// `WireGuard`.
    Wireguard,
    /// ESP in tunnel mode, AES-GCM.
    EspGcm,
    /// The same in UDP, to pass a NAT.
    EspGcmNatT,
    /// ESP in tunnel mode, AES-CBC with HMAC-SHA1-96.
    EspCbcSha1,
    /// The same in UDP, to pass a NAT.
    EspCbcSha1NatT,
    /// GTP-U.
    GtpU,
}

impl TunnelName {
    fn over(self, outer: IpVersion) -> Result<TunnelEntry, &'static str> {
        let esp = |cipher, nat_traversal| TunnelKind::Esp { cipher, nat_traversal };
        let kind = match self {
            Self::Gre => TunnelKind::Gre(GreFields::default()),
            Self::GreKey => TunnelKind::Gre(GreFields { key: true, ..GreFields::default() }),
            Self::Ipip => TunnelKind::Ipip,
            Self::SixInFour if outer == IpVersion::V6 => {
                return Err("6in4 is IPv6 in IPv4: its outer IP is 4");
            }
            Self::SixInFour => TunnelKind::SixInFour,
            Self::Vxlan => TunnelKind::Vxlan,
            Self::Geneve => TunnelKind::Geneve,
            Self::Wireguard => TunnelKind::Wireguard,
            Self::EspGcm => esp(EspCipher::Gcm, false),
            Self::EspGcmNatT => esp(EspCipher::Gcm, true),
            Self::EspCbcSha1 => esp(EspCipher::CbcSha1, false),
            Self::EspCbcSha1NatT => esp(EspCipher::CbcSha1, true),
            Self::GtpU => TunnelKind::GtpU,
        };
        Ok(TunnelEntry(Tunnel { kind, outer }))
    }
}

/// A tunnel, and the IP that carries it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TunnelTable {
    /// Which tunnel.
    #[schemars(extend("x-example" = "\"wireguard\""))]
    kind: TunnelName,
    /// The IP version of the packets that carry it; 4 unless given.
    #[serde(default)]
    #[schemars(extend("x-example" = "4", "x-default" = "4"))]
    outer: IpNumber,
}

/// Which words and tables name a tunnel.
const EXPECTED: &str = "a tunnel such as \"wireguard\" or { kind = \"wireguard\", outer = 6 }";

fn by_word<E: serde::de::Error>(word: &str) -> Result<TunnelEntry, E> {
    let name = TunnelName::deserialize(serde::de::value::StrDeserializer::<E>::new(word))?;
    name.over(IpVersion::V4).map_err(E::custom)
}

fn by_table<'de, A: MapAccess<'de>>(map: A) -> Result<TunnelEntry, A::Error> {
    let table = TunnelTable::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
    table.kind.over(table.outer.0).map_err(serde::de::Error::custom)
}

impl<'de> Deserialize<'de> for TunnelEntry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct WordOrTable;
        impl<'de> Visitor<'de> for WordOrTable {
            type Value = TunnelEntry;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<TunnelEntry, E> {
                by_word(word)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TunnelEntry, A::Error> {
                by_table(map)
            }
        }
        from.deserialize_any(WordOrTable)
    }
}

/// A tunnel, or `false` for none: beside others in a sweep, or in place of the file's.
#[derive(Debug, Clone, Copy)]
pub struct TunnelOrNone(pub Option<Tunnel>);

impl<'de> Deserialize<'de> for TunnelOrNone {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TunnelOrFalse;
        impl<'de> Visitor<'de> for TunnelOrFalse {
            type Value = TunnelOrNone;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{EXPECTED}, or false")
            }
            fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<TunnelOrNone, E> {
                if on {
                    return Err(E::invalid_type(serde::de::Unexpected::Bool(on), &self));
                }
                Ok(TunnelOrNone(None))
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<TunnelOrNone, E> {
                if word == "none" {
                    return Err(E::custom("a link without a tunnel has `tunnel = false`"));
                }
                by_word(word).map(|entry| TunnelOrNone(Some(entry.0)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TunnelOrNone, A::Error> {
                by_table(map).map(|entry| TunnelOrNone(Some(entry.0)))
            }
        }
        from.deserialize_any(TunnelOrFalse)
    }
}

impl JsonSchema for TunnelOrNone {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TunnelOrNone".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let name = generator.subschema_for::<TunnelName>();
        let table = generator.subschema_for::<TunnelTable>();
        schemars::json_schema!({
            "description": "false for none, or what wraps each packet; over IPv4 unless the table says otherwise",
            "anyOf": [{ "const": false }, name, table],
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::framing::IpPacket;
    use crate::scenario::Scenario;
    use crate::units::Bytes;

    fn scenario(hop: &str) -> Result<Scenario, String> {
        let text = format!("[[hop]]\nrate = \"28.8 kbit/s\"\ndelay = \"90 ms\"\n{hop}");
        Scenario::from_toml("test", &text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tunnel_lowers_the_mtu_and_wraps_every_packet() {
        let tunnelled =
            scenario("framing = \"ethernet\"\ntunnel = { kind = \"wireguard\", outer = 6 }")
                .unwrap();
        let link = &tunnelled.path.hops[0].forward;
        assert_eq!(link.mtu.get(), 1420);
        // Less 40 bytes of headers, and 12 of timestamps.
        assert_eq!(tunnelled.mss(&tunnelled.flows[0]).effective.get(), 1368);
        assert_eq!(link.wire_bytes(1420_u32), Bytes::new(1538));
        assert_eq!(link.wire_bytes(40_u32), Bytes::new(48 + 80 + 38));
        let word = scenario("tunnel = \"gre\"\nreverse = { mtu = 1000 }").unwrap();
        assert_eq!(word.path.hops[0].forward.mtu.get(), 1476);
        assert_eq!(word.path.hops[0].reverse.mtu.get(), 976);
        assert_ne!(word.content_hash(), scenario("mtu = 1476").unwrap().content_hash());
    }

    #[test]
    fn a_link_without_a_tunnel_is_written_as_before_there_were_any() {
        let plain = serde_json::to_value(&scenario("").unwrap().path.hops[0].forward).unwrap();
        assert_eq!(plain.get("tunnel"), None);
        let off = serde_json::to_value(&scenario("tunnel = false").unwrap().path.hops[0].forward);
        assert_eq!(off.unwrap(), plain);
        let gre = serde_json::to_value(&scenario("tunnel = \"gre\"").unwrap().path.hops[0].forward);
        let fields = serde_json::json!({
            "kind": "gre", "key": false, "sequence": false, "checksum": false, "outer": 4
        });
        assert_eq!(gre.unwrap().get("tunnel"), Some(&fields));
    }

    #[test]
    fn what_cannot_be_a_tunnel_is_said() {
        let cases = [
            ("tunnel = \"stunnel\"", "`stunnel` is not a value of `tunnel`"),
            ("tunnel = { outer = 6 }", "has no `kind`"),
            ("tunnel = { kind = \"6in4\", outer = 6 }", "6in4 is IPv6 in IPv4"),
            ("tunnel = \"6in4\"", "this tunnel carries IPv6"),
            ("tunnel = \"none\"", "has `tunnel = false`"),
            ("tunnel = true", "it takes a tunnel such as"),
            ("mtu = 100\ntunnel = \"vxlan\"", "leaves less than the 68 bytes"),
        ];
        for (hop, want) in cases {
            let error = scenario(hop).unwrap_err();
            assert!(error.contains(want), "{hop}: {error}");
        }
    }

    #[test]
    fn an_exposure_lasts_as_long_as_its_bits() {
        let link = scenario("framing = \"serial\"").unwrap().path.hops.remove(0).forward;
        let exposure = link.exposure(IpPacket::from(1500_u32));
        assert_eq!(exposure.bytes, 1508);
        assert_eq!(exposure.airtime.as_nanos(), 15_080 * 1_000_000_000 / 28_800);
    }
}
