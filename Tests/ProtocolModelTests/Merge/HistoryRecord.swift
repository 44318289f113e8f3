import Foundation

@testable import KVStore

/// A record as `docs/protocol.md` orders it: the text of its stamp, then value over removal, then
/// bytes.
///
/// Made from the text on the wire and from nothing else of the product, so that it can judge the
/// merge rule.
struct HistoryRecord: Hashable {
    let stamp: String
    /// Nil for a removal.
    let value: [UInt8]?

    init(_ change: SyncChange) {
        stamp = change.stamp
        value = change.value.map(Array.init)
    }

    init(_ record: Record) { self.init(SyncChange(record)) }

    /// The greatest of all, found by looking at each.
    static func winner(of records: [HistoryRecord]) -> HistoryRecord? {
        var winner: HistoryRecord?
        for record in records where winner.map({ record.isGreater(than: $0) }) ?? true {
            winner = record
        }
        return winner
    }

    func isGreater(than other: HistoryRecord) -> Bool {
        let (mine, theirs) = (Array(stamp.utf8), Array(other.stamp.utf8))
        if mine != theirs { return Self.isGreater(mine, theirs) }
        guard let value else { return false }
        return other.value.map { Self.isGreater(value, $0) } ?? true
    }

    private static func isGreater(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        var place = 0
        while place < left.count, place < right.count {
            if left[place] != right[place] { return left[place] > right[place] }
            place += 1
        }
        return left.count > right.count
    }
}
