import Commands
import Essentials

/// Why there is no answer.
struct CodexRefusal: Error, Equatable {
    /// Fit to be shown.
    var reason: String
    /// Whether earlier answers are of a login that is there no more.
    var isLogout = false
}

/// What is said to `codex app-server`, and what it answers: JSON-RPC, an object a line [0.163.0,
/// `codex app-server generate-json-schema`].
///
/// Answers come in any order, between notifications and questions of the server; they are known by their ids.
struct CodexConversation {
    private enum Request: Int, CaseIterable {
        case initialize = 1
        case account
        case limits
    }

    private enum Answer {
        case result(JSONFields)
        case error(String)

        var result: JSONFields? { if case .result(let fields) = self { fields } else { nil } }
    }

    static let lineByteLimit = 262_144
    private static let bucketLimit = 16

    /// All of them at once; the input has to stay open until the answers are there.
    static let requests = Data(
        """
        {"id":1,"method":"initialize","params":{"clientInfo":{"name":"usage-push","title":null,"version":"1"},"capabilities":null}}
        {"method":"initialized"}
        {"id":2,"method":"account/read","params":{"refreshToken":false}}
        {"id":3,"method":"account/rateLimits/read"}

        """.utf8)

    private var readByteCount = 0
    private var answers: [Request: Answer] = [:]

    /// Reads the lines that are new in the output so far. Returns whether nothing more is to come.
    mutating func read(_ output: Data) -> Bool {
        while let end = output.dropFirst(readByteCount).firstIndex(of: UInt8(ascii: "\n")) {
            let line = output[(output.startIndex + readByteCount)..<end]
            readByteCount = end + 1 - output.startIndex
            if line.count <= Self.lineByteLimit { read(line: Data(line)) }
        }
        if case .error = answers[.initialize] { return true }
        return answers[.account] != nil && answers[.limits] != nil
    }

    private mutating func read(line: Data) {
        guard let message = JSONFields(line), message.text("method") == nil,
            let request = message.number("id").flatMap({ Int(exactly: $0) }).flatMap(Request.init),
            answers[request] == nil
        else { return }
        if let result = message.fields("result") {
            answers[request] = .result(result)
        } else if let error = message.fields("error") {
            answers[request] = .error(Self.shown(error.text("message") ?? "an error without a message"))
        }
    }

    /// Without what may be a credential or an address.
    private static func shown(_ message: String) -> String {
        let masked = SecretMask.masked(message).replacing(/[^\s@"'<(]+@[A-Za-z0-9.\-]*[A-Za-z0-9]/, with: String.hidden)
        return masked.displayText(limit: 200) ?? "an error without a message"
    }

    /// The answer; nil while one is missing.
    func answer(askedAt: Date, answeredAt: Date, path: String) throws(CodexRefusal) -> CodexAnswer? {
        if case .error(let message) = answers[.initialize] { throw CodexRefusal(reason: "it answers: \(message)") }
        guard let account = answers[.account], let limits = answers[.limits] else { return nil }
        let login = account.result?.fields("account")
        if let kind = login?.text("type"), kind != "chatgpt" {
            throw CodexRefusal(reason: "its login has no plan limits (\(Self.shown(kind)))", isLogout: true)
        }
        guard case .result(let result) = limits else {
            if account.result != nil, login == nil { throw CodexRefusal(reason: "not signed in", isLogout: true) }
            guard case .error(let message) = limits else { return nil }
            throw CodexRefusal(reason: "it answers: \(message)")
        }
        let readings = Self.readings(result, plan: login?.text("planType"), at: askedAt, path: path)
        guard !readings.isEmpty else { throw CodexRefusal(reason: "its answer states no limits") }
        let routing = account.result?.fields("workspaceRouting")
        return CodexAnswer(
            askedAt: askedAt, answeredAt: answeredAt, address: login?.text("email")?.lowercased().fingerprint,
            workspaces: [routing?.text("chatgptAccountId"), result.text("accountId")].compactMap { $0?.fingerprint },
            readings: readings)
    }

    /// The single limit of old versions, and those by their names.
    private static func readings(
        _ result: JSONFields, plan: String?, at date: Date, path: String
    ) -> [LimitReading] {
        var readings: [LimitReading] = []
        func add(_ limits: JSONFields?, key: String? = nil) {
            let origin = LimitReading.Origin(path: path)
            let row = limits.flatMap { CodexRow($0, key: key, observedAt: date, origin: origin) }
            let stated = (row?.flawed ?? []) + [row?.reading].compactMap { $0 }
            guard let limit = stated.first?.limit, !readings.contains(where: { $0.limit == limit }) else { return }
            readings += stated.map { reading in
                var reading = reading
                reading.plan = reading.plan ?? plan?.displayText(limit: 64)
                return reading
            }
        }
        add(result.fields("rateLimits"))
        let buckets = result.fields("rateLimitsByLimitId")
        for key in (buckets?.names ?? []).sorted().prefix(bucketLimit) { add(buckets?.fields(key), key: key) }
        return readings
    }
}
