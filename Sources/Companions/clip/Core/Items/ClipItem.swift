// What a history of the clipboard decides: items, limits, order, search, secrets, ways to copy out.
// Not here: clipboards, stores, clocks, files, terminals.

import Essentials

/// An item of the history: what was copied, when, where and how often, and whether it is pinned.
struct ClipItem: Hashable, Sendable {
    /// What of the contents travels.
    enum Body: Hashable, Sendable {
        case contents(ClipContents)
        /// Contents are over the limit of an item; their bytes stay on the device of origin.
        case stub(ContentStub)
    }

    private(set) var body: Body
    /// Where it was copied first, with the title and the application there.
    private(set) var origin: Origin
    private(set) var firstCopied: Timestamp
    private(set) var lastCopied: Timestamp
    /// Copies by device, so that those made at the same time on two of them add up; at most `deviceLimit`.
    private(set) var counts: [String: UInt32]
    private(set) var pin: PinState

    static let deviceLimit = 64

    struct Origin: Hashable, Sendable {
        let device: String
        let application: String?
        /// Only where none can be derived from the contents: the beginning of the text of a stub.
        let title: String?

        static let deviceByteLimit = 64
        static let applicationByteLimit = 256
        static let titleByteLimit = 8_192

        init(device: String, application: String? = nil, title: String? = nil) {
            self.device = device.prefix(utf8Bytes: Self.deviceByteLimit)
            self.application = application?.prefix(utf8Bytes: Self.applicationByteLimit)
            self.title = title?.shortened(to: ItemTitle.lengthLimit).prefix(utf8Bytes: Self.titleByteLimit)
        }
    }

    init(
        body: Body, origin: Origin, firstCopied: Timestamp, lastCopied: Timestamp,
        counts: [String: UInt32], pin: PinState = .never
    ) {
        self.body = body
        self.origin = origin
        self.firstCopied = min(firstCopied, lastCopied)
        self.lastCopied = max(firstCopied, lastCopied)
        self.counts = Self.bounded(counts)
        self.pin = pin
    }

    /// A first copy.
    init(body: Body, origin: Origin, at time: Timestamp) {
        self.init(body: body, origin: origin, firstCopied: time, lastCopied: time, counts: [origin.device: 1])
    }

    private static func bounded(_ counts: [String: UInt32]) -> [String: UInt32] {
        let bounded = counts.map { ($0.key.prefix(utf8Bytes: Origin.deviceByteLimit), $0.value) }
            .sorted { $0.0 < $1.0 }.prefix(deviceLimit)
        return Dictionary(bounded.map { $0 }, uniquingKeysWith: max)
    }

    var contents: ClipContents? { if case .contents(let contents) = body { contents } else { nil } }

    /// What is known of the contents without their bytes.
    var stub: ContentStub {
        switch body {
        case .contents(let contents): ContentStub(of: contents)
        case .stub(let stub): stub
        }
    }

    var isPinned: Bool { pin.pin != nil }

    var copyCount: Int { counts.values.reduce(0) { $0 + Int($1) } }

    // MARK: Changes

    /// Counts one more copy of the same contents. Contents, first time, pin, title and application stay.
    mutating func copyAgain(on device: String, at time: Timestamp) {
        let device = device.prefix(utf8Bytes: Origin.deviceByteLimit)
        var counts = counts
        counts[device, default: 0] = (counts[device] ?? 0).addingSaturated(1)
        self.counts = Self.bounded(counts)
        firstCopied = min(firstCopied, time)
        lastCopied = max(lastCopied, time)
    }

    /// Pins the item, or unpins it with nil. The change is newer than every one that this device has seen of the item,
    /// also if its clock is behind.
    mutating func set(_ pin: PinState.Pin?, at time: Timestamp) {
        let next = Timestamp(milliseconds: self.pin.changed.milliseconds.addingSaturated(1))
        self.pin = PinState(pin, changed: max(time, next))
    }

    // MARK: Merging

    /// What both devices know of the same item. Commutative, associative and idempotent, so that devices which exchange
    /// items in any order, and any number of times, end with equal ones: the earlier first time and the origin with it,
    /// the later last time, of each device the higher count, the later change of the pin, the fuller contents.
    func joined(_ other: ClipItem) -> ClipItem {
        var joined = self
        joined.body = self.body.precedes(other.body) ? other.body : body
        if (other.firstCopied, other.origin) < (firstCopied, origin) {
            joined.origin = other.origin
        }
        joined.firstCopied = min(firstCopied, other.firstCopied)
        joined.lastCopied = max(lastCopied, other.lastCopied)
        joined.counts = Self.bounded(counts.merging(other.counts, uniquingKeysWith: max))
        joined.pin = max(pin, other.pin)
        return joined
    }
}

extension FixedWidthInteger {
    func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

extension ClipItem.Origin: Comparable {
    /// Any order in which different origins differ.
    static func < (left: Self, right: Self) -> Bool {
        let fields = { (origin: Self) in
            (
                origin.device, origin.application ?? "", origin.title ?? "", origin.application == nil ? 0 : 1,
                origin.title == nil ? 0 : 1
            )
        }
        return fields(left) < fields(right)
    }
}

extension ClipItem.Body {
    /// A total order in which a superset of contents follows them, and contents follow a stub. It must be one order: a
    /// superset first and any other order else would not be associative.
    func precedes(_ other: Self) -> Bool {
        switch (self, other) {
        case (.stub, .contents): true
        case (.contents, .stub): false
        case (.stub(let own), .stub(let other)): own.canonicalBytes.precedes(other.canonicalBytes)
        case (.contents(let own), .contents(let other)):
            if own.parts.count != other.parts.count {
                own.parts.count < other.parts.count
            } else {
                own.orderedBytes.precedes(other.orderedBytes)
            }
        }
    }
}

extension ClipContents {
    /// Includes all parts; `canonicalBytes` has only those that last.
    fileprivate var orderedBytes: Data {
        parts.reduce(into: Data()) { bytes, part in
            bytes.append(contentsOf: part.type.rawValue.utf8)
            bytes.append(0)
            bytes.append(contentsOf: "\(part.data.count)".utf8)
            bytes.append(0)
            bytes.append(part.data)
        }
    }
}

extension Data {
    fileprivate func precedes(_ other: Data) -> Bool {
        count != other.count ? count < other.count : lexicographicallyPrecedes(other)
    }
}

/// Whether an item is pinned, and since when it is so or not: of two states, that of the later change holds.
struct PinState: Hashable, Sendable, Comparable {
    enum Pin: Hashable, Sendable, Comparable {
        /// Pinned while no letter was free.
        case unlettered
        case letter(PinLetter)

        var letter: PinLetter? { if case .letter(let letter) = self { letter } else { nil } }
    }

    let pin: Pin?
    let changed: Timestamp

    init(_ pin: Pin?, changed: Timestamp) { (self.pin, self.changed) = (pin, changed) }

    static let never = Self(nil, changed: Timestamp(milliseconds: .min))

    static func < (left: Self, right: Self) -> Bool {
        func order(_ state: Self) -> (Timestamp, Int, Pin) {
            (state.changed, state.pin == nil ? 0 : 1, state.pin ?? .unlettered)
        }
        return order(left) < order(right)
    }
}

/// A letter that selects a pinned item: b to y without q, v and w, which have meanings of their own beside a modifier.
struct PinLetter: Hashable, Sendable, Comparable {
    let character: Character

    /// Nil for a character that selects no pin.
    init?(_ character: Character) {
        guard Self.characters.contains(character) else { return nil }
        self.character = character
    }

    static func < (left: Self, right: Self) -> Bool { left.character < right.character }

    private static let characters = "bcdefghijklmnoprstuxy"
    static let all = characters.compactMap(PinLetter.init)

    /// A random one of the letters that are neither used nor reserved.
    static func free(besides used: Set<PinLetter>, using randomness: inout some RandomNumberGenerator) -> PinLetter? {
        all.filter { !used.contains($0) }.randomElement(using: &randomness)
    }
}

/// Milliseconds since 1970 by the clock of the device that wrote it.
struct Timestamp: Codable, Hashable, Comparable, Sendable {
    var milliseconds: Int64

    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

    /// How long after an earlier time; negative if that is later. Saturates.
    func milliseconds(since earlier: Self) -> Int64 {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        guard overflow else { return difference }
        return milliseconds < earlier.milliseconds ? .min : .max
    }
}
