//! Compiles calls: operators, and functions.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, operators};

use super::budget::Allowance;
use super::compile::{Compiler, Typed};
use super::members::MemberSet;
use super::node::{Arithmetic, Comparison, Kind, Node, TextTest};
use super::scope::Scope;
use super::texts::TextReader;
use super::tokens::wrong;
use super::value::Value;
use base::error::Result;
use base::units::ObjectIndex;

/// What can be called.
const FUNCTIONS: &str = "size, has, startsWith, endsWith or contains";

impl Compiler<'_, '_> {
    pub(crate) fn call(&mut self, call: &CallExpr) -> Result<Typed> {
        let name = call.func_name.as_str();
        match (name, call.target.as_deref(), call.args.as_slice()) {
            (operators::CONDITIONAL, None, [condition, yes, no]) => {
                self.condition([condition, yes, no])
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR, None, [left, right]) => {
                self.logic(name == operators::LOGICAL_AND, left, right)
            }
            (operators::LOGICAL_NOT | operators::NEGATE, None, [operand]) => {
                self.unary(name == operators::LOGICAL_NOT, operand)
            }
            (operators::INDEX, None, [object, index]) => self.index(object, index),
            (operators::IN, None, [element, container]) => self.membership(element, container),
            ("size", None, []) => self.name("size"),
            ("size", None, [operand]) => {
                let column = self.cursor.find(|token| token == "size");
                let operand = self.expression(operand)?;
                self.size(operand, column)
            }
            ("size", Some(operand), []) => {
                let operand = self.expression(operand)?;
                let column = self.cursor.find(|token| token == "size");
                self.size(operand, column)
            }
            ("startsWith" | "endsWith" | "contains", Some(text), [part]) => {
                let test = match name {
                    "startsWith" => TextTest::StartsWith,
                    "endsWith" => TextTest::EndsWith,
                    _ => TextTest::Contains,
                };
                self.test(test, text, part)
            }
            (_, None, [left, right]) if operator(name).is_some() => self.binary(name, left, right),
            (_, target, _) => {
                if let Some(target) = target {
                    self.expression(target)?;
                }
                let column = self.cursor.find(|token| token == name);
                let found = format!("the function {name} with {} arguments", call.args.len());
                Err(wrong(self.option, column, &found, FUNCTIONS))
            }
        }
    }

    fn size(&mut self, operand: Typed, column: u32) -> Result<Typed> {
        self.want(
            &operand,
            &[Kind::Reference, Kind::Text],
            "a container or a text",
        )?;
        Ok(Typed {
            node: Node::Size(Box::new(operand.node)),
            kind: Kind::Number,
            column,
        })
    }

    fn condition(&mut self, [condition, yes, no]: [&IdedExpr; 3]) -> Result<Typed> {
        let condition = self.expression(condition)?;
        self.want(
            &condition,
            &[Kind::Bool],
            "a condition, which is true or false",
        )?;
        let yes = self.expression(yes)?;
        let no = self.expression(no)?;
        Ok(Typed {
            kind: yes.kind.or(no.kind),
            column: condition.column,
            node: Node::Condition(Box::new([condition.node, yes.node, no.node])),
        })
    }

    fn logic(&mut self, is_and: bool, left: &IdedExpr, right: &IdedExpr) -> Result<Typed> {
        let left = self.expression(left)?;
        self.want(&left, &[Kind::Bool], "a condition, which is true or false")?;
        let right = self.expression(right)?;
        self.want(&right, &[Kind::Bool], "a condition, which is true or false")?;
        let both = Box::new([left.node, right.node]);
        Ok(Typed {
            node: if is_and {
                Node::And(both)
            } else {
                Node::Or(both)
            },
            kind: Kind::Bool,
            column: left.column,
        })
    }

    fn unary(&mut self, is_not: bool, operand: &IdedExpr) -> Result<Typed> {
        let column = self
            .cursor
            .find(|token| token == if is_not { "!" } else { "-" });
        let operand = self.expression(operand)?;
        let (kind, expected) = if is_not {
            (Kind::Bool, "a condition, which is true or false")
        } else {
            (Kind::Number, "a number")
        };
        self.want(&operand, &[kind], expected)?;
        let operand = Box::new(operand.node);
        let node = if is_not {
            Node::Not(operand)
        } else {
            Node::Negate(operand)
        };
        Ok(Typed { node, kind, column })
    }

    /// `this["name"]`.
    fn index(&mut self, object: &IdedExpr, index: &IdedExpr) -> Result<Typed> {
        let object = self.expression(object)?;
        let column = self.cursor.start();
        let Expr::Literal(LiteralValue::String(name)) = &index.expr else {
            return Err(wrong(
                self.option,
                column,
                "an index",
                "the name of a field in quotes",
            ));
        };
        self.cursor.find(|token| token.contains(['"', '\'']));
        self.want(&object, &[Kind::Reference], "an object, which has fields")?;
        self.field(object.node, name.inner(), column)
    }

    fn test(&mut self, test: TextTest, text: &IdedExpr, part: &IdedExpr) -> Result<Typed> {
        let text = self.expression(text)?;
        self.want(&text, &[Kind::Text, Kind::Reference], "a text")?;
        let part = self.expression(part)?;
        self.want(&part, &[Kind::Text, Kind::Reference], "a text")?;
        Ok(Typed {
            node: Node::Test(test, Box::new([text.node, part.node])),
            kind: Kind::Bool,
            column: text.column,
        })
    }

    fn binary(&mut self, name: &str, left: &IdedExpr, right: &IdedExpr) -> Result<Typed> {
        let left = self.expression(left)?;
        let column = self.cursor.find(|token| name.trim_matches('_') == token);
        let right = self.expression(right)?;
        let (kinds, both) = ([left.kind, right.kind], Box::new([left.node, right.node]));
        let operation = operator(name);
        let is_sound = match operation {
            Some(Operator::Compare(Comparison::Equal | Comparison::NotEqual)) => {
                kinds[0].can_equal(kinds[1])
            }
            Some(Operator::Compare(_)) => kinds[0].has_order(kinds[1]),
            _ => kinds
                .iter()
                .all(|kind| [Kind::Any, Kind::Number].contains(kind)),
        };
        if !is_sound {
            let found = format!("{} and {}", kinds[0].name(), kinds[1].name());
            let expected = match operation {
                Some(Operator::Compare(_)) => "values of one type to compare",
                _ => "two numbers",
            };
            return Err(wrong(self.option, column, &found, expected));
        }
        let (node, kind) = match operation {
            Some(Operator::Calculate(operation)) => {
                (Node::Calculate(operation, both), Kind::Number)
            }
            Some(Operator::Compare(comparison)) => (Node::Compare(comparison, both), Kind::Bool),
            None => return self.refuse("an operator", "another operator"),
        };
        Ok(Typed { node, kind, column })
    }

    fn membership(&mut self, element: &IdedExpr, container: &IdedExpr) -> Result<Typed> {
        let element = self.expression(element)?;
        let column = self.cursor.find(|token| token == "in");
        let node = match &container.expr {
            Expr::List(list) => {
                let mut values = Vec::new();
                for member in &list.elements {
                    let member = self.expression(member)?;
                    let Node::Constant(value) = member.node else {
                        let found = "a value that differs from object to object";
                        return Err(wrong(
                            self.option,
                            member.column,
                            found,
                            "a constant in a list",
                        ));
                    };
                    if !element.kind.can_equal(member.kind) {
                        let found = format!("{} and {}", element.kind.name(), member.kind.name());
                        let expected = "values of one type to compare";
                        return Err(wrong(self.option, member.column, &found, expected));
                    }
                    values.push(value);
                }
                let set = MemberSet::of_list(&self.compiled.texts, &values)?;
                self.set(element.node, set)
            }
            _ => {
                let container = self.expression(container)?;
                self.want(&container, &[Kind::Reference], "a container or a list")?;
                match container.node {
                    Node::Constant(Value::Object(object)) => {
                        let set = self.members(object)?;
                        if !set.is_container() {
                            let found = "an object whose members are not known";
                            let expected = "an array, a map or a set";
                            return Err(wrong(self.option, container.column, found, expected));
                        }
                        self.set(element.node, set)
                    }
                    node => Node::InContainer(Box::new([element.node, node])),
                }
            }
        };
        Ok(Typed {
            node,
            kind: Kind::Bool,
            column,
        })
    }

    fn set(&mut self, element: Node, set: MemberSet) -> Node {
        self.compiled.sets.push(set);
        Node::InSet(Box::new(element), self.compiled.sets.len() - 1)
    }

    /// The members of a container that is the same for all objects.
    fn members(&mut self, container: ObjectIndex) -> Result<MemberSet> {
        let Scope {
            source,
            control,
            budget,
            ..
        } = self.scope;
        let mut reader = source.fields().reader(&[], control)?;
        let texts = TextReader {
            constants: &[],
            allowance: Allowance::new(budget, self.option),
        };
        MemberSet::read(&mut *reader, &texts, container)
    }
}

/// An operator with two operands.
enum Operator {
    Compare(Comparison),
    Calculate(Arithmetic),
}

fn operator(name: &str) -> Option<Operator> {
    Some(match name {
        operators::EQUALS => Operator::Compare(Comparison::Equal),
        operators::NOT_EQUALS => Operator::Compare(Comparison::NotEqual),
        operators::LESS => Operator::Compare(Comparison::Less),
        operators::LESS_EQUALS => Operator::Compare(Comparison::LessOrEqual),
        operators::GREATER => Operator::Compare(Comparison::Greater),
        operators::GREATER_EQUALS => Operator::Compare(Comparison::GreaterOrEqual),
        operators::ADD => Operator::Calculate(Arithmetic::Add),
        operators::SUBSTRACT => Operator::Calculate(Arithmetic::Subtract),
        operators::MULTIPLY => Operator::Calculate(Arithmetic::Multiply),
        operators::DIVIDE => Operator::Calculate(Arithmetic::Divide),
        operators::MODULO => Operator::Calculate(Arithmetic::Remainder),
        _ => return None,
    })
}
