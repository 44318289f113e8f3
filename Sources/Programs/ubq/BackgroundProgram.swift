import Commands
import Essentials
import LocalFiles

/// A program that runs without a terminal where nothing manages services, until the machine restarts. It holds a lock
/// for as long as it runs on a file with its number and host, and below these its arguments, one in each line.
struct BackgroundProgram {
    private let program: Sibling
    private let directory = LocalDirectory(UserDirectories().state)

    init(_ program: Sibling) { self.program = program }

    private var lockFile: String { "\(directory.path)/\(program.rawValue).running" }
    /// What it prints; begun anew with each start.
    var log: String { "\(directory.path)/\(program.rawValue).log" }

    /// Under a second lock, as trying the first one takes it for a moment, in which another process could not start it.
    var isRunning: Bool {
        let file = LocalFile(lockFile)
        // Locks that cannot be tried are as good as none.
        guard FileManager.default.fileExists(atPath: lockFile), let turn = try? file.lock() else { return false }
        return withExtendedLifetime(turn) { (try? FileLock(lockFile).lockIfAvailable()) == false }  // As above.
    }

    private var lines: [String] {
        // A file that cannot be read says as much as none.
        let content = try? LocalFile(lockFile).read(byteLimit: 4_096)
        return content.map { String(decoding: $0.data, as: UTF8.self).split(separator: "\n").map(String.init) } ?? []
    }

    /// What it printed last, without its name.
    var lastWords: String? {
        // Without a log there is nothing to tell.
        let content = try? LocalFile(log).read(byteLimit: 1_048_576)
        let line = content.flatMap { String(decoding: $0.data, as: UTF8.self).split(separator: "\n").last }
        return line.map { String($0.trimmingPrefix("\(program.rawValue): ")) }
    }

    private var number: pid_t? { lines.first?.split(separator: " ").first.flatMap { pid_t($0) } }

    /// The other machine on which it runs, where two share a home directory.
    var otherHost: String? {
        guard isRunning, let host = lines.first?.split(separator: " ").last.map(String.init) else { return nil }
        return host == ProcessInfo.processInfo.hostName ? nil : host
    }

    /// What it was started with last, whether it runs or not; empty if it never was.
    var arguments: [String] { Array(lines.dropFirst()) }

    /// Does nothing if it runs.
    func start(_ arguments: [String]) throws {
        let turn = try LocalFile(lockFile).lock()
        defer { turn.unlock() }
        let lock = try FileLock(lockFile)
        guard try lock.lockIfAvailable() else { return }
        let path = try program.path()
        let output = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { for descriptor in [output, null] where descriptor >= 0 { close(descriptor) } }
        guard output >= 0, null >= 0 else { throw FileError.current("open", log) }
        let record = ([" " + ProcessInfo.processInfo.hostName] + arguments).joined(separator: "\n")
        // What cannot be written is said here, before anything runs.
        try lock.write(record + "\n")
        // It adds its number itself: this program may be killed at once, and nobody could end it later.
        let script = #"file=$1 record=$2; shift 2; printf '%s%s\n' $$ "$record" >"$file" && exec "$@""#
        let child = lock.inherited {
            ChildProcess(
                "/bin/sh", arguments: ["-c", script, "sh", lockFile, record, path] + arguments, standardInput: null,
                output: output, leadsSession: true)
        }
        guard child != nil else {
            throw CommandFailure(.unavailable, "cannot run \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Asks it to end and waits until it has, 20 seconds; then kills it.
    func stop() throws {
        if let otherHost {
            throw CommandFailure(
                .configuration, "\(program.rawValue) runs on \(otherHost), which shares this home; stop it there")
        }
        // Its number is there soon after its lock.
        guard try waitUntil({ !isRunning || number != nil }), isRunning, let number else { return }
        kill(number, SIGTERM)
        // One that was suspended is asked only then.
        kill(number, SIGCONT)
        if try waitUntil({ !isRunning }) { return }
        kill(number, SIGKILL)
        guard try waitUntil({ !isRunning }) else {
            throw CommandFailure(.temporaryFailure, "\(program.rawValue) (process \(number)) does not end")
        }
    }
}

/// Asks every 50 ms: what another program becomes is not notified.
///
/// - Returns: whether it has become so.
func waitUntil(seconds: Double = 20, _ condition: () throws -> Bool) throws -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(seconds)
    while try !condition() {
        guard clock.now < end else { return false }
        usleep(50_000)
    }
    return true
}
