import Essentials
import Synchronization

/// Passes the signals that would end or notify this program on to a child, whose end then decides on that of this
/// program.
///
/// Signals of a terminal to its foreground process group are not forwarded: the child gets them itself. One per
/// process.
package enum SignalForwarding {
    private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

    /// From now on no signal ends this program; those that arrive before `begin` are kept, one at most.
    package static func prepare() {
        terminal.store(open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC), ordering: .relaxed)
        for number in numbers {
            // The child inherits that.
            guard !sigaction.isIgnored(number) else { continue }
            signal(number, signalArrived)
        }
        // Otherwise the system keeps no exit status.
        signal(SIGCHLD, SIG_DFL)
    }

    /// Sends to `child` what has arrived and what arrives.
    package static func begin(to child: ChildProcess) {
        receiver.store(child.identifier, ordering: .sequentiallyConsistent)
        let number = kept.exchange(0, ordering: .sequentiallyConsistent)
        if number != 0 { kill(child.identifier, number) }
    }

    /// Signals are ignored from now on.
    package static func end() { receiver.store(-1, ordering: .sequentiallyConsistent) }

    /// Signals end this program again.
    package static func stop() { for number in numbers where !sigaction.isIgnored(number) { signal(number, SIG_DFL) } }
}

/// The state of the handler: the child, 0 before and -1 after it; a signal that arrived before it; the terminal, if
/// any.
private let receiver = Atomic<pid_t>(0)
private let kept = Atomic<Int32>(0)
private let terminal = Atomic<Int32>(-1)

/// Async-signal-safe.
private func signalArrived(_ number: Int32) {
    let previous = errno
    defer { errno = previous }
    let isOfTerminal = number == SIGINT || number == SIGQUIT
    let descriptor = terminal.load(ordering: .relaxed)
    let child = receiver.load(ordering: .sequentiallyConsistent)
    if child > 0 {
        if isOfTerminal, descriptor >= 0, tcgetpgrp(descriptor) == getpgrp() { return }
        kill(child, number)
    } else if child == 0 {
        kept.store(number, ordering: .sequentiallyConsistent)
        let late = receiver.load(ordering: .sequentiallyConsistent)
        if late > 0, kept.exchange(0, ordering: .sequentiallyConsistent) != 0 {
            kill(late, number)
        }
    }
}

extension sigaction {
    /// Whether the process ignores a signal, as after `nohup` SIGHUP.
    package static func isIgnored(_ number: Int32) -> Bool {
        var action = Self()
        sigaction(number, nil, &action)
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
