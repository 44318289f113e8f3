/// A promise that a state or a step of the model breaks.
struct ModelViolation: Error, CustomStringConvertible {
    /// The promise, as a sentence.
    var promise: String
    var detail: String
    /// The steps from the first state to here; filled in by the search.
    var path: [ModelStep] = []

    var description: String {
        "\(promise): \(detail)\n" + path.enumerated().map { "  \($0.offset + 1). \($0.element)\n" }.joined()
    }
}
