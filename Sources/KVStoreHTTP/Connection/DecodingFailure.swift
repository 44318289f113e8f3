/// Words for a document that does not decode, without quoting any of it.
enum DecodingFailure {
    static func words(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "not JSON" }
        switch error {
        case .typeMismatch(_, let context): return "\(place(context)) has another type"
        case .valueNotFound(_, let context): return "\(place(context)) is null"
        case .keyNotFound(let key, let context):
            return "\(place(context)) has no \(ProblemDetails.plain(key.stringValue, limit: 64))"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty ? "not JSON" : "\(place(context)) is not valid"
        @unknown default: return "not JSON"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
        return path.isEmpty
            ? "the answer"
            : ProblemDetails.plain(path.joined(separator: "."), limit: 128)
    }
}
