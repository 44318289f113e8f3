package import ClockZones
package import Essentials

/// Reads reports of counters: ccusage's of days and this product's own, tokscale's `graph` and codeburn's `export`;
/// docs/report-shapes.md has their shapes. Pure.
package struct LedgerImportReader {
    package typealias Failure = LedgerImport.Failure

    /// The id of the provider; nil for that which the report states.
    let provider: String?
    /// The last day that is possible.
    let lastDay: Int
    var clock: ReportClock
    var result = LedgerImport()

    /// - Parameters:
    ///   - provider: whose all usage is; nil for what the report states, and Claude's where ccusage states none.
    ///   - today: since 1970.
    ///   - zone: whose days those of reports are that state times.
    package init(provider: String?, today: Int, zone: ClockZone) {
        self.provider = provider
        // A zone's day may be tomorrow's.
        lastDay = today + 1
        clock = ReportClock(zone: zone)
    }

    /// - Parameter data: at most `LedgerImport.byteLimit` bytes.
    package static func read(
        _ data: Data, provider: String? = nil, today: Int, zone: ClockZone
    ) throws(Failure) -> LedgerImport {
        guard data.count <= LedgerImport.byteLimit else {
            throw Failure(nil, "more than \(LedgerImport.byteLimit) bytes; import parts of it")
        }
        var reader = LedgerImportReader(provider: provider, today: today, zone: zone)
        let failure: Failure? = data.withUnsafeBytes { bytes in
            do throws(Failure) {
                try reader.read(bytes)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        return reader.result
    }

    /// Members of the report by which it is known, and why those are refused that state no days.
    private static let members: Set<String> = ["daily", "projects", "contributions", "records", "schema", "currency"]
    private static let refused = [
        "monthly": "states months", "weekly": "states weeks", "yearly": "states years", "session": "states sessions",
        "sessions": "states sessions", "blocks": "states blocks of hours", "models": "states models without days",
        "machines": "states machines without days", "entries": "states one session",
    ]

    private mutating func read(_ text: UnsafeRawBufferPointer) throws(Failure) {
        guard JSONCursor.object(in: text).isWhole else { throw invalid(text) }
        var cursor = JSONCursor(text)
        guard cursor.enterObject() else { return }
        var members: [String: JSONCursor] = [:]
        while let key = cursor.nextKey() {
            let name = key.bytes.count < 20 ? key.string ?? "" : ""
            if Self.members.contains(name) || Self.refused[name] != nil {
                members[name] = cursor.branch()
            } else {
                cursor.skip()
            }
        }
        if let days = members["contributions"] { return try readContributions(days) }
        if var schema = members["schema"], schema.text()?.string?.hasPrefix("codeburn.export.") == true {
            return try readRecords(members["records"], currency: members["currency"])
        }
        if let days = members["daily"] { return try readRows(days, "daily") }
        if var projects = members["projects"], projects.enterObject() { return try readProjects(&projects) }
        if let name = members.keys.sorted().first(where: { Self.refused[$0] != nil || $0 == "projects" }) {
            throw Failure(
                name,
                "the report \(Self.refused[name] ?? "states projects without days"), and only a whole day can be left out "
                    + "where logs cover it: import a report of days, such as that of 'ccusage daily --json'")
        }
        throw Failure(
            nil,
            "no report that is known: import the JSON of 'ccusage daily --json', 'usage-push report --json', "
                + "'tokscale graph' or 'codeburn export -f json'")
    }

    private func invalid(_ text: UnsafeRawBufferPointer) -> Failure {
        let outlineByteLimit = 1 << 20
        guard text.count <= outlineByteLimit else { return Failure(nil, "it is no JSON object, or is cut off") }
        do throws(JSONDocumentError) {
            let outline = try JSONOutline([UInt8](text))
            if outline.root.items?.isEmpty == true { return Failure(nil, "it has no days") }
            return Failure(nil, "it is no JSON object")
        } catch {
            return Failure(nil, "invalid JSON, \(error)")
        }
    }

    // MARK: ccusage

    private mutating func readProjects(_ cursor: inout JSONCursor) throws(Failure) {
        while let key = cursor.nextKey() {
            let name = try name(key, "projects")
            try readRows(cursor.branch(), "projects.\(name)", project: name)
        }
    }

    private mutating func readRows(
        _ cursor: JSONCursor, _ place: String, project: String? = nil
    ) throws(Failure) {
        var (cursor, copy) = (cursor, cursor)
        guard cursor.enterArray() else { throw Failure(place, "a list is expected, not \(Self.quoted(&copy))") }
        var index = 0
        while cursor.nextElement() {
            let row = try row(&cursor, "\(place)[\(index)]")
            guard let day = row.day else { throw Failure(row.place, "it has no date") }
            try add(row, day, row.project ?? project)
            index += 1
        }
    }

    private mutating func add(_ row: Row, _ day: Int, _ project: String?) throws(Failure) {
        if provider == nil, !row.agents.isEmpty {
            for part in row.agents { try add(part, day, project) }
            return
        }
        let source = try source(of: row)
        let key = LedgerImport.Key(
            day: day, source: source, project: project == ReportQuery.unknownProject ? nil : project, model: nil)
        var rest = row.counts
        var restCost = row.cost
        let isOneModel = row.models.count == 1
        for model in row.models {
            var key = key
            key.model = model.name
            // Codex's models state no costs.
            let cost = model.cost ?? (row.cost == nil ? nil : isOneModel ? row.cost : 0)
            try result.add(key, model.amount(model.counts, cost: cost), at: model.place)
            rest -= model.counts
            restCost = restCost.map { $0 - (cost ?? 0) }
        }
        // Roundings of sums are no rest.
        if !row.models.isEmpty, let cost = restCost, cost < 0.000_01 { restCost = 0 }
        guard row.models.isEmpty || rest.total > 0 || (restCost ?? 0) > 0 else { return }
        var restKey = key
        if row.models.isEmpty, row.modelNames.count == 1 { restKey.model = row.modelNames[0] }
        let amount = row.models.isEmpty ? row.amount(rest, cost: restCost) : Self.amount(rest, cost: restCost)
        try result.add(restKey, amount, at: row.place)
    }

    private func source(of row: Row) throws(Failure) -> String {
        if let provider { return provider }
        let ways =
            "import one report for each tool, or one of 'ccusage daily --by-agent --json', or name the tool of all with --provider"
        switch row.sources.count {
        case 1: return try Self.source(row.sources[0], row.place)
        case 2...: throw Failure(row.place, "it is of several tools (\(row.sources.joined(separator: ", "))): \(ways)")
        default: break
        }
        if let agent = row.agent, agent != "all" { return try Self.source(agent, row.place) }
        if row.agent != nil { throw Failure(row.place, "it does not say of which tools it is: \(ways)") }
        if row.isOfCodex { return "codex" }
        guard row.hasModels else {
            throw Failure(row.place, "it does not say of which tool it is; name it with --provider")
        }
        return "claude"
    }

    /// The id of a provider for the name that another counter has for its tool.
    static func source(_ name: String, _ place: String) throws(Failure) -> String {
        let bytes = Array(name.utf8)
        func isAlphanumeric(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || byte &- 0x61 < 26 }
        guard (1...40).contains(bytes.count), isAlphanumeric(bytes[0]),
            bytes.allSatisfy({ isAlphanumeric($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F })
        else { throw Failure(place, "'\(name.prefix(40))' is no name of a tool; name it with --provider") }
        return ["droid": "factory", "kilocode": "kilo", "roo-code": "roocode"][name] ?? name
    }
}
