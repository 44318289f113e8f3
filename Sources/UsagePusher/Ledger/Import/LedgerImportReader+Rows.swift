/// The values of reports, each checked where it is read.
extension LedgerImportReader {
    /// A row of ccusage's reports, or a part of one: what is of one agent or model.
    struct Row {
        var place: String
        var day: Int?
        var project: String?
        /// The model, of a part that is of one.
        var name: String?
        var agent: String?
        /// The tools of a row of several.
        var sources: [String] = []
        var modelNames: [String] = []
        var counts = TokenCounts()
        /// The part of the input that was cached, as Codex's reports stated it up to ccusage 18.
        var cachedInput = 0
        /// The tokens of all kinds, where that is more than `counts` have.
        var total = 0
        /// In US dollars.
        var cost: Double?
        var unpricedCount = 0
        var unpricedTokens = 0
        var models: [Row] = []
        /// Whether models are listed, if only none.
        var hasModels = false
        var agents: [Row] = []
        var isOfCodex = false

        init(place: String) { self.place = place }

        /// Makes the kinds of tokens those of `TokenCounts`.
        mutating func finish() {
            if cachedInput > 0 {
                counts.cacheRead = cachedInput
                counts.input = max(0, counts.input - cachedInput)
            }
            counts.reasoning = min(counts.reasoning, counts.output)
            // Some agents have reasoning beside the output.
            let rest = total - counts.total
            guard rest > 0, name == nil else { return }
            counts.output += rest
            counts.reasoning += rest
        }

        func amount(_ counts: TokenCounts, cost: Double?) -> UsageAmount {
            LedgerImportReader.amount(counts, cost: cost, unpriced: (unpricedCount, unpricedTokens))
        }
    }

    /// - Parameters:
    ///   - cost: in US dollars; nil when it is not known.
    ///   - unpriced: requests and tokens that are not in it.
    static func amount(
        _ counts: TokenCounts, cost: Double?, requestCount: Int = 0, unpriced: (count: Int, tokens: Int) = (0, 0)
    ) -> UsageAmount {
        var amount = UsageAmount()
        amount.requestCount = requestCount
        amount.counts = counts
        var (count, tokens) = unpriced
        if cost == nil, counts.total > 0 { (count, tokens) = (max(1, requestCount), counts.total) }
        let nanodollars = Int((max(0, cost ?? 0) * 1e9).rounded())
        amount.cost = CostSums(ledgerWords: [nanodollars, 0, 0, count, count, tokens, tokens])
        return amount
    }

    /// The agents or models of a row.
    ///
    /// - Parameter depth: 0 for rows, 1 for agents, 2 for models.
    private func list(_ cursor: inout JSONCursor, _ place: String, depth: Int) throws(Failure) -> [Row] {
        var copy = cursor
        guard cursor.enterArray() else { throw Failure(place, "a list is expected, not \(Self.quoted(&copy))") }
        var rows: [Row] = []
        while cursor.nextElement() {
            guard rows.count < LedgerImport.modelLimit else {
                throw Failure(place, "it has more than \(LedgerImport.modelLimit) elements")
            }
            rows.append(try row(&cursor, "\(place)[\(rows.count)]", depth: depth))
        }
        return rows
    }

    func row(_ cursor: inout JSONCursor, _ place: String, depth: Int = 0) throws(Failure) -> Row {
        var copy = cursor
        guard cursor.enterObject() else { throw Failure(place, "an object is expected, not \(Self.quoted(&copy))") }
        var row = Row(place: place)
        while let key = cursor.nextKey() {
            func at(_ name: String) -> String { "\(place).\(name)" }
            switch key {
            case "date" where depth == 0: row.day = try day(&cursor, at("date"))
            case "period" where depth == 0: row.day = try day(&cursor, at("period"))
            case "project" where depth == 0: row.project = try text(&cursor, at("project"))
            case "agent": row.agent = try text(&cursor, at("agent"))
            case "modelName" where depth == 2: row.name = try text(&cursor, at("modelName"))
            case "inputTokens": row.counts.input = try count(&cursor, at("inputTokens"))
            case "outputTokens": row.counts.output = try count(&cursor, at("outputTokens"))
            case "reasoningOutputTokens": row.counts.reasoning = try count(&cursor, at("reasoningOutputTokens"))
            case "cacheCreationTokens": row.counts.cacheWrite5m = try count(&cursor, at("cacheCreationTokens"))
            case "cacheReadTokens": row.counts.cacheRead = try count(&cursor, at("cacheReadTokens"))
            case "cachedInputTokens":
                row.cachedInput = try count(&cursor, at("cachedInputTokens"))
                row.isOfCodex = true
            case "totalTokens": row.total = try count(&cursor, at("totalTokens"))
            case "totalCost": row.cost = try cost(&cursor, at("totalCost"))
            case "cost": row.cost = try cost(&cursor, at("cost"))
            case "costUSD":
                row.cost = try cost(&cursor, at("costUSD"))
                row.isOfCodex = true
            case "unpricedRequests": row.unpricedCount = try count(&cursor, at("unpricedRequests"))
            case "unpricedTokens": row.unpricedTokens = try count(&cursor, at("unpricedTokens"))
            case "modelsUsed" where depth < 2: row.modelNames = try names(&cursor, at("modelsUsed"))
            case "metadata" where depth == 0:
                guard cursor.enterObject() else { continue }
                while let key = cursor.nextKey() {
                    if key == "agents" {
                        row.sources = try names(&cursor, at("metadata.agents"))
                    } else {
                        cursor.skip()
                    }
                }
            case "agents" where depth == 0: row.agents = try list(&cursor, at("agents"), depth: 1)
            case "modelBreakdowns" where depth < 2:
                row.models = try list(&cursor, at("modelBreakdowns"), depth: 2)
                row.hasModels = true
            case "models" where depth < 2:
                guard cursor.enterObject() else { continue }
                row.hasModels = true
                while let key = cursor.nextKey() {
                    let name = try name(key, at("models"))
                    var model = try self.row(&cursor, at("models.\(name)"), depth: 2)
                    model.name = name
                    row.models.append(model)
                    if row.models.count > LedgerImport.modelLimit { throw Failure(at("models"), "it has too many") }
                }
            default: cursor.skip()
            }
        }
        row.finish()
        return row
    }

    // MARK: Values

    static let advice = "correct it, or remove its row"

    /// A whole number of 0 or more; 0 for null.
    func count(_ cursor: inout JSONCursor, _ place: String) throws(Failure) -> Int {
        var copy = cursor
        cursor.hasImpossibleCount = false
        let count = cursor.count() ?? 0
        guard !cursor.hasImpossibleCount, count <= LedgerImport.tokenLimit else {
            throw Failure(place, "\(Self.quoted(&copy)) is no count from 0 to 10¹⁵; \(Self.advice)")
        }
        return count
    }

    /// Nil for null.
    func cost(_ cursor: inout JSONCursor, _ place: String) throws(Failure) -> Double? {
        var copy = cursor
        let value = Self.quoted(&copy)
        guard let cost = cursor.number() else {
            if value == "null" { return nil }
            throw Failure(place, "\(value) is no cost; \(Self.advice)")
        }
        guard (0...LedgerImport.costLimit).contains(cost) else {
            throw Failure(
                place, "\(value) is no cost, from 0 to \(Int(LedgerImport.costLimit)) dollars; \(Self.advice)")
        }
        return cost
    }

    func day(_ cursor: inout JSONCursor, _ place: String) throws(Failure) -> Int {
        var copy = cursor
        guard let text = cursor.text()?.string, text.utf8.count == 10, let day = CalendarDay(text) else {
            throw Failure(place, "\(Self.quoted(&copy)) is no day of the calendar, such as 2026-09-17; \(Self.advice)")
        }
        return try checked(day, place)
    }

    /// The number of a day on which tools can have been used.
    func checked(_ day: CalendarDay, _ place: String) throws(Failure) -> Int {
        // 2020-01-01
        if day.number < 18_262 {
            throw Failure(place, "\(day) is before 2020, when there was none of these tools; \(Self.advice)")
        }
        if day.number > lastDay { throw Failure(place, "\(day) is in the future; \(Self.advice)") }
        return day.number
    }

    /// Nil for null and an empty one.
    func text(_ cursor: inout JSONCursor, _ place: String) throws(Failure) -> String? {
        var copy = cursor
        guard let text = cursor.text() else {
            let value = Self.quoted(&copy)
            if value == "null" { return nil }
            throw Failure(place, "\(value) is no text; \(Self.advice)")
        }
        return text.bytes.isEmpty ? nil : try name(text, place)
    }

    func name(_ text: JSONCursor.Text, _ place: String) throws(Failure) -> String {
        guard text.bytes.count <= 1_024, let name = text.string?.displayText(limit: 240) else {
            throw Failure(place, "a name is expected, of up to 240 characters; \(Self.advice)")
        }
        return name
    }

    private func names(_ cursor: inout JSONCursor, _ place: String) throws(Failure) -> [String] {
        guard cursor.enterArray() else { return [] }
        var names: [String] = []
        while cursor.nextElement() {
            if let name = try text(&cursor, "\(place)[\(names.count)]") { names.append(name) }
            if names.count > LedgerImport.modelLimit { throw Failure(place, "it has too many names") }
        }
        return names
    }

    /// The beginning of the next value, for an error.
    static func quoted(_ cursor: inout JSONCursor) -> String {
        let text = String(decoding: cursor.value().prefix(60), as: UTF8.self)
        return text.count > 40 ? text.prefix(40) + "…" : text
    }
}

extension TokenCounts {
    /// What is left, and nothing less than 0.
    static func -= (counts: inout TokenCounts, other: TokenCounts) {
        counts = TokenCounts(words: zip(counts.words, other.words).map { Swift.max(0, $0 - $1) })
    }
}
