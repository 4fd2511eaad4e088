//! What is there after each way to end.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::temporary::Named;
use super::*;

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let names = fs::read_dir(folder).unwrap().map(name);
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_not_published_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    fs::write(&file, "old").unwrap();
    let failed = replace(&file, |out| {
        out.write_all(b"ne")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(fs::read(&file).unwrap(), b"old");
    drop(WholeFile::create(&folder.path().join("new.html")).unwrap());
    assert_eq!(names(folder.path()), ["page.html"]);
}

/// Who is killed before the end leaves nothing: there is no name to leave.
#[test]
fn what_is_written_has_no_name_until_it_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let mut new = WholeFile::create(&folder.path().join("new.html")).unwrap();
    new.write_all(b"half").unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
    new.finish(b" and half").unwrap();
    assert_eq!(fs::read(folder.path().join("new.html")).unwrap(), b"half and half");
}

#[test]
fn where_files_need_a_name_they_have_one_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("page.html");
    for (content, before) in [("new", 1), ("newer", 2)] {
        let mut temporary = Temporary::Named(Named::beside(&to).unwrap());
        temporary.file_mut().write_all(content.as_bytes()).unwrap();
        let here = names(folder.path());
        assert_eq!(here.len(), before);
        let random = here[0].strip_prefix(".page.html.").and_then(|rest| rest.strip_suffix(".tmp"));
        assert!(random.is_some(), "{here:?}");
        temporary.rename(&to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), content);
        assert_eq!(names(folder.path()), ["page.html"]);
    }
    drop(Named::beside(&to).unwrap());
    assert_eq!(names(folder.path()), ["page.html"]);
}

#[test]
fn what_is_published_is_all_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    for text in ["a long text", "short"] {
        replace(&file, |out| out.write_all(text.as_bytes())).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    assert_eq!(names(folder.path()), ["page.html"]);
}

#[test]
fn links_modes_and_devices_stay_what_they_are() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("page.html"), folder.path().join("link"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    replace(&link, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    replace(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
    assert!(replace(folder.path(), |_| Ok(())).is_err(), "a folder is no file");
}

#[test]
fn a_link_to_nothing_yet_stays_a_link() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    let link = folder.path().join("link");
    symlink("below/second", &link).unwrap();
    symlink("page.html", below.join("second")).unwrap();
    replace(&link, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("below/second"));
    assert_eq!(names(&below), ["page.html", "second"]);
    assert_eq!(fs::read(below.join("page.html")).unwrap(), b"new");
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    assert!(replace(&circle, |_| Ok(())).is_err(), "a circle ends nowhere");
    let nowhere = folder.path().join("nowhere");
    symlink("no-folder/page.html", &nowhere).unwrap();
    assert!(replace(&nowhere, |_| Ok(())).is_err(), "no folder is made");
    assert_eq!(names(folder.path()), ["below", "circle", "link", "nowhere"]);
}

#[test]
fn a_file_called_tmp_is_the_users_own() {
    let folder = tempfile::tempdir().unwrap();
    let (file, own) = (folder.path().join("page.html"), folder.path().join("page.html.tmp"));
    fs::write(&own, "of the user").unwrap();
    replace(&file, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read_to_string(&own).unwrap(), "of the user");
    assert_eq!(names(folder.path()), ["page.html", "page.html.tmp"]);
}

#[test]
fn a_planted_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (file, victim) = (folder.path().join("page.html"), folder.path().join("victim"));
    fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, folder.path().join("page.html.tmp")).unwrap();
    replace(&file, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}

#[test]
fn two_writers_of_one_file_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let mut first = WholeFile::create(&file).unwrap();
    let mut second = WholeFile::create(&file).unwrap();
    first.write_all(b"the first, which is longer").unwrap();
    second.write_all(b"the second").unwrap();
    first.publish().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "the first, which is longer");
    second.publish().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "the second");
    assert_eq!(names(folder.path()), ["page.html"]);
}

#[test]
fn an_existing_file_keeps_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    fs::write(&file, "old").unwrap();
    if std::os::unix::fs::chown(&file, Some(4711), Some(4712)).is_err() {
        return; // only root can give a file away
    }
    replace(&file, |out| out.write_all(b"new")).unwrap();
    let about = fs::metadata(&file).unwrap();
    assert_eq!((about.uid(), about.gid()), (4711, 4712));
}

#[test]
fn a_new_file_has_the_mode_of_any_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, other) = (folder.path().join("ours"), folder.path().join("other"));
    fs::write(&other, "").unwrap();
    replace(&ours, |_| Ok(())).unwrap();
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode(&ours), mode(&other));
}
