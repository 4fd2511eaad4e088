//! A point of a sweep as the text of a scenario, for the lab.

use anyhow::{Context, Result};
use maxseg_core::advise::Change;
use toml::Table;

/// The text of a scenario with the changes of a sweep.
///
/// # Errors
/// It is no TOML, or a change is none of a sweep's.
#[expect(clippy::wildcard_enum_match_arm, reason = "a sweep makes no other change")]
pub(super) fn text_with(text: &str, changes: &[Change]) -> Result<String> {
    if changes.is_empty() {
        return Ok(text.to_owned());
    }
    let mut table: Table = text.parse()?;
    let mut set = |end: &str, key: &str, value: toml::Value| -> Result<()> {
        let end = table.get_mut(end).and_then(toml::Value::as_table_mut).context("no such host")?;
        end.insert(key.to_owned(), value);
        Ok(())
    };
    for change in changes {
        match *change {
            Change::Window(bytes) => set("receiver", "window", bytes.to_string().into())?,
            Change::ReceiveBuffer(bytes) => {
                let sizes = [4096, 131_072, i64::try_from(bytes.get())?.max(6_291_456)];
                let mut linux = Table::new();
                linux.insert("tcp_rmem".to_owned(), sizes.to_vec().into());
                set("receiver", "linux", linux.into())?;
                set("receiver", "window", "auto".into())?;
            }
            Change::SegmentSize(mss) => {
                for end in ["sender", "receiver"] {
                    set(end, "mss", i64::from(mss.get()).into())?;
                }
            }
            Change::Congestion(name) => set("sender", "congestion", name.word().into())?,
            other => anyhow::bail!("{} is none of a sweep's", other.describe()),
        }
    }
    Ok(table.to_string())
}

#[cfg(test)]
mod tests {
    use maxseg_core::advise::changed;
    use maxseg_core::scenario::Scenario;
    use maxseg_core::settings::CongestionName;
    use maxseg_core::units::{Bytes, Mss};

    use super::super::draw::Drawn;
    use super::*;

    #[test]
    fn the_text_of_a_sweeps_point_is_its_scenario() {
        let sizes =
            [Change::SegmentSize(Mss::new(536).unwrap()), Change::Congestion(CongestionName::Reno)];
        for number in 0..16 {
            let drawn = Drawn::draw("sweep", 1, number);
            let scenario = drawn.scenario().unwrap();
            for window in
                [Change::Window(Bytes::new(70_000)), Change::ReceiveBuffer(Bytes::new(16 << 20))]
            {
                let changes = [sizes[0], window, sizes[1]];
                let text = text_with(&drawn.text, &changes).unwrap();
                let read = Scenario::from_toml("a point of a sweep", &text).unwrap();
                assert_eq!(read, changed(&scenario, &changes), "{text}");
            }
        }
    }
}
