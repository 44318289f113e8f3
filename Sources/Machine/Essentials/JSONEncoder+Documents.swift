extension JSONEncoder {
    /// The bytes of a document of texts, dates and finite numbers, which always has a form.
    package func data(of document: some Encodable) -> Data {
        do { return try encode(document) } catch { preconditionFailure("a \(type(of: document)) is JSON: \(error)") }
    }
}
