import KVStore

/// Why a simulated cloud did not settle, or why it has no record.
///
/// ```swift
/// do throws(CloudError) { try await cloud.settle() } catch { print(error) }
/// ```
public enum CloudError: Error, Sendable, Equatable {
    /// A limit was reached while events continued. `causes` names the observers that kept writing, and those that have
    /// not returned; `what` describes what was under way.
    case stillMoving(after: Limit, causes: [String], what: [String])
    /// Everything left waits for `CloudDevice.release()`.
    case held(what: [String])
    /// Nothing is under way that could make the condition of `run` hold, except messages that wait for
    /// `CloudDevice.release()`.
    case conditionNotMet(held: [String])

    /// A strict cloud has settled, and devices have dropped these writes since it last did.
    case droppedWrites([String])

    /// Something else has happened than in the record that is replayed: the code under test has changed, or depends on
    /// more than the cloud. Long lines are excerpts around the first difference; nil at the end of the record, or of
    /// the test.
    case differsFromRecord(line: Int, recorded: String?, present: String?)
    /// The record cannot be read or written, for this reason. The cloud goes on without it.
    case recordFailed(String)

    /// What ended the attempt.
    public enum Limit: Sendable, Equatable {
        case virtualTime(Duration)
        case realTime(Duration)
        /// So many writes of one key on one device, or as many rounds of notifications that were all answered with
        /// others.
        case writes(Int)
        /// The calling task was cancelled.
        case cancellation
    }
}

extension CloudError: CustomStringConvertible {
    /// One sentence; for a difference from a record, with its lines.
    public var description: String {
        switch self {
        case .stillMoving(let limit, let causes, let what):
            "the cloud did not settle \(limit): " + (causes + what.map { "under way: \($0)" }).joined(separator: "; ")
        case .held(let what):
            "held until release(), so the cloud cannot settle: " + what.joined(separator: "; ")
                + " (advance(by:) continues with the other devices)"
        case .droppedWrites(let writes):
            "writes were dropped, which Apple's class does silently: " + writes.joined(separator: "; ")
        case .differsFromRecord(let line, let recorded, let present):
            """
            line \(line) of the record differs
            recorded: \(recorded ?? "(the record ends)")
            now: \(present ?? "(the test ends)")
            """
        case .recordFailed(let reason): reason
        case .conditionNotMet(let held):
            "the condition does not hold, and nothing is under way"
                + (held.isEmpty ? "" : "; held until release(): " + held.joined(separator: "; "))
        }
    }
}

extension CloudError.Limit: CustomStringConvertible {
    /// Completes "did not settle …".
    public var description: String {
        switch self {
        case .virtualTime(let time): "within \(time) of virtual time"
        case .realTime(let time): "within \(time) of real time"
        case .writes(let count): "within \(count.grouped) writes of one key"
        case .cancellation: "before its task was cancelled"
        }
    }
}

extension Int {
    /// With a comma between thousands.
    var grouped: String {
        guard self >= 1_000 else { return String(self) }
        return "\((self / 1_000).grouped),\(String(self % 1_000 + 1_000).dropFirst())"
    }
}
