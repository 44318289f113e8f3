import Essentials
import LocalFiles

/// A task of the extensions: `ui_messages.json`, an array of what was shown, with a row for each request.
///
/// A row's `text` is JSON itself, and has no counts before the request ends. Of a request that is gone from the chat
/// only the sum of all such is left.
struct ClineTask {
    static let fileName = "ui_messages.json"
    /// A directory of a task that has copies of the user's files.
    static let checkpoints = "checkpoints"

    /// What `tokensIn` is.
    enum Prompt {
        case withoutCache
        /// The whole prompt from `wholeSince` on; before, only of OpenAI's protocol.
        case byProtocol
    }

    /// 2025-10-31 [RooCodeInc/Roo-Code #8954].
    private static let wholeSince: Int64 = 1_761_868_800_000

    let prompt: Prompt
    /// The source of the log.
    let source: String

    func read(_ document: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var cursor = JSONCursor(document)
        guard cursor.enterArray() else {
            if !document.isEmpty { sink.reportTorn() }
            return
        }
        let task = sink.file.components.dropLast().last.map(String.init) ?? sink.file.root
        var context: ClineTaskContext?
        while cursor.nextElement() {
            guard cursor.enterObject() else { continue }
            var row = Row()
            row.read(&cursor)
            guard !cursor.isFailed else { break }
            guard let kind = row.kind else { continue }
            guard let usage = usage(of: row) else { continue }
            guard let time = row.time, !usage.isImpossible else {
                sink.leaveOut()
                continue
            }
            let known = context ?? ClineTaskContext(of: sink.file, &sink)
            context = known
            sink.add(
                TokenRecord(
                    time: time, counts: usage.counts,
                    id: ContentHash.of(source, "task", task, "\(kind) \(time)"), identity: .foreign,
                    ownCost: usage.cost, isCoarse: kind == .deleted),
                session: sink.session(task, project: known.project),
                model: sink.model(row.model?.displayText ?? known.model))
        }
        if cursor.isFailed { sink.reportTorn() }
    }

    private enum Kind {
        case request, deleted, subagents, condensation

        init?(_ name: JSONCursor.Text) {
            if name == "api_req_started" {
                self = .request
            } else if name == "deleted_api_reqs" {
                self = .deleted
            } else if name == "subagent_usage" {
                self = .subagents
            } else if name == "condense_context" {
                self = .condensation
            } else {
                return nil
            }
        }
    }

    private struct Row {
        var time: Int64?
        var kind: Kind?
        var text: JSONCursor.Text?
        var model: JSONCursor.Text?
        var condensationCost: Double?

        mutating func read(_ cursor: inout JSONCursor) {
            while let key = cursor.nextKey() {
                switch key {
                case "ts": time = cursor.milliseconds()
                case "say": kind = cursor.text().flatMap(Kind.init)
                case "text": text = cursor.text()
                case "modelInfo": model = cursor.member("modelId") { $0.text() }
                case "contextCondense": condensationCost = cursor.member("cost") { $0.number() }
                default: cursor.skip()
                }
            }
        }
    }

    private struct Usage {
        var counts = TokenCounts()
        var cost: Double?
        var isImpossible = false
    }

    private static let names: JSONCursor.CountNames = [
        ("tokensIn", \.input), ("tokensOut", \.output), ("cacheReads", \.cacheRead), ("cacheWrites", \.cacheWrite5m),
    ]

    /// Nil for a row that has no counts.
    private func usage(of row: Row) -> Usage? {
        if row.kind == .condensation {
            guard let cost = row.condensationCost, cost > 0 else { return nil }
            return Usage(cost: cost)
        }
        guard let text = row.text else { return nil }
        let unescaped = text.unescaped
        return unescaped.withUnsafeBytes { bytes in
            var cursor = JSONCursor(bytes)
            guard cursor.enterObject() else { return nil }
            var usage = Usage()
            var isOpenAI = false
            while let key = cursor.nextKey() {
                switch key {
                case "cost": usage.cost = cursor.number().flatMap { $0 > 0 ? $0 : nil }
                case "apiProtocol": isOpenAI = cursor.text().map { $0 == "openai" } ?? false
                default: cursor.readCount(key, Self.names, into: &usage.counts)
                }
            }
            usage.isImpossible = cursor.hasImpossibleCount
            let cached = usage.counts.cacheRead &+ usage.counts.cacheWrite5m
            if prompt == .byProtocol, cached <= usage.counts.input, isOpenAI || (row.time ?? 0) >= Self.wholeSince {
                usage.counts.removeCachesFromInput()
            }
            guard !cursor.isFailed else { return Usage(isImpossible: true) }
            return usage.counts != TokenCounts() || usage.cost != nil || usage.isImpossible ? usage : nil
        }
    }
}

/// What the conversation beside a task's rows says about all of them.
private struct ClineTaskContext {
    var model: String?
    var project: String?

    /// A tag stands in the first messages.
    private static let byteLimit = 1_048_576
    private static let textLimit = 240
    private static let modelTag = ByteNeedle("<model>")
    private static let directoryLabel = ByteNeedle("Current Workspace Directory (")

    init(of file: TokenFile, _ sink: inout TokenSink) {
        let path = LocalFile(file.path).directory.path + "/api_conversation_history.json"
        var start: [UInt8] = []
        do throws(FileError) {
            start = try LocalFile(path).withOpen { file throws(FileError) in
                try file.bytes(at: 0, count: Self.byteLimit)
            }
        } catch {
            sink.report(error)
        }
        start.withUnsafeBytes { bytes in
            model = Self.text(after: Self.modelTag, "<model>".utf8.count, until: "<", in: bytes)
            project = Self.text(
                after: Self.directoryLabel, "Current Workspace Directory (".utf8.count, until: ")", in: bytes)
        }
    }

    private static func text(
        after needle: ByteNeedle, _ length: Int, until end: Unicode.Scalar, in bytes: UnsafeRawBufferPointer
    ) -> String? {
        guard let offset = needle.firstOffset(in: bytes, from: 0, to: bytes.count) else { return nil }
        let rest = bytes[(offset + length)...].prefix(textLimit)
        guard let last = rest.firstIndex(of: UInt8(ascii: end)) else { return nil }
        guard let text = String(validating: rest[..<last], as: UTF8.self), !text.isEmpty,
            !text.contains(where: { $0.isNewline || $0 == "\\" })
        else { return nil }
        return text
    }
}
