//! Paths of scripts.

/// The path of a script without what differs from load to load, and with slashes.
pub(super) fn path_of_script(name: &str) -> String {
    let name = name.split(['?', '#']).next().unwrap_or_default();
    name.replace('\\', "/")
}

/// The end of a path with this many names.
pub(super) fn last_parts(path: &str, count: usize) -> &str {
    let mut slashes = path.rmatch_indices('/');
    match slashes.nth(count - 1) {
        Some((slash, _)) => &path[slash + 1..],
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::{last_parts, path_of_script};

    #[test]
    fn a_script_that_is_loaded_again_has_the_same_path() {
        assert_eq!(path_of_script("file:///a/b.mjs?v=3"), "file:///a/b.mjs");
        assert_eq!(path_of_script("C:\\a\\b.cjs"), "C:/a/b.cjs");
    }

    #[test]
    fn a_file_is_named_by_the_end_of_its_path() {
        assert_eq!(last_parts("/a/b/c.cjs", 1), "c.cjs");
        assert_eq!(last_parts("/a/b/c.cjs", 2), "b/c.cjs");
        assert_eq!(last_parts("c.cjs", 3), "c.cjs");
    }
}
