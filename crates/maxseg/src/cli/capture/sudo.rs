//! For whom sudo runs this.

/// User and group of whoever called sudo; `None` where root did, or nobody.
pub(super) fn user() -> Option<(u32, u32)> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    from(number("SUDO_UID"), number("SUDO_GID"))
}

/// It is not trusted with anything: the process that believes it gives rights up, and gains none.
fn from(user: Option<u32>, group: Option<u32>) -> Option<(u32, u32)> {
    Some((user.filter(|user| *user != 0)?, group?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_nobody_to_become() {
        let cases = [
            (Some(1000), Some(100), Some((1000, 100))),
            (Some(0), Some(0), None),
            (None, Some(100), None),
            (Some(1000), None, None),
        ];
        for (user, group, want) in cases {
            assert_eq!(from(user, group), want);
        }
    }
}
