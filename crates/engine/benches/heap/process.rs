//! The memory and the processor time that this process has used.

/// The peak memory of this process in bytes, mapped files included; `None` if the system does not report it.
pub fn peak_memory() -> Option<u64> {
    // Not `getrusage`: that begins with the peak of the process that started this one.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The processor time of all threads of this process so far, in seconds; `None` if the system does not report
/// it.
pub fn processor_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may contain spaces.
    let (_, fields) = status.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |nth: usize| fields.get(nth)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / TICKS_PER_SECOND)
}
