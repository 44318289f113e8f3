/// The exports of tokscale and codeburn.
extension LedgerImportReader {
    /// tokscale's `graph`: days with what each tool took with each model. Reasoning is beside the output.
    mutating func readContributions(_ cursor: JSONCursor) throws(Failure) {
        var days = cursor
        guard days.enterArray() else { throw Failure("contributions", "a list is expected") }
        var index = 0
        while days.nextElement() {
            let place = "contributions[\(index)]"
            index += 1
            guard days.enterObject() else { throw Failure(place, "an object is expected") }
            var day: Int?
            var parts: JSONCursor?
            while let key = days.nextKey() {
                switch key {
                case "date": day = try self.day(&days, place + ".date")
                // The latter up to the end of 2025.
                case "clients", "sources": parts = days.branch()
                default: days.skip()
                }
            }
            guard let day else { throw Failure(place, "it has no date") }
            guard var parts, parts.enterArray() else { continue }
            var number = 0
            while parts.nextElement() {
                try readContribution(&parts, day, "\(place).clients[\(number)]")
                number += 1
            }
        }
    }

    private mutating func readContribution(
        _ cursor: inout JSONCursor, _ day: Int, _ place: String
    ) throws(Failure) {
        guard cursor.enterObject() else { throw Failure(place, "an object is expected") }
        var (source, model): (String?, String?)
        var counts = TokenCounts()
        var cost: Double?
        var requestCount = 0
        while let key = cursor.nextKey() {
            switch key {
            case "client", "source": source = try text(&cursor, place + ".client")
            case "modelId": model = try text(&cursor, place + ".modelId")
            case "cost": cost = try self.cost(&cursor, place + ".cost")
            case "messages": requestCount = try count(&cursor, place + ".messages")
            case "tokens":
                guard cursor.enterObject() else { throw Failure(place + ".tokens", "an object is expected") }
                while let key = cursor.nextKey() {
                    switch key {
                    case "input": counts.input = try count(&cursor, place + ".tokens.input")
                    case "output": counts.output = try count(&cursor, place + ".tokens.output")
                    case "cacheRead": counts.cacheRead = try count(&cursor, place + ".tokens.cacheRead")
                    case "cacheWrite": counts.cacheWrite5m = try count(&cursor, place + ".tokens.cacheWrite")
                    case "reasoning": counts.reasoning = try count(&cursor, place + ".tokens.reasoning")
                    default: cursor.skip()
                    }
                }
            default: cursor.skip()
            }
        }
        counts.output += counts.reasoning
        guard let name = provider ?? source else {
            throw Failure(place, "it does not say of which tool it is; name it with --provider")
        }
        try result.add(
            LedgerImport.Key(day: day, source: try Self.source(name, place + ".client"), model: model),
            Self.amount(counts, cost: cost, requestCount: requestCount), at: place)
    }

    /// codeburn's `export -f json`: requests one by one, with costs in a currency of the user's choice.
    mutating func readRecords(_ records: JSONCursor?, currency: JSONCursor?) throws(Failure) {
        guard var records, records.enterArray() else {
            throw Failure(
                "records",
                "it has none, and its days do not say of which tool they are: export it with a newer codeburn")
        }
        var rate = 1.0
        if var currency, currency.enterObject() {
            while let key = currency.nextKey() {
                guard key == "rate" else {
                    currency.skip()
                    continue
                }
                rate = currency.number() ?? 0
            }
            guard (1e-3...1e6).contains(rate) else { throw Failure("currency.rate", "it is no exchange rate") }
        }
        var index = 0
        while records.nextElement() {
            try readRecord(&records, rate: rate, "records[\(index)]")
            index += 1
        }
    }

    private mutating func readRecord(_ cursor: inout JSONCursor, rate: Double, _ place: String) throws(Failure) {
        guard cursor.enterObject() else { throw Failure(place, "an object is expected") }
        var (source, model, project): (String?, String?, String?)
        var time: Int64?
        var counts = TokenCounts()
        var cost: Double?
        var isRequest = true
        while let key = cursor.nextKey() {
            switch key {
            case "timestamp": time = cursor.milliseconds()
            case "provider": source = try text(&cursor, place + ".provider")
            case "model": model = try text(&cursor, place + ".model")
            case "project": project = try text(&cursor, place + ".project")
            case "inputTokens": counts.input = try count(&cursor, place + ".inputTokens")
            case "outputTokens": counts.output = try count(&cursor, place + ".outputTokens")
            case "reasoningTokens": counts.reasoning = try count(&cursor, place + ".reasoningTokens")
            case "cacheReadTokens": counts.cacheRead = try count(&cursor, place + ".cacheReadTokens")
            case "cacheWriteTokens": counts.cacheWrite5m = try count(&cursor, place + ".cacheWriteTokens")
            case "cost": cost = try self.cost(&cursor, place + ".cost").map { min($0 / rate, LedgerImport.costLimit) }
            // It has costs or tokens of a request that has a record of its own.
            case "supplementary": isRequest = cursor.flag() != true
            default: cursor.skip()
            }
        }
        guard let time else { throw Failure(place + ".timestamp", "it is no time") }
        let day = try checked(clock.day(of: time), place + ".timestamp")
        guard let name = provider ?? source else {
            throw Failure(place, "it does not say of which tool it is; name it with --provider")
        }
        if ["claude", "codex", "copilot"].contains(name) {
            counts.reasoning = min(counts.reasoning, counts.output)
        } else {
            counts.output += counts.reasoning
        }
        try result.add(
            LedgerImport.Key(
                day: day, source: try Self.source(name, place + ".provider"), project: project, model: model),
            Self.amount(counts, cost: cost, requestCount: isRequest ? 1 : 0), at: place)
    }
}
