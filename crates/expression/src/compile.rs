//! Turns a parsed expression into one with resolved names and checked types.

use cel::IdedExpr;
use cel::common::ast::{Expr, LiteralValue, SelectExpr};

use super::bounds::tokens;
use super::compare::{calculate, negate};
use super::members::MemberSet;
use super::names::{BUILT_IN, NamedGlobal, global};
use super::nearest::nearest;
use super::node::{BuiltIn, Kind, Node};
use super::parse::parse;
use super::scope::Scope;
use super::tokens::{ExpressionOption, TokenCursor, wrong};
use super::value::Value;
use base::error::Result;
use heap::FieldType;

/// The largest depth of an expression that was parsed, of which each operation in a row is a level.
const MOST_DEPTH: usize = 100;

/// A compiled expression with what its numbers stand for.
pub struct Compiled {
    pub(crate) option: ExpressionOption,
    pub(crate) node: Node,
    /// The names of fields.
    pub(crate) fields: Vec<String>,
    /// Texts, and after them the names of the classes if they are needed.
    pub(crate) texts: Vec<Box<[u16]>>,
    /// The number of the text that is the name of the first class.
    pub(crate) first_class: Option<u32>,
    pub(crate) sets: Vec<MemberSet>,
}

/// An expression with its type and its column.
pub(crate) struct Typed {
    pub(crate) node: Node,
    pub(crate) kind: Kind,
    pub(crate) column: u32,
}

/// Compiles the expression that is the value of an option.
///
/// # Errors
/// [`ExpressionError::Where`](super::ExpressionError::Where) with the column.
pub fn compile(option: ExpressionOption, text: &str, scope: Scope<'_>) -> Result<Compiled> {
    let tokens = tokens(option, text)?;
    let parsed = parse(option, text, &tokens)?;
    let mut compiler = Compiler {
        option,
        scope,
        cursor: TokenCursor::new(tokens),
        depth: 0,
        compiled: Compiled {
            option,
            node: Node::Constant(Value::Null),
            fields: Vec::new(),
            texts: Vec::new(),
            first_class: None,
            sets: Vec::new(),
        },
    };
    let whole = compiler.expression(&parsed)?;
    if option == ExpressionOption::Where {
        compiler.want(&whole, &[Kind::Bool], "a condition, which is true or false")?;
    }
    compiler.compiled.node = whole.node;
    Ok(compiler.compiled)
}

/// Compiles an expression.
pub(crate) struct Compiler<'t, 'h> {
    pub(crate) option: ExpressionOption,
    pub(crate) scope: Scope<'h>,
    pub(crate) cursor: TokenCursor<'t>,
    depth: usize,
    pub(crate) compiled: Compiled,
}

impl Compiler<'_, '_> {
    pub(crate) fn expression(&mut self, expression: &IdedExpr) -> Result<Typed> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            let column = self.cursor.start();
            let found = "more than 100 operations inside of each other";
            return Err(wrong(self.option, column, found, "a shorter expression"));
        }
        let typed = match &expression.expr {
            Expr::Literal(literal) => self.literal(literal),
            Expr::Ident(name) => self.name(name),
            Expr::Select(select) if select.test => self.has(select),
            Expr::Select(select) => {
                let operand = self.expression(&select.operand)?;
                self.select(operand, &select.field)
            }
            Expr::Call(call) => self.call(call),
            Expr::List(_) => self.refuse("a list", "a list only after in"),
            Expr::Map(_) | Expr::Struct(_) => self.refuse("an object literal", "a value"),
            Expr::Comprehension(_) => self.refuse(
                "all, exists, map or filter",
                "one of the functions that find has",
            ),
            Expr::Unspecified => self.refuse("nothing", "a value"),
        }?;
        self.depth -= 1;
        self.folded(typed)
    }

    pub(crate) fn refuse(&mut self, found: &str, expected: &str) -> Result<Typed> {
        let column = self.cursor.start();
        Err(wrong(self.option, column, found, expected))
    }

    fn literal(&mut self, literal: &LiteralValue) -> Result<Typed> {
        let column = self.cursor.find(|token| {
            let first = token.chars().next();
            first.is_some_and(|first| first.is_alphanumeric() || "\"'.".contains(first))
                && token != "."
        });
        let (value, kind) = match literal {
            LiteralValue::Boolean(value) => (Value::Bool(*value.inner()), Kind::Bool),
            LiteralValue::Int(value) => (Value::Integer(*value.inner()), Kind::Number),
            LiteralValue::UInt(value) => (Value::unsigned(*value.inner()), Kind::Number),
            LiteralValue::Double(value) => (Value::Double(*value.inner()), Kind::Number),
            LiteralValue::String(value) => (self.text(value.inner()), Kind::Text),
            LiteralValue::Null => (Value::Null, Kind::Null),
            LiteralValue::Bytes(_) => {
                return Err(wrong(
                    self.option,
                    column,
                    "bytes",
                    "a text without b before it",
                ));
            }
        };
        Ok(Typed {
            node: Node::Constant(value),
            kind,
            column,
        })
    }

    /// A text of the expression.
    fn text(&mut self, text: &str) -> Value {
        self.compiled.texts.push(text.encode_utf16().collect());
        Value::Text(self.compiled.texts.len() as u32 - 1)
    }

    /// A bare name: built in, a field, or a global.
    pub(crate) fn name(&mut self, name: &str) -> Result<Typed> {
        let column = self.cursor.find(|token| token == name);
        let typed = |node, kind| Ok(Typed { node, kind, column });
        if name == "size" {
            let this = Node::BuiltIn(BuiltIn::This);
            return typed(Node::Size(Box::new(this)), Kind::Number);
        }
        if let Some(&(_, built_in)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
            return self.built_in(built_in, column);
        }
        let Scope {
            source,
            class_slots,
            control,
            ..
        } = self.scope;
        if source
            .fields()
            .type_of(name, class_slots, control)?
            .is_some()
        {
            return self.field(Node::BuiltIn(BuiltIn::This), name, column);
        }
        match global(self.scope, name)? {
            NamedGlobal::Object(object) => {
                typed(Node::Constant(Value::Object(object)), Kind::Reference)
            }
            NamedGlobal::Several(one, other) => Err(wrong(
                self.option,
                column,
                &format!(
                    "{name}, which is the end of the names of several globals, such as {one} and {other}"
                ),
                "a name that one global has",
            )),
            NamedGlobal::None => Err(self.unknown_field(name, column)?),
        }
    }

    fn built_in(&mut self, built_in: BuiltIn, column: u32) -> Result<Typed> {
        let kind = match built_in {
            BuiltIn::This => Kind::Reference,
            BuiltIn::ClassName => {
                self.add_classes();
                Kind::Text
            }
            BuiltIn::ShallowSize | BuiltIn::RetainedSize | BuiltIn::Address => Kind::Number,
            BuiltIn::IsNew if self.scope.new.is_none() => {
                return Err(wrong(
                    self.option,
                    column,
                    "isNew with one heap",
                    "an earlier heap to compare with",
                ));
            }
            BuiltIn::IsNew => Kind::Bool,
        };
        Ok(Typed {
            node: Node::BuiltIn(built_in),
            kind,
            column,
        })
    }

    /// Adds the names of the classes to the texts.
    fn add_classes(&mut self) {
        if self.compiled.first_class.is_none() {
            let texts = &mut self.compiled.texts;
            self.compiled.first_class = Some(texts.len() as u32);
            let classes = &self.scope.heap.objects.classes;
            texts.extend(
                classes
                    .iter()
                    .map(|class| class.name.encode_utf16().collect()),
            );
        }
    }

    /// The error for a name that means nothing, with the names that are most like it.
    fn unknown_field(&self, name: &str, column: u32) -> Result<base::error::Error> {
        let Scope {
            source,
            class_slots,
            control,
            ..
        } = self.scope;
        let mut names = source.fields().names(class_slots);
        names.extend(BUILT_IN.iter().map(|(name, _)| (*name).to_owned()));
        let like = nearest(name, names.iter().map(String::as_str), control)?;
        let found = format!(
            "{name}, which is neither a field of these classes nor a global with an object"
        );
        let expected = format!("a field, such as {}", like.join(", "));
        Ok(wrong(self.option, column, &found, &expected))
    }

    fn field_number(&mut self, name: &str) -> usize {
        let fields = &mut self.compiled.fields;
        if let Some(number) = fields.iter().position(|field| field == name) {
            return number;
        }
        fields.push(name.to_owned());
        fields.len() - 1
    }

    pub(crate) fn field(&mut self, object: Node, name: &str, column: u32) -> Result<Typed> {
        let mut kind = Kind::Any;
        if let Node::BuiltIn(BuiltIn::This) = object {
            let Scope {
                source,
                class_slots,
                control,
                ..
            } = self.scope;
            let fields = source.fields();
            kind = match fields.type_of(name, class_slots, control)? {
                None => return Err(self.unknown_field(name, column)?),
                Some(FieldType::Any) => Kind::Any,
                Some(FieldType::Bool) => Kind::Bool,
                Some(FieldType::Number) => Kind::Number,
                Some(FieldType::Reference) => Kind::Reference,
            };
        }
        let number = self.field_number(name);
        Ok(Typed {
            node: Node::Field(Box::new(object), number),
            kind,
            column,
        })
    }

    fn select(&mut self, operand: Typed, field: &str) -> Result<Typed> {
        let column = self.cursor.find(|token| token.trim_matches('`') == field);
        self.want(&operand, &[Kind::Reference], "an object, which has fields")?;
        self.field(operand.node, field, column)
    }

    /// `has(this.field)`.
    fn has(&mut self, select: &SelectExpr) -> Result<Typed> {
        let column = self.cursor.find(|token| token == "has");
        let operand = self.expression(&select.operand)?;
        self.cursor
            .find(|token| token.trim_matches('`') == select.field);
        self.want(&operand, &[Kind::Reference], "an object, which has fields")?;
        let number = self.field_number(&select.field);
        Ok(Typed {
            node: Node::Has(Box::new(operand.node), number),
            kind: Kind::Bool,
            column,
        })
    }

    /// Checks the type of an operand.
    pub(crate) fn want(&self, typed: &Typed, kinds: &[Kind], expected: &str) -> Result<()> {
        if typed.kind == Kind::Any || kinds.contains(&typed.kind) {
            return Ok(());
        }
        Err(wrong(
            self.option,
            typed.column,
            typed.kind.name(),
            expected,
        ))
    }

    /// The value of an operation on constants.
    fn folded(&self, typed: Typed) -> Result<Typed> {
        let value = match &typed.node {
            Node::Calculate(operation, both) => match both.as_ref() {
                [Node::Constant(left), Node::Constant(right)] => {
                    calculate(*operation, *left, *right)
                }
                _ => return Ok(typed),
            },
            Node::Negate(operand) => match operand.as_ref() {
                Node::Constant(operand) => negate(*operand),
                _ => return Ok(typed),
            },
            _ => return Ok(typed),
        };
        if let Value::Failed(failure) = value {
            let expected = "an operation that has a result";
            return Err(wrong(self.option, typed.column, failure.reason(), expected));
        }
        Ok(Typed {
            node: Node::Constant(value),
            ..typed
        })
    }
}
