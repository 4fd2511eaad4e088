//! Reads scripts.

use anyhow::{Context, Result, bail, ensure};
use maxseg_core::units::Time;

use super::pattern::pattern;
use super::script::{Call, Event, Options, Script, What, When};

/// Reads a whole script.
///
/// # Errors
/// Something in it is not understood; the message has the line.
pub(super) fn read(text: &str) -> Result<Script> {
    let mut reader = Reader { text, at: 0 };
    let mut script = Script::default();
    loop {
        reader.skip_blank();
        if reader.rest().is_empty() {
            return Ok(script);
        }
        let line = reader.line();
        if reader.rest().starts_with("--") {
            let option = reader.take_line();
            set_option(&mut script.options, option).with_context(|| format!("line {line}"))?;
        } else {
            let event = reader.event(line).with_context(|| format!("line {line}"))?;
            script.events.push(event);
        }
    }
}

fn set_option(options: &mut Options, option: &str) -> Result<()> {
    let (name, value) = option.trim().split_once('=').unwrap_or((option.trim(), ""));
    let micros = || -> Result<Time> { Ok(Time::from_nanos(1000 * value.trim().parse::<u64>()?)) };
    match name {
        "--tolerance_usecs" => options.tolerance = micros()?,
        "--tcp_ts_tick_usecs" => options.stamp_tick = Some(micros()?),
        "--strict_segments" => options.strict_segments = true,
        "--ip_version" => options.is_v6 = value.trim() == "ipv6",
        // Addresses never stand in a script.
        "--local_ip" | "--gateway_ip" | "--netmask_ip" | "--remote_ip" => {}
        _ => bail!("the option {name}"),
    }
    Ok(())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        1 + self.text[..self.at].matches('\n').count()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips blanks and comments.
    fn skip_blank(&mut self) {
        loop {
            self.skip_space();
            let rest = self.rest();
            if rest.starts_with("//") || rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            } else {
                return;
            }
        }
    }

    /// The rest of the line without its comment.
    fn take_line(&mut self) -> &'a str {
        let rest = self.rest();
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        self.at += line.len();
        let code = line.find("//").map_or(line, |comment| &line[..comment]);
        code.find('#').map_or(code, |comment| &code[..comment]).trim()
    }

    /// What stands up to `close`, which is passed.
    fn take_to(&mut self, close: &str) -> Result<&'a str> {
        let rest = self.rest();
        let end = rest.find(close).with_context(|| format!("no {close} follows"))?;
        self.at += end + close.len();
        Ok(&rest[..end])
    }

    fn event(&mut self, line: usize) -> Result<Event> {
        if self.rest().starts_with('`') {
            let what = self.command()?;
            return Ok(Event { line, when: When::After(Time::ZERO), what });
        }
        let when = self.when()?;
        self.skip_space();
        let until = self.until(when)?;
        self.skip_space();
        let rest = self.rest();
        let what = if rest.starts_with('`') {
            self.command()?
        } else if rest.starts_with("%{") {
            self.at += 2;
            What::Code(self.take_to("}%")?.to_owned())
        } else if rest.starts_with('<') {
            What::Incoming(pattern(&self.take_line()[1..])?)
        } else if rest.starts_with('>') {
            What::Outgoing(pattern(&self.take_line()[1..])?)
        } else {
            What::Call(self.call(until)?)
        };
        Ok(Event { line, when, what })
    }

    fn command(&mut self) -> Result<What> {
        self.at += 1;
        Ok(What::Command(self.take_to("`")?.to_owned()))
    }

    /// `0.1`, `+.1`, `+.1~+.2`, `*`.
    fn when(&mut self) -> Result<When> {
        if self.rest().starts_with('*') {
            self.at += 1;
            return Ok(When::Any);
        }
        let (relative, first) = self.instant()?;
        self.skip_space();
        if !self.rest().starts_with('~') {
            return Ok(if relative { When::After(first) } else { When::At(first) });
        }
        self.at += 1;
        self.skip_space();
        let (_, last) = self.instant()?;
        ensure!(relative, "a window of absolute times");
        Ok(When::Within(first, last))
    }

    /// `...` and a time: when a call that blocks returns.
    fn until(&mut self, when: When) -> Result<Option<Time>> {
        if !self.rest().starts_with("...") {
            return Ok(None);
        }
        ensure!(matches!(when, When::After(_) | When::At(_)), "a range behind a window");
        self.at += 3;
        self.skip_space();
        Ok(Some(self.instant()?.1))
    }

    /// Seconds, and whether a sign says that they count from what was before.
    fn instant(&mut self) -> Result<(bool, Time)> {
        let relative = self.rest().starts_with('+');
        self.at += usize::from(relative);
        let rest = self.rest();
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let mut len = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
        if let Some(dots) = rest[..len].find("...") {
            len = dots;
        }
        ensure!(len > 0, "no time, no option and no command");
        self.at += len;
        Ok((relative, seconds(&rest[..len])?))
    }

    fn call(&mut self, until: Option<Time>) -> Result<Call> {
        let name = self.take_to("(")?.trim().to_owned();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        ensure!(!name.is_empty() && name.chars().all(is_name), "{name:?} is no call");
        let rest = self.rest();
        let end = closing(rest).context("no ) follows")?;
        let arguments = split(&rest[..end]);
        self.at += end + 1;
        self.skip_space();
        ensure!(self.rest().starts_with('='), "{name} without a result");
        self.at += 1;
        let said = self.take_line();
        let mut words = said.split_whitespace();
        let word = words.next().unwrap_or_default();
        let result = match word.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        let result = result.with_context(|| format!("{name} = {word}"))?;
        let error = words.next().filter(|_| result < 0).map(str::to_owned);
        Ok(Call { name, arguments, result, error, until })
    }
}

/// Decimal seconds, to the nanosecond.
fn seconds(text: &str) -> Result<Time> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    ensure!(fraction.len() <= 9, "{text} s is finer than a nanosecond");
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse()? };
    let nanos: u64 = format!("{fraction:0<9}").parse()?;
    Ok(Time::from_nanos(1_000_000_000 * whole + nanos))
}

/// Where the parenthesis closes that was opened before.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' | '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Arguments, at the commas that no bracket encloses.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}
