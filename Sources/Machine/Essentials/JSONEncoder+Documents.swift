extension JSONEncoder {
    /// Writes equal documents as the same bytes, with sorted keys and slashes as they are.
    package static func sorted(
        isIndented: Bool = false, dates: DateEncodingStrategy = .deferredToDate
    ) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isIndented { encoder.outputFormatting.insert(.prettyPrinted) }
        encoder.dateEncodingStrategy = dates
        return encoder
    }

    /// The bytes of a document of texts, dates and finite numbers, which always has a form.
    package func data(of document: some Encodable) -> Data {
        do { return try encode(document) } catch { preconditionFailure("a \(type(of: document)) is JSON: \(error)") }
    }
}
