import Foundation

/// Reads small documents (a JSON file) whole.
enum DocumentReader {
    struct Document {
        var fields: JSONFields?
        var facts: FileFacts
    }

    /// `fields` is nil when the file is not one JSON object.
    ///
    /// - Throws: what keeps the file from being read; `.tooLarge` also when the pass has not
    ///   enough bytes left, and then the budget is marked.
    static func read(
        _ path: String, followsLink: Bool = true, budget: inout ScanBudget
    ) throws(FileTrouble) -> Document {
        var spent = budget
        let result: Result<Document, FileTrouble> = try ReadOnlyFile.withOpen(
            path, followsLink: followsLink
        ) { file in
            let limit = spent.limits.documentByteCount
            guard file.facts.byteCount <= limit else { return .failure(.tooLarge(limit: limit)) }
            guard spent.takeFile(), file.facts.byteCount <= spent.bytesLeft else {
                spent.noteExceeded()
                return .failure(.tooLarge(limit: spent.bytesLeft))
            }
            let bytes = file.bytes(at: 0, count: Int(file.facts.byteCount))
            spent.noteRead(bytes.count)
            return .success(Document(fields: JSONFields(Data(bytes)), facts: file.facts))
        }
        budget = spent
        return try result.get()
    }
}
