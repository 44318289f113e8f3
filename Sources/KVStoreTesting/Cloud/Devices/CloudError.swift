/// Why a simulated cloud does not come to rest.
public enum CloudError: Error, Sendable, Equatable {
    /// Things still happened when the virtual time was up. `what` names what was due next.
    case stillMoving(after: Duration, what: [String])
    /// All that is left waits for `CloudDevice.release()`.
    case held(what: [String])
}

extension CloudError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stillMoving(let limit, let what):
            "the cloud did not come to rest within \(limit) of virtual time; still under way: "
                + what.joined(separator: "; ")
        case .held(let what):
            "held until release(), so the cloud cannot come to rest: "
                + what.joined(separator: "; ")
                + " (advance(by:) goes on with the other devices)"
        }
    }
}
