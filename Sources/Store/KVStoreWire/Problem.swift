package import Essentials

/// An error answer: `application/problem+json` (RFC 9457) with a stable code, and `Retry-After`.
package struct Problem: Error, Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// Stable; clients decide by it.
    package var code: String
    package var title: String
    package var detail: String
    /// The limit that was exceeded, in the unit that `detail` names.
    package var limit: Int?
    /// With `other-account`: the account that the device has, nil for none.
    package var account: String?
    /// What the user can do.
    package var hint: String?
    /// Sent as the `Retry-After` header, not in the document.
    package var retryAfterSeconds: Int?

    package init(
        _ status: Int, _ code: String, _ title: String, detail: String, limit: Int? = nil,
        hint: String? = nil, retryAfterSeconds: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.limit = limit
        self.hint = hint
        self.retryAfterSeconds = retryAfterSeconds
    }

    private struct Document: Codable {
        var type: String?
        var title: String?
        var status: Int?
        var code: String?
        var detail: String?
        var limit: Int?
        var account: String?
        var hint: String?
    }

    package var json: Data {
        WireJSON.encode(
            Document(
                type: "about:blank", title: title, status: status, code: code, detail: detail,
                limit: limit, account: account, hint: hint))
    }

    /// Reads an error answer of any server.
    ///
    /// Texts are bounded and printable, and may be empty; the code is `http-<status>` where the body is not a
    /// problem document. `Retry-After` counts as a number of seconds only; kvsd does not send dates.
    package init(status: Int, body: Data, retryAfter: String? = nil) {
        let document = try? WireJSON.decode(Document.self, from: body)  // the status alone counts then
        func text(_ text: String?) -> String {
            (text ?? "").printable(scalarLimit: DocumentLimits.problemTextScalarCount)
        }
        let code = document?.code?.printable(scalarLimit: DocumentLimits.problemCodeScalarCount)
        self.init(
            status, code.flatMap { $0.isEmpty ? nil : $0 } ?? "http-\(status)", text(document?.title),
            detail: text(document?.detail),
            limit: document?.limit.flatMap { WireNumber.count.contains(Int64($0)) ? $0 : nil },
            hint: document?.hint.map(text), retryAfterSeconds: retryAfter.flatMap(Self.seconds))
        account = document?.account.map(text)
    }

    private static func seconds(_ text: String) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let seconds = Int(text)
        else { return nil }
        return min(seconds, DocumentLimits.retryAfterSeconds)
    }
}
