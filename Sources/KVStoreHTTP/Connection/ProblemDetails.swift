import Foundation

/// An error answer of the daemon: `application/problem+json` (RFC 9457) with a stable code.
///
/// Its texts come from outside: they are bounded, and have no line breaks or control characters.
struct ProblemDetails: Equatable {
    var code: String
    var message: String

    /// Anything that is not a problem document is described by the status alone.
    init(status: Int, body: Data) {
        let wire = try? JSONDecoder().decode(Wire.self, from: body)
        let code = wire?.code.map { Self.plain($0, limit: HTTPLimits.problemCodeCharacterCount) }
        self.code = code.flatMap { $0.isEmpty ? nil : $0 } ?? "http-\(status)"
        let text = wire?.detail ?? wire?.title
        let message = text.map { Self.plain($0, limit: HTTPLimits.messageCharacterCount) }
        self.message =
            message.flatMap { $0.isEmpty ? nil : $0 } ?? "no explanation; is this address kvsd's?"
    }

    private struct Wire: Decodable {
        var code: String?
        var title: String?
        var detail: String?
    }

    static func plain(_ text: String, limit: Int) -> String {
        var result = ""
        // Scalars, since one character may hold any number of them.
        for scalar in text.unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate,
                .unassigned:
                result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return text.unicodeScalars.count > limit ? result + "…" : result
    }
}
