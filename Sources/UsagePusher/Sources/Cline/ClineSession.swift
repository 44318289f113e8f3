import Essentials
import LocalFiles

/// A session of Cline's command line, and of the extension since version 4: `<id>/<agent>.messages.json` beside the
/// manifest `<id>/<id>.json`.
enum ClineSession {
    static let suffix = ".messages.json"

    static func read(_ document: UnsafeRawBufferPointer, to sink: inout TokenSink) {
        var cursor = JSONCursor(document)
        guard cursor.enterObject() else {
            if !document.isEmpty { sink.reportTorn() }
            return
        }
        let manifest = Manifest(of: sink.file, &sink)
        sink.declare(thread: manifest.session, origin: manifest.origin)
        var index = 0
        while let key = cursor.nextKey() {
            guard key == "messages" else {
                cursor.skip()
                continue
            }
            guard cursor.enterArray() else { continue }
            while cursor.nextElement() {
                guard cursor.enterObject() else { continue }
                var message = Message()
                message.read(&cursor)
                guard !cursor.isFailed else { break }
                index += 1
                if let usage = message.usage {
                    add(usage, of: message, index, isSum: false, manifest, to: &sink)
                }
                if message.isCompaction, let usage = message.usageBefore {
                    add(usage, of: message, index, isSum: true, manifest, to: &sink)
                }
            }
        }
        if cursor.isFailed { sink.reportTorn() }
    }

    /// - Parameter isSum: whether it is the usage of the messages that a compaction has replaced.
    private static func add(
        _ usage: Usage, of message: Message, _ index: Int, isSum: Bool, _ manifest: Manifest, to sink: inout TokenSink
    ) {
        guard usage.counts != TokenCounts() || usage.isImpossible else { return }
        guard let time = message.time ?? manifest.time, !usage.isImpossible else { return sink.leaveOut() }
        var id = ContentHash()
        id.add(isSum ? "cline-compaction" : "cline-message")
        if let own = message.id {
            // A fork has the messages of the other session.
            id.add(own)
        } else {
            id.add(sink.file.path)
            id.add(UInt64(index))
        }
        id.add(UInt64(bitPattern: message.time ?? 0))
        if !isSum { id.add(usage.counts) }
        sink.add(
            TokenRecord(
                time: time, counts: usage.counts, id: id.value,
                standing: message.time.map(manifest.isBeforeFork) == true ? .probableCopy : .own, ownCost: usage.cost,
                isCoarse: isSum || message.time == nil),
            session: sink.session(manifest.session, project: manifest.project),
            model: sink.model(message.model?.displayText ?? manifest.model))
    }

    private struct Usage {
        var counts = TokenCounts()
        var cost: Double?
        var isImpossible = false

        private static let names: JSONCursor.CountNames = [
            ("inputTokens", \.input), ("outputTokens", \.output), ("cacheReadTokens", \.cacheRead),
            ("cacheWriteTokens", \.cacheWrite5m),
        ]

        init?(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return nil }
            cursor.hasImpossibleCount = false
            while let key = cursor.nextKey() {
                if key == "cost" {
                    cost = cursor.number().flatMap { $0 > 0 ? $0 : nil }
                } else {
                    cursor.readCount(key, Self.names, into: &counts)
                }
            }
            counts.removeCachesFromInput()
            isImpossible = cursor.hasImpossibleCount
        }
    }

    private struct Message {
        var id: UInt64?
        var time: Int64?
        var model: JSONCursor.Text?
        var usage: Usage?
        var usageBefore: Usage?
        var isCompaction = false

        mutating func read(_ cursor: inout JSONCursor) {
            while let key = cursor.nextKey() {
                switch key {
                case "id": id = cursor.text()?.hash
                case "ts": time = cursor.milliseconds()
                case "modelInfo": model = cursor.member("id") { $0.text() }
                case "metrics": usage = Usage(&cursor)
                case "metadata": readMetadata(&cursor)
                default: cursor.skip()
                }
            }
        }

        private mutating func readMetadata(_ cursor: inout JSONCursor) {
            guard cursor.enterObject() else { return }
            while let key = cursor.nextKey() {
                switch key {
                case "kind": isCompaction = cursor.text().map { $0 == "compaction" } ?? false
                case "usageBefore": usageBefore = Usage(&cursor)
                default: cursor.skip()
                }
            }
        }
    }

    private struct Manifest {
        let session: String
        var model: String?
        var project: String?
        /// When the session ended, else when it began.
        var time: Int64?
        /// The session whose messages a fork has too.
        var origin: String?
        private var startedAt: Int64?

        init(of file: TokenFile, _ sink: inout TokenSink) {
            let directory = LocalFile(file.path).directory.path
            session = String(
                directory[
                    (directory.lastIndex(of: "/").map(directory.index(after:)) ?? directory.startIndex)...])
            do throws(FileError) {
                try SideFile("\(directory)/\(session).json").read()?.data.withUnsafeBytes {
                    read($0)
                }
            } catch {
                sink.report(error)
            }
        }

        func isBeforeFork(_ time: Int64) -> Bool {
            origin != nil && startedAt.map { time < $0 } ?? false
        }

        private mutating func read(_ bytes: UnsafeRawBufferPointer) {
            var cursor = JSONCursor(bytes)
            guard cursor.enterObject() else { return }
            while let key = cursor.nextKey() {
                switch key {
                case "model": model = cursor.text()?.displayText
                case "cwd": project = project ?? cursor.text()?.displayText
                case "workspace_root": project = cursor.text()?.displayText ?? project
                case "metadata":
                    origin =
                        cursor.member("fork") { $0.member("forkedFromSessionId") { $0.text() } }?
                        .displayText
                case "started_at": startedAt = cursor.milliseconds()
                case "ended_at": time = cursor.milliseconds()
                default: cursor.skip()
                }
            }
            time = time ?? startedAt
        }
    }
}
