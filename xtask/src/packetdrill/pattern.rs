//! Reads packets: `[ect0] P. 1:1001(1000) ack 1 win 257 <nop,nop,TS val 1 ecr 2>`.

use anyhow::{Context, Result, bail, ensure};

use super::script::{Flags, Pattern, TcpOptions};

/// Reads what stands behind `<` or `>`.
pub(super) fn pattern(text: &str) -> Result<Pattern> {
    let mut pattern = Pattern { options: Some(TcpOptions::default()), ..Pattern::default() };
    let mut head = text.trim();
    if let Some((before, behind)) = head.split_once('<') {
        let inside = behind.trim_end().strip_suffix('>').context("options without an end")?;
        pattern.options = options(inside)?;
        head = before;
    }
    let mut words = head.split_whitespace().peekable();
    if let Some(word) = words.next_if(|word| word.starts_with('[')) {
        pattern.ip_ecn = Some(word.trim_matches(['[', ']']).to_owned());
    }
    pattern.flags = flags(words.next().context("no flags")?)?;
    (pattern.seq, pattern.len) = numbers(words.next().context("no numbers")?)?;
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("nothing behind {word}"))?.parse()?;
        match word {
            "ack" => pattern.ack = Some(value),
            "win" => pattern.window = Some(value),
            _ => bail!("{word} in a packet"),
        }
    }
    ensure!(
        pattern.flags.ack == pattern.ack.is_some(),
        "an ACK flag without a number, or the reverse"
    );
    Ok(pattern)
}

fn flags(word: &str) -> Result<Flags> {
    let mut flags = Flags::default();
    for letter in word.chars() {
        match letter {
            'S' => flags.syn = true,
            'F' => flags.fin = true,
            'R' => flags.rst = true,
            'P' => flags.push = true,
            'E' => flags.ece = true,
            'W' => flags.cwr = true,
            '.' => flags.ack = true,
            '-' => {}
            _ => bail!("the flag {letter}"),
        }
    }
    Ok(flags)
}

/// `first:last(length)`: the first number and the payload.
fn numbers(word: &str) -> Result<(u64, u64)> {
    let parts = word.strip_suffix(')').and_then(|word| word.split_once('('));
    let (range, len) = parts.with_context(|| format!("{word:?} are no numbers"))?;
    let (first, last) = range.split_once(':').context("no range")?;
    let (first, last, len): (u64, u64, u64) = (first.parse()?, last.parse()?, len.parse()?);
    ensure!(first + len == last, "{word}: the length is not the range's");
    Ok((first, len))
}

/// `None` for `...`.
fn options(text: &str) -> Result<Option<TcpOptions>> {
    let mut options = TcpOptions::default();
    for option in text.split(',').map(str::trim) {
        let words: Vec<&str> = option.split_whitespace().collect();
        match words[..] {
            ["..."] => return Ok(None),
            [] | ["nop" | "eol"] => {}
            ["sackOK"] => options.sack_permitted = true,
            ["mss", mss] => options.mss = Some(mss.parse()?),
            ["wscale", scale] => options.window_scale = Some(scale.parse()?),
            ["TS", "val", value, "ecr", echo] => {
                options.stamps = Some((value.parse()?, echo.parse()?));
            }
            ["sack", ref blocks @ ..] => {
                for block in blocks {
                    let (start, end) = block.split_once(':').context("no block")?;
                    options.sack.push((start.parse()?, end.parse()?));
                }
            }
            _ => bail!("the TCP option {option}"),
        }
    }
    Ok(Some(options))
}
