import Essentials

/// What a thread of Zed's agent has used.
struct ZedThread {
    private(set) var counts = TokenCounts()
    private(set) var model: String?
    /// Whether it was shared by someone else, who has used the tokens.
    private(set) var isImported = false

    private static let members: Set = [
        "cumulative_token_usage", "request_token_usage", "model", "imported",
    ]

    /// Nil when it is no JSON, is larger than the limit, or has an invalid number.
    init?(_ bytes: UnsafeRawBufferPointer, isCompressed: Bool, byteLimit: Int) {
        var scan = JSONMemberScan(Self.members)
        if isCompressed {
            var left = byteLimit
            let outcome = Zstandard.installed?.decompress(bytes) { chunk in
                left -= chunk.count
                guard left >= 0 else { return false }
                scan.add(chunk)
                return true
            }
            guard case .complete = outcome else { return nil }
        } else {
            guard bytes.count <= byteLimit else { return nil }
            scan.add(bytes)
        }
        guard let object = scan.object, object.withUnsafeBytes({ read($0) }) else { return nil }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var cursor = JSONCursor(bytes)
        var requests = TokenCounts()
        guard cursor.enterObject() else { return false }
        while let key = cursor.nextKey() {
            switch key {
            case "cumulative_token_usage": counts = Self.counts(&cursor)
            case "request_token_usage":
                guard cursor.enterObject() else { continue }
                while cursor.nextKey() != nil { requests += Self.counts(&cursor) }
            case "model": model = cursor.member("model") { $0.text() }?.displayText
            default: isImported = cursor.flag() ?? false
            }
        }
        // Some versions left the sum at 0, or its cache; what each message has used is then the least that was used.
        for (_, member) in Self.names {
            counts[keyPath: member] = max(counts[keyPath: member], requests[keyPath: member])
        }
        return !cursor.isFailed && !cursor.hasImpossibleCount
    }

    private static func counts(_ cursor: inout JSONCursor) -> TokenCounts {
        var counts = TokenCounts()
        cursor.readCounts(names, into: &counts)
        return counts
    }

    private static let names: JSONCursor.CountNames = [
        ("input_tokens", \.input), ("output_tokens", \.output),
        ("cache_creation_input_tokens", \.cacheWrite5m), ("cache_read_input_tokens", \.cacheRead),
    ]
}
