/// Limits on documents from the network.
package enum DocumentLimits {
    /// Levels of arrays and objects.
    package static let jsonDepth = 32
    /// Bytes of one line of an event stream, and of the data of one event.
    package static let eventByteCount = 2 * 1_024 * 1_024
    /// Bytes of the name of an event.
    package static let eventNameByteCount = 1_024
    /// Unicode scalars of a problem's code and of its texts.
    package static let problemCodeScalarCount = 64
    package static let problemTextScalarCount = 400
    /// The longest wait that a client accepts from `Retry-After`.
    package static let retryAfterSeconds = 86_400
}

/// Media types of bodies and answers.
package enum MediaType {
    package static let json = "application/json"
    package static let problem = "application/problem+json"
    package static let eventStream = "text/event-stream"
    /// A sync request or its answer in binary.
    package static let sync = "application/vnd.ubiquity.sync"
    /// The bytes of one value: a binary property list.
    package static let bytes = "application/octet-stream"
    /// A value as JSON with its type.
    package static let typedValue = "application/vnd.ubiquity.value+json"
}

extension String {
    /// The text on one line without control, format or unassigned characters, cut after `limit` Unicode scalars.
    package func printable(scalarLimit limit: Int) -> String {
        var result = ""
        for scalar in unicodeScalars.prefix(limit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned:
                result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.count > limit ? result + "…" : result
    }
}
