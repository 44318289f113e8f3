import Foundation

/// A value and when it was true.
struct Dated<Value: Sendable>: Sendable {
    var value: Value
    var at: Date
}

extension Optional {
    /// Takes the other when there is none yet, or it is newer.
    mutating func keepNewer<Value>(_ other: Dated<Value>?) where Wrapped == Dated<Value> {
        guard let other else { return }
        if let held = self, held.at >= other.at { return }
        self = other
    }
}
