//! Why this process may not read another one, and what would help. The system says only "not permitted".

use crate::OutsideError;

/// The right to read every process.
const CAP_SYS_PTRACE: u64 = 1 << 19;

/// What is known of a process that cannot be read.
#[derive(Clone, Debug)]
pub struct ProcessFacts {
    /// To whom it belongs.
    pub owner: Option<u32>,
    /// Who asks.
    pub user: u32,
    /// Its state: `Z` has ended.
    pub state: Option<char>,
    /// Which process traces it; 0 for none.
    pub tracer: u64,
    /// `kernel.yama.ptrace_scope`, if the system has it.
    pub scope: Option<u32>,
    /// The capabilities of who asks.
    pub capabilities: u64,
    /// The system's error.
    pub error: String,
    /// Whether that is one of permissions.
    pub is_denied: bool,
}

/// The error for a process that cannot be read.
pub fn why_refused(pid: u32, facts: &ProcessFacts) -> OutsideError {
    if matches!(facts.state, Some('Z' | 'X')) {
        let why = "it has ended, and its parent did not take note of that (a zombie)".to_owned();
        return OutsideError::Process { pid, why };
    }
    if !facts.is_denied {
        let why = facts.error.clone();
        return OutsideError::Process { pid, why };
    }
    let why = if facts.tracer != 0 {
        format!(
            "process {} traces it already, such as a debugger; a process has one tracer at most",
            facts.tracer
        )
    } else if facts.capabilities & CAP_SYS_PTRACE != 0 {
        format!(
            "{}, although it has the capability SYS_PTRACE: a filter of system calls (seccomp), a security module, or another user namespace forbids it",
            facts.error
        )
    } else {
        without_capability(facts)
    };
    OutsideError::Refused { pid, why }
}

fn without_capability(facts: &ProcessFacts) -> String {
    const RIGHT: &str = "the capability SYS_PTRACE, as root has it";
    if let Some(owner) = facts.owner
        && owner != facts.user
    {
        let whose = if owner == 0 {
            "user 0, or its program has more rights than its user".to_owned()
        } else {
            format!("user {owner}")
        };
        return format!(
            "it belongs to {whose}, and this process runs as user {}; the same user can read it, or {RIGHT}",
            facts.user
        );
    }
    match facts.scope {
        Some(1) => format!(
            "kernel.yama.ptrace_scope is 1, so only a parent of the process can read it; 0 lets the same user read it, or {RIGHT}"
        ),
        Some(2) => format!("kernel.yama.ptrace_scope is 2: reading needs {RIGHT}"),
        Some(3) => {
            "kernel.yama.ptrace_scope is 3: no process can be read until the system starts again"
                .to_owned()
        }
        _ => format!(
            "{}; a container needs {RIGHT}, and a filter of system calls that allows ptrace",
            facts.error
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(change: impl FnOnce(&mut ProcessFacts)) -> String {
        let mut facts = ProcessFacts {
            owner: Some(1000),
            user: 1000,
            state: Some('S'),
            tracer: 0,
            scope: None,
            capabilities: 0,
            error: "Operation not permitted".into(),
            is_denied: true,
        };
        change(&mut facts);
        why_refused(7, &facts).to_string()
    }

    #[test]
    fn each_refusal_says_what_is_missing() {
        let cases: [(&str, String); 9] = [
            ("belongs to user 5", text(|facts| facts.owner = Some(5))),
            (
                "more rights than its user",
                text(|facts| facts.owner = Some(0)),
            ),
            ("ptrace_scope is 1", text(|facts| facts.scope = Some(1))),
            ("ptrace_scope is 2", text(|facts| facts.scope = Some(2))),
            ("ptrace_scope is 3", text(|facts| facts.scope = Some(3))),
            ("process 9 traces it", text(|facts| facts.tracer = 9)),
            ("seccomp", text(|facts| facts.capabilities = 1 << 19)),
            ("zombie", text(|facts| facts.state = Some('Z'))),
            ("a container needs", text(|_| {})),
        ];
        for (part, text) in cases {
            assert!(text.contains(part), "{text}");
            assert!(text.contains("process 7"), "{text}");
        }
    }

    #[test]
    fn another_error_is_not_explained_by_rights() {
        let text = text(|facts| {
            facts.is_denied = false;
            facts.error = "Input/output error".into();
        });
        assert_eq!(text, "cannot read process 7: Input/output error");
    }
}
