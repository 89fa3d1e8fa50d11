//! Names of classes as people read them.

/// A class name without the modules of the standard library: `Map<String,i32>`.
pub fn short_class(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    while let Some(start) = rest.find("~lib/") {
        text.push_str(&rest[..start]);
        let path = &rest[start..];
        let end = path
            .find(|character: char| "<>,|()[]=".contains(character))
            .unwrap_or(path.len());
        let last = path[..end].rfind('/').map_or(0, |slash| slash + 1);
        text.push_str(&path[last..end]);
        rest = &path[end..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_lose_the_modules_of_the_standard_library_only() {
        let short = [
            ("~lib/array/Array<assembly/a/B>", "Array<assembly/a/B>"),
            ("~lib/map/Map<~lib/string/String,i32>", "Map<String,i32>"),
            ("assembly/index/Node", "assembly/index/Node"),
            (
                "~lib/function/Function<(~lib/string/String|null)=>i32>",
                "Function<(String|null)=>i32>",
            ),
        ];
        for (name, expected) in short {
            assert_eq!(short_class(name), expected);
        }
    }
}
