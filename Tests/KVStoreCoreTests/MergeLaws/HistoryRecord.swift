import Foundation

@testable import KVStoreCore

/// A record as `docs/protocol.md` orders it: the text of its stamp, then value over removal, then
/// bytes.
///
/// Compares the text of the stamp and uses nothing else of the product, so that it can judge the merge rule.
struct HistoryRecord: Hashable {
    let stamp: String
    /// Nil for a removal.
    let value: [UInt8]?

    init(_ record: StoreRecord) {
        stamp = record.stamp.description
        value =
            switch record.content {
            case .value(let data): Array(data)
            case .tombstone: nil
            }
    }

    /// The greatest record, found by comparing each.
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
