//! What the handshake of a connection leaves of the settings of its ends.

use super::{Flow, Scenario};
use crate::settings::{Settings, WindowScale};

impl Scenario {
    /// [`Self::settings_in_use`] as both ends have agreed on them: both scale their windows, or neither does (RFC 7323 §2.2).
    pub fn agreed_settings(&self, flow: &Flow) -> (Settings, Settings) {
        let (mut sender, mut receiver) = self.settings_in_use(flow);
        if [&sender, &receiver].iter().any(|host| host.window_scale == WindowScale::Off) {
            for host in [&mut sender, &mut receiver] {
                // A simulator's stack has no field that bounds the window.
                if host.window_scale != WindowScale::Unlimited {
                    host.window_scale = WindowScale::Off;
                }
            }
        }
        (sender, receiver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Config;

    #[test]
    fn both_ends_scale_or_neither() {
        let cases = [
            ("off", "auto", [WindowScale::Off; 2]),
            ("auto", "off", [WindowScale::Off; 2]),
            ("auto", "2", [WindowScale::Auto, WindowScale::Shift(2)]),
            ("off", "unlimited", [WindowScale::Off, WindowScale::Unlimited]),
        ];
        for (sender, receiver, wanted) in cases {
            let value = |word: &str| {
                if word == "2" { word.to_owned() } else { format!("\"{word}\"") }
            };
            let text = format!(
                "sender = {{ stack = \"rfc\", window_scale = {} }}\nreceiver = {{ stack = \"rfc\", window_scale = {} }}\n\
                 [[hop]]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n",
                value(sender),
                value(receiver)
            );
            let scenario = Scenario::from_toml("test", &text).unwrap();
            let config = Config::one_way(&scenario, &scenario.flows[0]);
            let agreed = [&config.sender, &config.receiver].map(|host| host.window_scale);
            assert_eq!(agreed, wanted, "{sender} and {receiver}");
        }
    }
}
