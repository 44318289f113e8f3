/// Why a simulated cloud did not settle.
public enum CloudError: Error, Sendable, Equatable {
    /// Events continued when the virtual time was up. `what` describes them.
    case stillMoving(after: Duration, what: [String])
    /// Everything left waits for `CloudDevice.release()`.
    case held(what: [String])
}

extension CloudError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stillMoving(let limit, let what):
            "the cloud did not settle within \(limit) of virtual time; still under way: "
                + what.joined(separator: "; ")
        case .held(let what):
            "held until release(), so the cloud cannot settle: "
                + what.joined(separator: "; ")
                + " (advance(by:) continues with the other devices)"
        }
    }
}
