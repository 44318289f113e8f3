/// Which calls to a simulated disk fail, and how.
///
/// Faults strike in the order in which they were added. A call that one of them fails without effect does not
/// count for those behind it.
package struct FaultPlan: Sendable, CustomStringConvertible {
    package enum Call: String, Sendable {
        case segments = "list"
        case syncNames = "sync names"
        case open, create, remove, quarantine, lock, read, write, sync
    }

    package enum Fault: Sendable, Equatable {
        /// The call has no effect and fails with this error number. A creation may leave the segment, as
        /// `LogStorage` allows, unless the disk is full.
        case fail(Int32)
        /// A write stores its first bytes (nil: a random number of them), a creation the whole segment; then it fails.
        case tear(Int?)
        /// As `tear`, and the process is killed.
        case kill(after: Int?)
        /// A sync fails, and what it should have written counts as clean: the next power failure loses it, as on Linux.
        case losePages
    }

    private struct Rule: Sendable {
        /// Nil for any kind.
        var call: Call?
        var fault: Fault
        var countdown: Int
        var times: Int
    }

    /// Bytes that all segments together may take; nil for no limit.
    package var capacity: Int?
    private var rules: [Rule] = []

    package init() {}

    /// Adds a fault that strikes the `number`-th call of a kind from now on and those that follow it, `times` in all
    /// (`.max`: all). It replaces an equal fault at the same kind of call.
    package mutating func aim(_ fault: Fault, at call: Call? = nil, number: Int = 1, times: Int = 1) {
        rules.removeAll { $0.call == call && $0.fault == fault }
        rules.append(Rule(call: call, fault: fault, countdown: number, times: times))
    }

    /// Counts a call and returns the faults that strike it.
    mutating func strike(_ call: Call) -> [Fault] {
        guard !rules.isEmpty else { return [] }
        var struck: [Fault] = []
        for index in rules.indices where (rules[index].call ?? call) == call {
            rules[index].countdown -= 1
            guard rules[index].countdown <= 0 else { continue }
            rules[index].times -= 1
            struck.append(rules[index].fault)
            if case .fail = rules[index].fault { break }
        }
        rules.removeAll { $0.times == 0 }
        return struck
    }

    package var description: String {
        let faults = rules.map {
            "\($0.fault) at \($0.call?.rawValue ?? "call") \($0.countdown) × \($0.times)"
        }
        return (capacity.map { ["\($0) bytes"] } ?? faults).joined(separator: ", ")
    }
}
