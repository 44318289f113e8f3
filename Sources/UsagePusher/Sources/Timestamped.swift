import Foundation

/// A value and the time it was observed at.
struct Timestamped<Value: Sendable>: Sendable {
    var value: Value
    var at: Date
}

extension Optional {
    /// Replaces a missing or older value.
    mutating func keepNewer<Value>(_ other: Timestamped<Value>?)
    where Wrapped == Timestamped<Value> {
        guard let other else { return }
        if let held = self, held.at >= other.at { return }
        self = other
    }
}
