@testable import clip
import Foundation
import Synchronization

extension Timestamp: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: Int64) { self.init(milliseconds: value) }
}

extension ItemKey {
    init(_ contents: ClipContents) { self.init(of: contents) }

    init(_ text: String) { self.init(ClipContents(text: text)) }
}

extension ClipItem {
    init(_ contents: ClipContents, on device: String = "desk", at time: Timestamp = 0) {
        self = ItemByteLimit().item(of: contents, on: device, at: time)
    }

    init(_ text: String, on device: String = "desk", at time: Timestamp = 0) {
        self.init(ClipContents(text: text), on: device, at: time)
    }
}

extension ClipHistory {
    @discardableResult
    mutating func add(_ contents: ClipContents, at time: Timestamp, on device: String = "desk") -> Addition {
        add(ClipItem(contents, on: device, at: time), ItemKey(contents), contents: contents)
    }

    @discardableResult
    mutating func add(_ text: String, at time: Timestamp, on device: String = "desk") -> Addition {
        add(ClipContents(text: text), at: time, on: device)
    }

    /// Titles in the order of the list.
    func titles(by order: ItemOrder = .lastCopiedAt, pins: PinPlacement = .top) -> [String] {
        sorted(by: order, pins: pins).compactMap { items[$0].map { ItemTitle.title(of: $0) } }
    }
}

extension MatchTimer {
    /// A clock that stands still.
    static let frozen = MatchTimer { .zero }

    /// A clock of which each reading is so much later.
    static func passing(_ step: Duration) -> MatchTimer {
        let readings = Readings()
        return MatchTimer { step * readings.next() }
    }

    private final class Readings: Sendable {
        private let count = Mutex(0)
        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }
}
