//! What this process has used.

/// The most memory that this process had at once, in bytes, mapped files included; `None` where the
/// system does not tell.
pub fn peak_memory() -> Option<u64> {
    // Not `getrusage`: that begins with the peak of the process that started this one.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}
