//! What a formula needs to know: a name, a kind of value, bounds, and what holds where it is not given.

use std::marker::PhantomData;

use serde_json::Value;

use super::quantity::Quantity;

/// A parameter whose values are of type `T`.
#[derive(Debug)]
pub(super) struct Parameter<T> {
    pub(super) name: &'static str,
    meaning: &'static str,
    presence: Presence,
    bounds: Bounds,
    kind: PhantomData<fn() -> T>,
}

/// What holds where a parameter is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must be given.
    Required,
    /// This value, as it would be typed.
    Default(&'static str),
    /// No value at all, which means this.
    Without(&'static str),
}

/// Between what a number must lie, in SI units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    above: Option<f64>,
    least: Option<f64>,
    below: Option<f64>,
    most: Option<f64>,
}

impl<T: Quantity> Parameter<T> {
    pub(super) const fn required(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, meaning, Presence::Required)
    }

    pub(super) const fn with_default(
        name: &'static str,
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self::new(name, meaning, Presence::Default(default))
    }

    /// `without` says what it means that it is not given.
    pub(super) const fn optional(
        name: &'static str,
        without: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self::new(name, meaning, Presence::Without(without))
    }

    const fn new(name: &'static str, meaning: &'static str, presence: Presence) -> Self {
        let bounds = Bounds { above: None, least: None, below: None, most: None };
        Self { name, meaning, presence, bounds, kind: PhantomData }
    }

    pub(super) const fn above(mut self, bound: f64) -> Self {
        self.bounds.above = Some(bound);
        self
    }

    pub(super) const fn at_least(mut self, bound: f64) -> Self {
        self.bounds.least = Some(bound);
        self
    }

    pub(super) const fn below(mut self, bound: f64) -> Self {
        self.bounds.below = Some(bound);
        self
    }

    pub(super) const fn at_most(mut self, bound: f64) -> Self {
        self.bounds.most = Some(bound);
        self
    }

    /// What the command line and the help page need of it.
    pub(super) const fn described(&self) -> Described {
        Described {
            name: self.name,
            meaning: self.meaning,
            presence: self.presence,
            kind: T::KIND,
            example: T::EXAMPLE,
            bounds: self.bounds,
            read: read::<T>,
        }
    }
}

/// A parameter whose type is forgotten.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// Its key on the command line.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub meaning: &'static str,
    /// Whether it must be given.
    pub presence: Presence,
    /// The kind of its values, such as `a rate`.
    pub kind: &'static str,
    /// A value that is valid.
    pub example: &'static str,
    bounds: Bounds,
    read: fn(&str, Bounds) -> Result<Value, String>,
}

impl Described {
    /// A value that will do: that which holds where none is given, and else one of its kind.
    pub(super) const fn example(&self) -> &'static str {
        match self.presence {
            Presence::Default(value) => value,
            Presence::Required | Presence::Without(_) => self.example,
        }
    }

    /// The value as a result holds it, or what is wrong with it.
    pub(super) fn check(&self, text: &str) -> Result<Value, String> {
        (self.read)(text, self.bounds)
    }

    /// "above 0 and below 1", or nothing where every value will do.
    pub fn bounds_in_words(&self) -> String {
        self.bounds.in_words()
    }
}

fn read<T: Quantity>(text: &str, bounds: Bounds) -> Result<Value, String> {
    let value = T::read(text)?;
    if value.number().is_none_or(|number| bounds.hold(number)) {
        return Ok(value.json());
    }
    Err(format!("`{text}` is out of range: {} {}", T::KIND, bounds.in_words()))
}

impl Bounds {
    fn hold(self, number: f64) -> bool {
        self.above.is_none_or(|bound| number > bound)
            && self.least.is_none_or(|bound| number >= bound)
            && self.below.is_none_or(|bound| number < bound)
            && self.most.is_none_or(|bound| number <= bound)
    }

    fn in_words(self) -> String {
        let words = |what: &str, bound: Option<f64>| bound.map(|bound| format!("{what} {bound}"));
        let all = [
            words("above", self.above),
            words("at least", self.least),
            words("below", self.below),
            words("at most", self.most),
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join(" and ")
    }
}

#[cfg(test)]
mod tests {
    use maxseg_core::units::Probability;

    use super::*;

    #[test]
    fn bounds_hold_and_are_told() {
        let loss: Parameter<Probability> = Parameter::required("loss", "").above(0.0).below(1.0);
        let loss = loss.described();
        assert!(loss.check("1%").is_ok());
        for outside in ["0", "100%"] {
            let error = loss.check(outside).unwrap_err();
            assert!(error.ends_with("out of range: a share above 0 and below 1"), "{error}");
        }
        assert!(loss.check("1 s").unwrap_err().contains("not a probability"));
    }
}
