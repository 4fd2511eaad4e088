//! What is found under another name than where it is looked for.

/// What does what two options that contradict each other were to do; `path` has the words of the command.
pub(super) fn instead_of(path: &str, options: [&str; 2]) -> Option<&'static str> {
    let has = |name: &str| options.iter().any(|option| option.starts_with(name));
    let is_interface_of_file = path.ends_with(" capture") && has("--read ") && has("--interface ");
    is_interface_of_file.then_some(
        "a file has the interfaces of its capture: `tshark -r FILE -Y 'frame.interface_name == \"eth0\"' -w OUT.pcapng` writes the packets of \
         one, and `maxseg capture --read OUT.pcapng` prints them",
    )
}

/// The command or option that does what one that is not there was to do.
pub(super) fn elsewhere(path: &str, option: &str) -> Option<&'static str> {
    let is_of = |command: &str| path.ends_with(command);
    match option {
        "--record" | "-w" if is_of(" connections") => Some(
            "`maxseg top --record FILE` records, without a screen where there is no terminal; `maxseg connections --open FILE` lists it",
        ),
        "--read" | "-r" if is_of(" connections") || is_of(" top") => {
            Some("--open FILE reads a recording of `maxseg top --record FILE`")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_elsewhere_is_told() {
        let told = elsewhere("maxseg connections", "--record").unwrap();
        assert!(told.contains("top --record FILE"), "{told}");
        assert!(elsewhere("maxseg top", "-r").unwrap().starts_with("--open FILE"));
        assert_eq!(elsewhere("maxseg run", "--record"), None);
        let both = ["--read <FILE>", "--interface <NAME>"];
        assert!(instead_of("maxseg capture", both).unwrap().contains("frame.interface_name"));
        assert_eq!(instead_of("maxseg capture", ["--read <FILE>", "--count <N>"]), None);
    }
}
