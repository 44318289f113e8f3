/// A message of Kilo: a row of its database, or one of the files that were there before.
struct KiloMessage {
    var session: String?
    var model: String?
    var project: String?
    var created: Int64?
    private var isCompleted = false
    var counts = TokenCounts()
    var cost: Double?
    private var isAssistant = false
    /// Whether its numbers may still grow.
    var isRunning: Bool { isAssistant && !isCompleted && !isImpossible }
    /// Whether a number in it cannot be, or it is not JSON.
    private(set) var isImpossible = false

    init(_ bytes: UnsafeRawBufferPointer) {
        var cursor = JSONCursor(bytes)
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            if key == "role" {
                isAssistant = cursor.text().map { $0 == "assistant" } ?? false
            } else if key == "sessionID" {
                session = cursor.text()?.displayText
            } else if key == "modelID" {
                model = cursor.text()?.displayText
            } else if key == "cost" {
                cost = cursor.number().flatMap { $0 > 0 ? $0 : nil }
            } else if key == "path" {
                project = cursor.member("cwd") { $0.text() }?.displayText
            } else if key == "time" {
                readTime(&cursor)
            } else if key == "tokens" {
                readTokens(&cursor)
            } else {
                cursor.skip()
            }
        }
        isImpossible = cursor.isFailed || cursor.hasImpossibleCount
    }

    private mutating func readTime(_ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return }
        while let key = cursor.nextKey() {
            if key == "created" {
                created = cursor.milliseconds()
            } else if key == "completed" {
                isCompleted = cursor.number() != nil
            } else {
                cursor.skip()
            }
        }
    }

    private mutating func readTokens(_ cursor: inout JSONCursor) {
        guard cursor.enterObject() else { return }
        var answer = 0
        while let key = cursor.nextKey() {
            if key == "input" {
                counts.input = cursor.count() ?? 0
            } else if key == "output" {
                answer = cursor.count() ?? 0
            } else if key == "reasoning" {
                counts.reasoning = cursor.count() ?? 0
            } else if key == "cache" {
                guard cursor.enterObject() else { continue }
                while let key = cursor.nextKey() {
                    if key == "read" {
                        counts.cacheRead = cursor.count() ?? 0
                    } else if key == "write" {
                        counts.cacheWrite5m = cursor.count() ?? 0
                    } else {
                        cursor.skip()
                    }
                }
            } else {
                cursor.skip()
            }
        }
        counts.output = answer + counts.reasoning
    }

    static func readFile(_ bytes: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        let message = KiloMessage(bytes)
        let directory = sink.file.components.dropLast().last.map(String.init)
        message.add(to: &sink, session: message.session ?? directory)
    }

    /// Adds the tokens of an assistant's message; others have none.
    func add(to sink: inout TokenSink, session: String?) {
        guard isAssistant || isImpossible, counts != TokenCounts() || isImpossible else { return }
        guard let created, !isImpossible else { return sink.leaveOut() }
        // A fork copies messages under new ids; its copies cost nothing.
        var id = ContentHash()
        id.add("kilo")
        id.add(UInt64(bitPattern: created))
        id.add(model ?? "")
        id.add(counts)
        sink.add(
            TokenRecord(time: created, counts: counts, id: id.value, ownCost: cost),
            session: sink.session(session ?? "unknown", project: project),
            model: sink.model(model))
    }
}
