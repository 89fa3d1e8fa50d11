//! Where classes and functions are in the text of a source: an optimiser, and AssemblyScript for default arguments, puts
//! code of one function into another, and its line is then no line of that function.

/// What is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeclarationKind {
    Class,
    Function,
    Method,
}

/// A class, a function or a method with a body.
#[derive(Debug)]
struct Declaration {
    kind: DeclarationKind,
    name: String,
    /// The class of a method.
    class: Option<usize>,
    /// Its first and its last line, from 0.
    first: u32,
    last: u32,
}

/// All declarations of a source.
#[derive(Debug, Default)]
pub(super) struct Declarations(Vec<Declaration>);

impl Declarations {
    /// Finds the declarations of a text in the language TypeScript or AssemblyScript.
    pub(super) fn read(text: &str) -> Self {
        let mut scanner = DeclarationScanner::new(text.as_bytes());
        scanner.scan();
        Self(scanner.found)
    }

    /// Whether a line, from 0, is in the function with this name, without the name of its file:
    /// `/Player#constructor`, `/run~anonymous|0`; empty for the code outside of functions. A constructor has all lines of
    /// its class, as it gives the fields their values.
    pub(super) fn has(&self, function: &str, line: u32) -> bool {
        let Some(name) = without_types(function) else {
            return false;
        };
        let name = name.split(['~', '|', '@']).next().unwrap_or_default();
        let name = name.trim_start_matches('/');
        if name.is_empty() {
            return !self.0.iter().any(|one| one.contains(line));
        }
        let (class, member) = match name.split_once('#') {
            Some((class, "constructor")) => return self.is_in(DeclarationKind::Class, class, line),
            Some((class, member)) => (class, member),
            None => match name.rsplit_once('.') {
                // A namespace can hold a function too.
                Some((_, last)) if self.is_in(DeclarationKind::Function, last, line) => {
                    return true;
                }
                Some((class, member)) => (class, member),
                None => return self.is_in(DeclarationKind::Function, name, line),
            },
        };
        let (class, member) = (last_name(class), last_name(member));
        let member = member.rsplit(':').next().unwrap_or_default();
        let is_of_class = |one: &Declaration| {
            let holder = one.class.map(|class| &self.0[class]);
            holder.is_some_and(|holder| holder.name == class)
        };
        let mut methods = self
            .0
            .iter()
            .filter(|one| one.kind == DeclarationKind::Method);
        methods.any(|one| one.name == member && is_of_class(one) && one.contains(line))
    }

    fn is_in(&self, kind: DeclarationKind, name: &str, line: u32) -> bool {
        let name = last_name(name);
        let mut of_kind = self.0.iter().filter(|one| one.kind == kind);
        of_kind.any(|one| one.name == name && one.contains(line))
    }
}

impl Declaration {
    fn contains(&self, line: u32) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// The name without that of its namespace.
fn last_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

/// A name without type arguments; `None` for the name of an operator such as `<`.
fn without_types(name: &str) -> Option<String> {
    let mut depth = 0u32;
    let mut plain = String::new();
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.checked_sub(1)?,
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    (depth == 0).then_some(plain)
}

/// What was read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceToken<'t> {
    Word(&'t [u8]),
    Decorator,
    Sign(u8),
}

/// A declaration whose body has not begun.
struct Pending<'t> {
    kind: DeclarationKind,
    name: &'t [u8],
    line: u32,
}

/// Reads a text once.
struct DeclarationScanner<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    /// By open brace: the open parentheses before it, and the declaration whose body it begins.
    braces: Vec<(u32, Option<usize>)>,
    parentheses: u32,
    before: SourceToken<'t>,
    pending: Option<Pending<'t>>,
    found: Vec<Declaration>,
}

impl<'t> DeclarationScanner<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            at: 0,
            line: 0,
            braces: Vec::new(),
            parentheses: 0,
            before: SourceToken::Sign(b';'),
            pending: None,
            found: Vec::new(),
        }
    }

    fn scan(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                _ if byte.is_ascii_whitespace() => self.at += 1,
                b'/' if self.text[self.at..].starts_with(b"//") => self.skip_to(b"\n", 0),
                b'/' if self.text[self.at..].starts_with(b"/*") => self.skip_to(b"*/", 2),
                b'"' | b'\'' | b'`' => self.skip_string(byte),
                _ if is_of_word(byte) => self.word(),
                _ => self.sign(byte),
            }
        }
    }

    /// Skips a comment up to its end, of which some bytes belong to it.
    fn skip_to(&mut self, end: &[u8], of_comment: usize) {
        let rest = &self.text[self.at..];
        let found = rest.windows(end.len()).position(|bytes| bytes == end);
        let size = found.map_or(rest.len(), |found| found + of_comment);
        self.advance(size);
    }

    fn skip_string(&mut self, quote: u8) {
        let mut size = 1;
        while let Some(&byte) = self.text.get(self.at + size) {
            size += 1;
            match byte {
                b'\\' => size += 1,
                _ if byte == quote => break,
                _ => {}
            }
        }
        self.advance(size);
        self.before = SourceToken::Sign(quote);
    }

    fn advance(&mut self, size: usize) {
        let end = (self.at + size).min(self.text.len());
        let skipped = &self.text[self.at..end];
        self.line += skipped.iter().filter(|&&byte| byte == b'\n').count() as u32;
        self.at = end;
    }

    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let size = rest.iter().take_while(|&&byte| is_of_word(byte)).count();
        let word = &rest[..size];
        self.at += size;
        let kind = match self.before {
            SourceToken::Word(b"class") => Some(DeclarationKind::Class),
            SourceToken::Word(b"function") => Some(DeclarationKind::Function),
            _ => self.is_method(word).then_some(DeclarationKind::Method),
        };
        if let Some(kind) = kind {
            let line = self.line;
            let name = word;
            self.pending = Some(Pending { kind, name, line });
        }
        self.before = match self.before {
            SourceToken::Sign(b'@') => SourceToken::Decorator,
            _ => SourceToken::Word(word),
        };
    }

    /// Whether a word in the body of a class is the name of a method: parameters follow it.
    fn is_method(&self, word: &[u8]) -> bool {
        const MODIFIERS: [&[u8]; 8] = [
            b"static",
            b"private",
            b"public",
            b"protected",
            b"get",
            b"set",
            b"override",
            b"readonly",
        ];
        let in_class = self.class().is_some() && self.parentheses == 0 && self.pending.is_none();
        let is_start = match self.before {
            SourceToken::Word(word) => MODIFIERS.contains(&word),
            SourceToken::Decorator => true,
            SourceToken::Sign(sign) => matches!(sign, b';' | b'{' | b'}' | b')'),
        };
        let mut rest = self.text[self.at..].iter();
        let next = rest.find(|byte| !byte.is_ascii_whitespace());
        in_class && is_start && !MODIFIERS.contains(&word) && matches!(next, Some(b'(' | b'<'))
    }

    /// The class in whose body the text is, outside of methods.
    fn class(&self) -> Option<usize> {
        let (_, declaration) = self.braces.last()?;
        declaration.filter(|&nth| self.found[nth].kind == DeclarationKind::Class)
    }

    fn sign(&mut self, sign: u8) {
        self.at += 1;
        self.before = SourceToken::Sign(sign);
        match sign {
            b'(' => self.parentheses += 1,
            b')' => self.parentheses = self.parentheses.saturating_sub(1),
            b';' if self.parentheses == 0 => self.pending = None,
            b'{' => self.open(),
            b'}' => self.close(),
            _ => {}
        }
    }

    fn open(&mut self) {
        let begun = self.pending.take_if(|_| self.parentheses == 0);
        let declaration = begun.map(|Pending { kind, name, line }| {
            self.found.push(Declaration {
                kind,
                name: String::from_utf8_lossy(name).into_owned(),
                class: self.class(),
                first: line,
                last: u32::MAX,
            });
            self.found.len() - 1
        });
        self.braces.push((self.parentheses, declaration));
        self.parentheses = 0;
    }

    fn close(&mut self) {
        self.pending = None;
        if let Some((parentheses, declaration)) = self.braces.pop() {
            self.parentheses = parentheses;
            if let Some(nth) = declaration {
                self.found[nth].last = self.line;
            }
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::Declarations;

    const TEXT: &str = r#"// class Comment {
const open = "class Text {";
class Box<T> extends Base {
  held: Other = new Other();
  size: i32 = count();
  @inline get width(): i32 {
    return this.size;
  }
  constructor(public n: i32 = 3) {
    super();
  }
  static make(): Box<i32> {
    return new Box<i32>();
  }
}
export function run(of: string = `{`): void {
  each(() => {
    run("}");
  });
}
for (let i = 0; i < 3; i++) {
  run("");
}
"#;

    /// The lines, from 1, of a function.
    fn lines(function: &str) -> Vec<u32> {
        let declarations = Declarations::read(TEXT);
        let all = 0..TEXT.lines().count() as u32;
        let own = all.filter(|&line| declarations.has(function, line));
        own.map(|line| line + 1).collect()
    }

    #[test]
    fn a_constructor_has_the_lines_of_its_class() {
        assert_eq!(lines("/Box<i32>#constructor"), (3..=15).collect::<Vec<_>>());
        assert_eq!(
            lines("/ns.Box<i32>#constructor"),
            (3..=15).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_method_has_its_own_lines() {
        assert_eq!(lines("/Box<i32>#get:width"), [6, 7, 8]);
        assert_eq!(lines("/Box<i32>.make"), [12, 13, 14]);
    }

    #[test]
    fn a_function_has_its_own_lines_and_those_of_functions_in_it() {
        assert_eq!(lines("/run"), [16, 17, 18, 19, 20]);
        assert_eq!(lines("/run~anonymous|0"), [16, 17, 18, 19, 20]);
    }

    #[test]
    fn code_outside_of_functions_has_the_other_lines() {
        assert_eq!(lines(""), [1, 2, 21, 22, 23]);
    }

    #[test]
    fn what_is_not_declared_has_no_lines() {
        for name in [
            "/Comment#constructor",
            "/Text#constructor",
            "/count",
            "/Box#other",
        ] {
            assert!(lines(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn any_text_is_read() {
        for text in [
            "",
            "}}}",
            "class",
            "class A {",
            "/*",
            "\"",
            "`\\",
            "function f(",
            "@",
        ] {
            Declarations::read(text);
        }
    }
}
