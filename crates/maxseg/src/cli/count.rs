//! How many of something, as an option has it.

/// A whole number from 1.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("it is a whole number from 1, such as 100000".to_owned()),
        Ok(count) => Ok(count),
    }
}
