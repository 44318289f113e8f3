/// A promise that a simulated world has seen broken.
package struct Violation: Error, Sendable, CustomStringConvertible {
    package var seed: UInt64
    /// Virtual milliseconds since the world began.
    package var time: Int64
    package var promise: String
    package var detail: String
    /// The last events before it.
    package var trace: [String]

    package var description: String {
        "seed \(seed) at \(time) ms: \(promise): \(detail)\n" + trace.map { "    " + $0 }.joined(separator: "\n")
    }
}
