/// What a model answered: the JSON of a row of `message` or `session_message`, or of a file.
struct OpenCodeMessage {
    /// As a file states it; rows have it in a column.
    private(set) var session: String?
    private(set) var model: String?
    private(set) var provider: String?
    private(set) var project: String?
    /// Milliseconds since 1970.
    private(set) var created: Int64?
    private(set) var isAssistant = false
    /// What the last step alone used.
    private(set) var usage = OpenCodeUsage()
    private var isImpossible = false

    /// - Parameter type: of `session_message`, which says there what `role` does elsewhere.
    init(_ bytes: UnsafeRawBufferPointer, type: String? = nil) {
        var cursor = JSONCursor(bytes)
        isAssistant = type == "assistant" || type == "compaction"
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "role": isAssistant = cursor.text().map { $0 == "assistant" } ?? false
            case "sessionID": session = cursor.text()?.displayText
            case "modelID": model = cursor.text()?.displayText
            case "providerID": provider = cursor.text()?.displayText
            case "model": readModel(&cursor)
            case "path": project = cursor.member("cwd") { $0.text() }?.displayText
            case "time": created = cursor.member("created") { $0.milliseconds() }
            default: usage.read(key, &cursor)
            }
        }
        isImpossible = cursor.isFailed || cursor.hasImpossibleCount
    }

    private mutating func readModel(_ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "id": model = cursor.text()?.displayText
            case "providerID": provider = cursor.text()?.displayText
            default: cursor.skip()
            }
        }
    }

    /// Whether it has tokens or a cost, or is invalid.
    var isCounted: Bool {
        isImpossible || isAssistant && (usage.counts != TokenCounts() || (usage.cost ?? 0) > 0)
    }

    /// The request, until its steps are known. Nil when something in it is invalid.
    func record(source: String) -> TokenRecord? {
        guard !isImpossible else { return nil }
        return record(source: source, usage, variant: 0).map {
            var record = $0
            record.role = .summary
            return record
        }
    }

    /// One of the steps of which the answer was made.
    func record(source: String, step: OpenCodeUsage) -> TokenRecord? {
        var hash = ContentHash()
        hash.add(step.counts)
        return record(source: source, step, variant: UInt32(truncatingIfNeeded: hash.value))
    }

    /// A fork copies messages and steps under new ids, Kilo's without their costs, and version 2 those of version 1:
    /// what stays is when the message was created, the model, and the counts.
    private func record(source: String, _ usage: OpenCodeUsage, variant: UInt32) -> TokenRecord? {
        guard let created else { return nil }
        var id = ContentHash()
        id.add(source)
        id.add(UInt64(bitPattern: created))
        id.add(model ?? "")
        return TokenRecord(
            time: created, counts: usage.counts, id: id.value, variant: variant,
            ownCost: usage.cost.flatMap { $0 > 0 ? $0 : nil })
    }
}

/// A part of a message, of which one is written when a step is finished.
struct OpenCodePart {
    /// Nil for another kind of part, and for an invalid one.
    private(set) var step: OpenCodeUsage?
    /// Milliseconds since 1970, if the part says it.
    private(set) var created: Int64?

    private static let kind = ByteNeedle("step-finish")

    init(_ bytes: UnsafeRawBufferPointer) {
        guard Self.kind.isIn(bytes) else { return }
        var cursor = JSONCursor(bytes)
        var usage = OpenCodeUsage()
        var isStep = false
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            switch key {
            case "type": isStep = cursor.text().map { $0 == "step-finish" } ?? false
            case "time": created = cursor.member("created") { $0.milliseconds() }
            default: usage.read(key, &cursor)
            }
        }
        if isStep, !cursor.isFailed, !cursor.hasImpossibleCount { step = usage }
    }
}

/// Tokens and cost, of a message or of a step.
struct OpenCodeUsage {
    private(set) var counts = TokenCounts()
    /// In US dollars; also 0 for what is paid otherwise.
    private(set) var cost: Double?

    /// Reads the member of that name, or passes over it.
    mutating func read(_ key: JSONCursor.Text, _ cursor: inout JSONCursor) {
        if key == "cost" {
            cost = cursor.number()
        } else if key == "tokens" {
            readTokens(&cursor)
        } else {
            cursor.skip()
        }
    }

    private static let names: JSONCursor.CountNames = [
        ("input", \.input), ("output", \.output), ("reasoning", \.reasoning),
    ]
    private static let cacheNames: JSONCursor.CountNames = [
        ("read", \.cacheRead), ("write", \.cacheWrite5m),
    ]

    private mutating func readTokens(_ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return }
        var total: Int?
        while let key = cursor.nextKey() {
            switch key {
            case "total": total = cursor.count()
            case "cache": cursor.readCounts(Self.cacheNames, into: &counts)
            default: cursor.readCount(key, Self.names, into: &counts)
            }
        }
        // Early versions have reasoning in the output as well.
        if total != counts.total { counts.output &+= counts.reasoning }
    }
}
