import Essentials

/// The tokens in the threads of Amp: in the messages since spring 2026, before that in a ledger of the thread.
struct AmpTokens: TokenLog {
    let source = "amp"
    let version = 4

    func roots(in environment: SourceEnvironment) -> [String] {
        let usual = environment.home + "/.local/share"
        let own = environment.dataHome
        return (own == usual ? [usual] : [own, usual]).map { $0 + "/amp/threads" }
    }

    func isWanted(_ name: String) -> Bool { name.hasPrefix("T-") && name.hasSuffix(".json") }

    func reader(of file: TokenFile) -> TokenReader? {
        let name = String(file.name.dropLast(".json".count))
        return .document { bytes, sink in
            if let thread = AmpThread(bytes, name: name) {
                thread.add(to: &sink)
            } else if !bytes.isEmpty {
                sink.reportTorn()
            }
        }
    }
}

/// One thread, whose members are read where they are.
private struct AmpThread {
    private var id: String
    private var created: Int64?
    private var project: String?
    private var messages: JSONCursor?
    private var events: JSONCursor?

    init?(_ document: UnsafeRawBufferPointer, name: String) {
        id = name
        var cursor = JSONCursor(document)
        guard cursor.enterObject() else { return nil }
        while let key = cursor.nextKey() {
            switch key {
            case "id": id = cursor.text()?.displayText ?? name
            case "created": created = cursor.milliseconds()
            case "env": project = Self.project(in: cursor.value())
            case "messages": messages = cursor.branch()
            case "usageLedger": events = cursor.member("events") { $0.branch() } ?? events
            default: cursor.skip()
            }
        }
        if cursor.isFailed { return nil }
    }

    func add(to sink: inout TokenSink) {
        var numbered: [Int: AmpMessage] = [:]
        var replies: [AmpMessage] = []
        if var messages, messages.enterArray() {
            var index = 0
            while messages.nextElement() {
                if let message = AmpMessage(&messages, index: index), message.hasUsage {
                    replies.append(message)
                    numbered[message.number] = message
                }
                index += 1
            }
        }
        var eventCount = 0
        // By the messages that events are about; of the others by their counts, with how many there are.
        var stated = Set<Int>()
        var nameless: [[Int]: Int] = [:]
        if var events, events.enterArray() {
            while events.nextElement() {
                guard let event = AmpEvent(&events) else { continue }
                add(event, index: eventCount, numbered, to: &sink)
                if let message = event.message {
                    stated.insert(message)
                } else {
                    nameless[[event.counts.input, event.counts.output], default: 0] += 1
                }
                eventCount += 1
            }
        }
        replies.removeAll { reply in
            if stated.contains(reply.number) { return true }
            let key = [reply.counts.input, reply.counts.output]
            guard let count = nameless[key] else { return false }
            nameless[key] = count > 1 ? count - 1 : nil
            return true
        }
        // A ledger can lack a reply. Where its events are about others than these it has them all.
        if !nameless.isEmpty { return }
        for reply in replies {
            guard reply.counts != TokenCounts() || reply.isImpossible else { continue }
            guard !reply.isImpossible else {
                sink.leaveOut()
                continue
            }
            add(reply.counts, id: "message \(reply.number)", at: reply.time, reply.model, to: &sink)
        }
    }

    private func add(_ event: AmpEvent, index: Int, _ replies: [Int: AmpMessage], to sink: inout TokenSink) {
        var counts = event.counts
        var isImpossible = event.isImpossible
        if !event.hasCache, let reply = event.message.flatMap({ replies[$0] }) {
            counts.cacheRead = reply.counts.cacheRead
            counts.cacheWrite5m = reply.counts.cacheWrite5m
            isImpossible = isImpossible || reply.isImpossible
        }
        guard !isImpossible else { return sink.leaveOut() }
        guard counts != TokenCounts() else { return }
        add(counts, id: "event \(event.id?.string ?? "#\(index)")", at: event.time, event.model, to: &sink)
    }

    private func add(
        _ counts: TokenCounts, id: String, at time: Int64?, _ model: JSONCursor.Text?, to sink: inout TokenSink
    ) {
        guard let stated = time ?? created else { return sink.leaveOut() }
        sink.add(
            TokenRecord(time: stated, counts: counts, id: ContentHash.of("amp", self.id, id), isCoarse: time == nil),
            session: sink.session(self.id, project: project), model: sink.model(model))
    }

    /// The first of the directories: its path, else its name.
    private static func project(in environment: UnsafeRawBufferPointer) -> String? {
        let trees = JSONFields(Data(environment))?.fields("initial")?.list("trees")
        guard let tree = trees?.first else { return nil }
        let path = tree.text("uri").flatMap { URL(string: $0) }.flatMap {
            $0.isFileURL ? $0.path : nil
        }
        return path ?? tree.text("displayName")
    }
}

private struct AmpMessage {
    /// Counts within the thread.
    var number: Int
    var time: Int64?
    var model: JSONCursor.Text?
    var counts = TokenCounts()
    var hasUsage = false
    var isImpossible = false

    private static let names: JSONCursor.CountNames = [
        ("inputTokens", \.input), ("outputTokens", \.output),
        ("cacheReadInputTokens", \.cacheRead), ("cacheCreationInputTokens", \.cacheWrite5m),
    ]

    init?(_ cursor: inout JSONCursor, index: Int) {
        guard cursor.enterObject() else { return nil }
        number = index
        var isReply = false
        var ownTime: Int64?
        while let key = cursor.nextKey() {
            switch key {
            case "role": isReply = cursor.text().map { $0 == "assistant" } ?? false
            case "messageId": number = cursor.count() ?? index
            case "timestamp": ownTime = cursor.milliseconds()
            case "usage": readUsage(&cursor)
            default: cursor.skip()
            }
        }
        time = time ?? ownTime
        hasUsage = hasUsage && isReply
    }

    private mutating func readUsage(_ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return }
        hasUsage = true
        cursor.hasImpossibleCount = false
        while let key = cursor.nextKey() {
            switch key {
            case "model": model = cursor.text()
            case "timestamp": time = cursor.milliseconds()
            default: cursor.readCount(key, Self.names, into: &counts)
            }
        }
        isImpossible = cursor.hasImpossibleCount
        // OpenAI's models have no writes: Amp puts what was not cached there.
        if counts.input == 0, model?.bytes.starts(with: "gpt-".utf8) == true {
            counts.input = counts.cacheWrite5m
            counts.cacheWrite5m = 0
        }
    }
}

private struct AmpEvent {
    var id: JSONCursor.Text?
    var time: Int64?
    var model: JSONCursor.Text?
    var counts = TokenCounts()
    var hasCache = false
    var isImpossible = false
    /// The number of the message that has what is missing here.
    var message: Int?

    init?(_ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return nil }
        while let key = cursor.nextKey() {
            switch key {
            case "id": id = cursor.text()
            case "timestamp": time = cursor.milliseconds()
            case "model": model = cursor.text()
            case "toMessageId": message = cursor.count()
            case "tokens": readTokens(&cursor)
            default: cursor.skip()
            }
        }
    }

    private mutating func readTokens(_ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return }
        cursor.hasImpossibleCount = false
        while let key = cursor.nextKey() {
            if key == "cacheReadInputTokens" || key == "cacheCreationInputTokens" {
                hasCache = true
            }
            cursor.readCount(key, Self.names, into: &counts)
        }
        isImpossible = cursor.hasImpossibleCount
    }

    private static let names: JSONCursor.CountNames = [
        ("input", \.input), ("output", \.output), ("cacheReadInputTokens", \.cacheRead),
        ("cacheCreationInputTokens", \.cacheWrite5m),
    ]
}
