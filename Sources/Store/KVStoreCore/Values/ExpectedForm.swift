/// Why a part of a document does not decode: the form that it should have had, for users. Quotes nothing of the
/// document.
package struct ExpectedForm: Error, Equatable, Sendable {
    package let text: String

    /// The form that a decoding error names; nil for an error of another origin.
    package init?(of error: any Error) {
        guard case DecodingError.dataCorrupted(let context) = error, let form = context.underlyingError as? ExpectedForm
        else { return nil }
        self = form
    }

    fileprivate init(_ text: String) { self.text = text }
}

extension DecodingError {
    /// - Parameter form: completes "expected …".
    package static func expected(_ form: String, at path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(
            Context(codingPath: path, debugDescription: "expected \(form)", underlyingError: ExpectedForm(form)))
    }
}

extension KeyedDecodingContainer {
    /// Decodes a value of a form that an error names; a missing value, and an error that names a form itself, pass
    /// through.
    package func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, forKey key: Key, expecting form: String
    ) throws -> Value {
        do {
            return try decode(type, forKey: key)
        } catch {
            switch error {
            case DecodingError.keyNotFound, DecodingError.valueNotFound: throw error
            // Also what is no `DecodingError`, as of a number that is out of range.
            default:
                guard ExpectedForm(of: error) == nil else { throw error }
                throw DecodingError.expected(form, at: codingPath + [key])
            }
        }
    }
}
