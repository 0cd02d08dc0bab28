//! Where an index is, and how a new one takes its place. Both the new and the old one have names of
//! ours beside it and a mark in them while that goes on: what a process that died in between left,
//! the next one ends, and what has no mark is nobody's to remove.

use std::io;
use std::path::{Path, PathBuf};

use crate::output::sync_dir;

/// A file in a directory that a rebuild of an index has made or put aside.
const MARK: &str = ".comity-rebuild";

/// The same while it is written.
const MARK_NEW: &str = ".comity-rebuild.new";

/// What stands in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mark {
    /// A new index that is being filled.
    Unfinished,
    /// A new index that may take its place.
    Finished,
    /// An index that another one replaces.
    Replaced,
}

impl Mark {
    const ALL: [Self; 3] = [Self::Unfinished, Self::Finished, Self::Replaced];

    const fn text(self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished\n",
            Self::Finished => "finished\n",
            Self::Replaced => "replaced\n",
        }
    }

    /// The mark in a directory, if there is one.
    fn of(dir: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(dir.join(MARK)).ok()?;
        Self::ALL.into_iter().find(|mark| mark.text() == text)
    }

    fn put(self, dir: &Path) -> Result<(), PlaceError> {
        let (path, written) = (dir.join(MARK), dir.join(MARK_NEW));
        let put = std::fs::write(&written, self.text())
            .and_then(|()| std::fs::File::open(&written)?.sync_all())
            .and_then(|()| std::fs::rename(&written, &path));
        put.map_err(PlaceError::file("write", &path))?;
        // Not every file system can.
        let _ = sync_dir(dir);
        Ok(())
    }

    fn remove(dir: &Path) -> Result<(), PlaceError> {
        let path = dir.join(MARK);
        let removed = std::fs::remove_file(&path);
        unless_gone(removed).map_err(PlaceError::file("remove", &path))
    }
}

/// An index that could not be put in its place, or made beside it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// Something that a rebuild did not make has a name that it needs.
    #[error("{} was not made by comity, and a rebuilt index needs that name; move it away", .0.display())]
    Foreign(PathBuf),
    /// Something that is no part of an index lies where one is to be replaced.
    #[error("{} is no part of an index of comity, and would go with it; move it away", .0.display())]
    Inside(PathBuf),
    /// No directory stands where the index is to be.
    #[error("{} is no directory, and the index is to be there; move it away", .0.display())]
    NoDirectory(PathBuf),
    /// A file failed.
    #[error("a rebuilt index takes its place in steps, and one failed: could not {what} {}; when that is mended the same command goes on", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why it failed.
        #[source]
        cause: io::Error,
    },
}

impl PlaceError {
    fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::File { what, path, cause }
    }
}

/// The place of an index.
#[derive(Clone, Debug)]
pub struct Place {
    index: PathBuf,
    new: PathBuf,
    old: PathBuf,
}

impl Place {
    /// Of an index. Where its name is a link, what the link names is replaced, and the link stays.
    pub fn of(index: &Path) -> Self {
        let index = linked(index);
        let name = index.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let beside = |ending| index.with_file_name(format!(".{name}-comity-{ending}"));
        Self { new: beside("new"), old: beside("old"), index }
    }

    /// Where the new index is made.
    pub fn new_index(&self) -> &Path {
        &self.new
    }

    /// Ends what a process that died left between its steps. Nobody else may be at them.
    ///
    /// # Errors
    /// [`PlaceError`]; the next call goes on.
    pub fn settle(&self) -> Result<(), PlaceError> {
        let is_replaced = Mark::of(&self.old) == Some(Mark::Replaced);
        if !exists(&self.index) {
            if Mark::of(&self.new) == Some(Mark::Finished) {
                rename(&self.new, &self.index)?;
            } else if is_replaced {
                rename(&self.old, &self.index)?;
            }
        }
        if exists(&self.index) {
            if self.index.is_dir() {
                Mark::remove(&self.index)?;
            }
            if is_replaced || is_husk(&self.old) {
                remove(&self.old)?;
            }
        }
        Ok(())
    }

    /// Makes room for a new index: what an earlier try left is ended or removed.
    ///
    /// # Errors
    /// [`PlaceError`]; what was not made by a rebuild is left alone.
    pub fn begin(&self) -> Result<(), PlaceError> {
        self.settle()?;
        if exists(&self.index) && !self.index.is_dir() {
            return Err(PlaceError::NoDirectory(self.index.clone()));
        }
        if let Some(own) = foreign_in(&self.index)? {
            return Err(PlaceError::Inside(own));
        }
        if exists(&self.old) {
            return Err(PlaceError::Foreign(self.old.clone()));
        }
        self.clear()?;
        std::fs::create_dir_all(&self.new).map_err(PlaceError::file("create", &self.new))?;
        Mark::Unfinished.put(&self.new)
    }

    /// Removes the new index.
    ///
    /// # Errors
    /// [`PlaceError`]
    pub fn clear(&self) -> Result<(), PlaceError> {
        match Mark::of(&self.new) {
            Some(_) => remove(&self.new),
            None if is_husk(&self.new) => remove(&self.new),
            None if exists(&self.new) => Err(PlaceError::Foreign(self.new.clone())),
            None => Ok(()),
        }
    }

    /// Puts the new index, which is complete and closed, in its place.
    ///
    /// # Errors
    /// [`PlaceError`]; the old one stays, or [`Self::settle`] ends it.
    pub fn put(&self) -> Result<(), PlaceError> {
        Mark::Finished.put(&self.new)?;
        if exists(&self.index) {
            Mark::Replaced.put(&self.index)?;
            rename(&self.index, &self.old)?;
        }
        let put = self.settle();
        if put.is_err() && !exists(&self.index) {
            rename(&self.old, &self.index)?;
        }
        put
    }
}

impl Place {
    /// Where an index can be read while another process is between its steps, or may not be helped.
    pub fn to_read(&self) -> &Path {
        let is_there = |dir: &Path| dir.join("meta.json").is_file();
        if is_there(&self.index) {
            &self.index
        } else if Mark::of(&self.new) == Some(Mark::Finished) {
            &self.new
        } else if Mark::of(&self.old) == Some(Mark::Replaced) && is_there(&self.old) {
            &self.old
        } else {
            &self.index
        }
    }
}

/// What a path names, its last links followed, whether or not that is there.
fn linked(path: &Path) -> PathBuf {
    /// As many as the system follows.
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn rename(from: &Path, to: &Path) -> Result<(), PlaceError> {
    match std::fs::rename(from, to) {
        // Another command was at it too.
        Err(_) if !exists(from) && exists(to) => Ok(()),
        renamed => {
            renamed.map_err(PlaceError::file("rename", from))?;
            // Not every file system can.
            let _ = sync_dir(to.parent().unwrap_or(Path::new(".")));
            Ok(())
        }
    }
}

/// Removes an index, its mark last: until then the next process knows that it may.
fn remove(dir: &Path) -> Result<(), PlaceError> {
    for name in names_in(dir)? {
        if is_of_index(&name) && name != MARK {
            let path = dir.join(&name);
            unless_gone(std::fs::remove_file(&path)).map_err(PlaceError::file("remove", &path))?;
        }
    }
    if let Some(own) = foreign_in(dir)? {
        return Err(PlaceError::Inside(own));
    }
    Mark::remove(dir)?;
    unless_gone(std::fs::remove_dir(dir)).map_err(PlaceError::file("remove", dir))
}

/// Whether nothing is in a directory of ours but what precedes its mark, or outlives it.
fn is_husk(dir: &Path) -> bool {
    let is_nothing = |names: Vec<String>| names.iter().all(|name| name == MARK_NEW);
    dir.is_dir() && names_in(dir).is_ok_and(is_nothing)
}

/// Something in a directory that is no part of an index.
fn foreign_in(dir: &Path) -> Result<Option<PathBuf>, PlaceError> {
    let own = names_in(dir)?.into_iter().find(|name| !is_of_index(name));
    Ok(own.map(|name| dir.join(name)))
}

/// Whether the engine gives a file such a name, or a rebuild does.
fn is_of_index(name: &str) -> bool {
    let is_segment = |name: &str| {
        let id = name.split('.').next().unwrap_or_default();
        id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    matches!(name, MARK | MARK_NEW | "meta.json" | ".managed.json")
        || name.starts_with(".tantivy-")
        // Files that it writes before they get their name.
        || name.starts_with(".tmp")
        || is_segment(name)
}

/// What lies in a directory; nothing if there is none.
fn names_in(dir: &Path) -> Result<Vec<String>, PlaceError> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(PlaceError::file("read", dir))?,
    };
    let name = |entry: io::Result<std::fs::DirEntry>| {
        entry.map(|entry| entry.file_name().to_string_lossy().into_owned())
    };
    entries.map(name).collect::<io::Result<_>>().map_err(PlaceError::file("read", dir))
}

fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn index(dir: &Path, text: &str) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join("meta.json"), text).unwrap();
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// One line, one case: the steps that were done before a process died, and which index stands
    /// after the next one.
    #[test]
    fn wherever_it_is_broken_off() {
        type Step = fn(&Place);
        let (begin, fill): (Step, Step) = (|at| at.begin().unwrap(), |at| index(&at.new, "new"));
        let finish: Step = |at| Mark::Finished.put(&at.new).unwrap();
        let mark: Step = |at| Mark::Replaced.put(&at.index).unwrap();
        let away: Step = |at| rename(&at.index, &at.old).unwrap();
        let here: Step = |at| rename(&at.new, &at.index).unwrap();
        let steps = [begin, fill, finish, mark, away, here];
        for (done, expect) in ["old", "old", "old", "old", "old", "new", "new"].iter().enumerate() {
            for is_link in [false, true] {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("index");
                let real = if is_link { dir.path().join("elsewhere") } else { path.clone() };
                if is_link {
                    std::os::unix::fs::symlink("elsewhere", &path).unwrap();
                }
                index(&real, "old");
                let place = Place::of(&path);
                steps.iter().take(done).for_each(|step| step(&place));
                Place::of(&path).settle().unwrap();
                assert_eq!(fs::read_to_string(path.join("meta.json")).unwrap(), *expect, "{done}");
                assert_eq!(path.is_symlink(), is_link);
                Place::of(&path).begin().unwrap();
                Place::of(&path).clear().unwrap();
                let left = if is_link { vec!["elsewhere", "index"] } else { vec!["index"] };
                assert_eq!(names(dir.path()), left, "{done}");
                assert_eq!(names(&path), ["meta.json"], "{done}");
            }
        }
    }

    /// One line, one case: what a process that died has left of a directory that it made or removed.
    #[test]
    fn a_removal_and_a_beginning_are_ended() {
        let cases: [&[&str]; 5] =
            [&[], &[MARK_NEW], &[MARK], &[MARK, "meta.json"], &[MARK, MARK_NEW, "meta.json"]];
        for left in cases {
            for (name, mark) in
                [(".index-comity-old", Mark::Replaced), (".index-comity-new", Mark::Unfinished)]
            {
                let dir = tempfile::tempdir().unwrap();
                let (path, beside) = (dir.path().join("index"), dir.path().join(name));
                index(&path, "it");
                fs::create_dir(&beside).unwrap();
                for file in left {
                    let text = if *file == MARK { mark.text() } else { "" };
                    fs::write(beside.join(file), text).unwrap();
                }
                let place = Place::of(&path);
                place.begin().unwrap();
                place.clear().unwrap();
                assert_eq!(names(dir.path()), ["index"], "{name} {left:?}");
                assert_eq!(fs::read_to_string(path.join("meta.json")).unwrap(), "it");
            }
        }
    }

    /// What lies in the way of an index or in one, and is none of it, stays and is named.
    #[test]
    fn what_would_go_with_an_index() {
        let segment = "0123456789abcdef0123456789abcdef.store";
        for (files, own) in [
            (&["notes.md"][..], Some("notes.md")),
            (&["meta.json", "mine.txt"], Some("mine.txt")),
            (&["meta.json", "sub/precious"], Some("sub")),
            (&["meta.json", ".managed.json", ".tantivy-writer.lock", segment, MARK], None),
        ] {
            for is_link in [false, true] {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("index");
                let real = if is_link { dir.path().join("elsewhere") } else { path.clone() };
                if is_link {
                    std::os::unix::fs::symlink("elsewhere", &path).unwrap();
                }
                for file in files {
                    let file = real.join(file);
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, "mine").unwrap();
                }
                let begun = Place::of(&path).begin();
                assert_eq!(begun.is_err(), own.is_some(), "{files:?}");
                if let (Err(error), Some(own)) = (begun, own) {
                    assert!(error.to_string().contains(own), "{error}");
                    assert!(files.iter().all(|file| real.join(file).exists()), "{files:?}");
                }
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        fs::write(&path, "a file").unwrap();
        assert!(matches!(Place::of(&path).begin(), Err(PlaceError::NoDirectory(_))));
        Place::of(&path).settle().unwrap();
    }

    /// What comes into an old index while it is put aside stays too.
    #[test]
    fn what_comes_late_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        index(&path, "old");
        let place = Place::of(&path);
        place.begin().unwrap();
        index(place.new_index(), "new");
        fs::write(path.join("mine.txt"), "mine").unwrap();
        assert!(matches!(place.put(), Err(PlaceError::Inside(_))));
        assert_eq!(fs::read_to_string(path.join("meta.json")).unwrap(), "new");
        assert!(dir.path().join(".index-comity-old/mine.txt").exists());
    }

    /// Where nobody may help, what is there can be read.
    #[test]
    fn between_the_renamings() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        index(&path, "old");
        let place = Place::of(&path);
        place.begin().unwrap();
        index(place.new_index(), "new");
        assert_eq!(place.to_read(), path);
        Mark::Finished.put(&place.new).unwrap();
        Mark::Replaced.put(&path).unwrap();
        rename(&path, &place.old).unwrap();
        assert_eq!(place.to_read(), place.new);
        fs::remove_dir_all(&place.new).unwrap();
        assert_eq!(place.to_read(), place.old);
    }

    /// What a person has there stays.
    #[test]
    fn what_is_not_ours() {
        for name in [".index-comity-new", ".index-comity-old", "index.old", "index.new"] {
            let dir = tempfile::tempdir().unwrap();
            let (path, own) = (dir.path().join("index"), dir.path().join(name));
            index(&path, "old");
            index(&own, "mine");
            let begun = Place::of(&path).begin();
            assert_eq!(begun.is_err(), name.starts_with('.'), "{name}: {begun:?}");
            if let Err(error) = begun {
                assert!(error.to_string().contains("move it away"), "{error}");
            }
            Place::of(&path).settle().unwrap();
            assert_eq!(fs::read_to_string(own.join("meta.json")).unwrap(), "mine");
            assert_eq!(fs::read_to_string(path.join("meta.json")).unwrap(), "old");
        }
    }
}
