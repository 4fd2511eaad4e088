//! The little Python of scripts: assignments and `assert` about numbers.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};

/// Names and what they stand for.
pub(super) type Names = BTreeMap<String, i64>;

/// Runs a block; gives the first assertion that does not hold, with the values of its names.
///
/// # Errors
/// It is not understood.
pub(super) fn run(code: &str, names: &mut Names) -> Result<Option<String>> {
    for statement in statements(code) {
        if let Some(condition) = statement.strip_prefix("assert ") {
            let mut expression = Expression::new(condition, names)?;
            if expression.comparison()? == 0 {
                return Ok(Some(expression.told()));
            }
        } else if let Some((name, value)) = assignment(&statement) {
            let (name, adds) = match name.strip_suffix('+') {
                Some(name) => (name.trim(), true),
                None => (name.trim(), false),
            };
            let mut value = Expression::new(value, names)?.comparison()?;
            if adds {
                value += names.get(name).with_context(|| format!("{name} is not known"))?;
            }
            names.insert(name.to_owned(), value);
        } else if !statement.starts_with("print") {
            bail!("the statement {statement:?}");
        }
    }
    Ok(None)
}

/// `name = value`, `name += value`.
fn assignment(statement: &str) -> Option<(&str, &str)> {
    let (name, value) = statement.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '+' || c == ' ';
    (name.chars().all(is_name) && !value.starts_with('=')).then_some((name, value))
}

/// Statements, without comments and blanks.
fn statements(code: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quote = None;
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(last) = all.last_mut() else { break };
        match (letter, quote) {
            ('\\', None) => {
                letters.next_if_eq(&'\n');
            }
            ('#', None) => while letters.next_if(|c| *c != '\n').is_some() {},
            (';' | '\n', None) => all.push(String::new()),
            ('\'' | '"', None) => {
                quote = Some(letter);
                last.push(letter);
            }
            (_, Some(open)) if open == letter => {
                quote = None;
                last.push(letter);
            }
            _ => last.push(letter),
        }
    }
    all.iter().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

/// An expression of numbers, read from left to right.
struct Expression<'a> {
    words: Vec<String>,
    at: usize,
    names: &'a Names,
}

impl<'a> Expression<'a> {
    /// What stands before the first comma: behind it is what to print.
    fn new(text: &str, names: &'a Names) -> Result<Self> {
        let mut words = Vec::new();
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let len = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if ["==", "<=", ">=", "!=", "//"].iter().any(|sign| rest.starts_with(sign)) {
                2
            } else if "<>+-*/()".contains(first) {
                1
            } else if first == ',' {
                break;
            } else {
                bail!("{first:?} in {text:?}");
            };
            words.push(rest[..len].to_owned());
            rest = rest[len..].trim_start();
        }
        Ok(Self { words, at: 0, names })
    }

    fn next(&mut self, wanted: &[&str]) -> Option<String> {
        let word = self.words.get(self.at)?;
        if !wanted.contains(&word.as_str()) {
            return None;
        }
        self.at += 1;
        Some(word.clone())
    }

    /// A sum, or a chain of comparisons: 1 where all of them hold.
    fn comparison(&mut self) -> Result<i64> {
        let mut left = self.sum()?;
        let mut all = None;
        while let Some(sign) = self.next(&["==", "!=", "<=", ">=", "<", ">"]) {
            let right = self.sum()?;
            let holds = match sign.as_str() {
                "==" => left == right,
                "!=" => left != right,
                "<=" => left <= right,
                ">=" => left >= right,
                "<" => left < right,
                _ => left > right,
            };
            all = Some(all.unwrap_or(true) && holds);
            left = right;
        }
        ensure!(self.at == self.words.len(), "the expression {:?}", self.words);
        Ok(all.map_or(left, i64::from))
    }

    fn sum(&mut self) -> Result<i64> {
        let mut sum = self.product()?;
        while let Some(sign) = self.next(&["+", "-"]) {
            let more = self.product()?;
            sum += if sign == "+" { more } else { -more };
        }
        Ok(sum)
    }

    fn product(&mut self) -> Result<i64> {
        let mut product = self.value()?;
        while let Some(sign) = self.next(&["*", "/", "//"]) {
            let by = self.value()?;
            ensure!(sign == "*" || by != 0, "a division by zero");
            product = if sign == "*" { product * by } else { product.div_euclid(by) };
        }
        Ok(product)
    }

    fn value(&mut self) -> Result<i64> {
        if self.next(&["-"]).is_some() {
            return Ok(-self.value()?);
        }
        if self.next(&["("]).is_some() {
            let sum = self.sum()?;
            ensure!(self.next(&[")"]).is_some(), "no ) follows");
            return Ok(sum);
        }
        let word = self.words.get(self.at).context("an expression ends too soon")?;
        self.at += 1;
        if let Some(digits) = word.strip_prefix("0x") {
            return Ok(i64::from_str_radix(digits, 16)?);
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(word.parse()?);
        }
        self.names.get(word).copied().with_context(|| format!("{word} is not known"))
    }

    /// The names in it and their values.
    fn told(&self) -> String {
        let known = self.words.iter().filter_map(|word| Some((word, self.names.get(word)?)));
        let told: Vec<String> = known.map(|(name, value)| format!("{name} is {value}")).collect();
        told.join(", ")
    }
}
