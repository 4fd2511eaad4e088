//! The pages of the documents' experiments are as they are generated: model and simulator exactly, the lab as it is stored.

#[test]
#[cfg(target_os = "linux")]
fn tables_of_engines_and_the_index_of_grades_are_those_of_today() {
    let expected = xtask::experiments::expected().unwrap_or_else(|error| panic!("{error:#}"));
    for (file, text) in expected {
        let kept = std::fs::read_to_string(xtask::root().join(&file)).unwrap();
        let differs = kept.lines().zip(text.lines()).find(|(kept, now)| kept != now);
        assert!(kept == text, "{file}: {differs:?}: `cargo xtask experiments` writes it anew");
    }
}
