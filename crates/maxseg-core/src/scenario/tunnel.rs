//! A tunnel as a file writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::spec::IpNumber;
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
    /// WireGuard.
    Wireguard,
    /// IPsec ESP in tunnel mode, AES-GCM.
    EspGcm,
    /// The same in UDP, to pass a NAT.
    EspGcmNatT,
    /// IPsec ESP in tunnel mode, AES-CBC with HMAC-SHA1-96.
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

impl<'de> Deserialize<'de> for TunnelEntry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            kind: TunnelName,
            #[serde(default)]
            outer: IpNumber,
        }
        struct WordOrTable;
        impl<'de> serde::de::Visitor<'de> for WordOrTable {
            type Value = TunnelEntry;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a tunnel such as \"wireguard\" or { kind = \"wireguard\", outer = 6 }")
            }
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<TunnelEntry, E> {
                let name =
                    TunnelName::deserialize(serde::de::value::StrDeserializer::<E>::new(word))?;
                name.over(IpVersion::V4).map_err(E::custom)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<TunnelEntry, A::Error> {
                let table = Table::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                table.kind.over(table.outer.0).map_err(serde::de::Error::custom)
            }
        }
        from.deserialize_any(WordOrTable)
    }
}

impl JsonSchema for TunnelEntry {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Tunnel".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let name = generator.subschema_for::<TunnelName>();
        let outer = generator.subschema_for::<IpNumber>();
        schemars::json_schema!({
            "description": "what wraps each packet; over IPv4 unless the table says otherwise",
            "anyOf": [
                name,
                {
                    "type": "object",
                    "properties": { "kind": name, "outer": outer },
                    "required": ["kind"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
