public import Foundation
public import KVStore

/// A choice between two values of a key, or a refusal, as the shipped code made it.
///
/// ```swift
/// let last = try #require(cloud.decisions.last { $0.key == "theme" })
/// #expect(last.reason == .greaterStamp)
/// print(last)     // "dark" of phone took the place of "light" of mac in the cloud: …
/// ```
public struct CloudDecision: Sendable, Equatable {
    /// Where it was made.
    public enum Place: Sendable, Equatable {
        case cloud
        case device(String)
    }

    /// A value, or a removal, with who wrote it and when.
    public struct Version: Sendable, Equatable {
        /// Nil for a removal.
        public var value: PropertyListValue?
        public var stamp: Stamp
        /// The device that wrote it.
        public var writer: String
    }

    public enum Winner: Sendable, Equatable {
        case incoming
        case present
    }

    /// Why this value won.
    public enum Reason: Sendable, Equatable {
        /// There was no value to compare with.
        case nothingThere
        /// The winner was written later.
        case greaterStamp
        /// The stamps are equal, as after a device's files were copied; the greater bytes win everywhere.
        case greaterBytes
        /// The loser was set on a device that had not downloaded the cloud yet.
        case provisionalGaveWay
        /// It was set before the first download, and the cloud holds no value of the key.
        case provisionalKept
        /// The cloud has forgotten a removal that the device still knew; what the cloud has counts.
        case removalForgotten
        /// The value is one that the cloud removed so long ago that it has forgotten the removal.
        case goneFromCloud
        /// The value would not fit: bytes, or keys, that are allowed; nil for the device's own limits.
        case refusedForQuota(limit: Int64?)
        /// The stamp lies more than a minute in the cloud's future; the device stamps it again.
        case refusedForClock
        /// The key is not one.
        case refusedForKey
        /// The cloud had no room for its answer; the device sends the value again.
        case refusedForNow
    }

    /// The true time of the decision.
    public var time: Date
    public var place: Place
    public var account: String
    public var key: String
    /// Nil where the decision was not about a value that came in.
    public var incoming: Version?
    /// Nil where there was none.
    public var present: Version?
    public var winner: Winner
    public var reason: Reason
}

extension CloudDecision: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        let location =
            switch place {
            case .cloud: "in the cloud"
            case .device(let name): "on \(name)"
            }
        return "\(key) \(location): \(outcome)\(because)"
    }

    private var outcome: String {
        switch (winner, incoming, present) {
        case (.incoming, let incoming?, let present?):
            "\(incoming) took the place of \(present)"
        case (.incoming, let incoming?, nil): "\(incoming) was taken"
        case (.incoming, nil, let present?): "\(present) was removed"
        case (.incoming, nil, nil): "nothing changed"
        case (.present, let incoming?, let present?): "\(present) stayed, not \(incoming)"
        case (.present, let incoming?, nil): "\(incoming) was not taken"
        case (.present, nil, let present?): "\(present) stayed"
        case (.present, nil, nil): "a write was dropped"
        }
    }

    private var because: String {
        switch reason {
        case .nothingThere: ", for there was nothing else"
        case .greaterStamp: " because it was written \(distance)later (greater stamp)"
        case .greaterBytes: " because of equal stamps the greater bytes win"
        case .provisionalGaveWay:
            " because what a device sets before its first download gives way to the cloud"
        case .provisionalKept: " because the cloud holds no value of the key; it is sent"
        case .removalForgotten: " because the cloud no longer knows the removal that was here"
        case .goneFromCloud: " because the cloud has removed it long ago"
        case .refusedForQuota(let limit?): " because the quota is \(limit)"
        case .refusedForQuota(nil): " because it is over the device's quota"
        case .refusedForClock:
            " because its stamp lies in the cloud's future; it is stamped again and sent again"
        case .refusedForKey: " because the key is not one"
        case .refusedForNow: " because the answer had no room; it is sent again"
        }
    }

    /// How far the two stamps lie apart, where that can be said in seconds.
    private var distance: String {
        guard let incoming, let present else { return "" }
        let milliseconds = abs(incoming.stamp.milliseconds - present.stamp.milliseconds)
        return milliseconds == 0 ? "" : "\(Double(milliseconds) / 1_000) s "
    }
}

extension CloudDecision.Version: CustomStringConvertible {
    public var description: String {
        let text =
            switch value {
            case nil: "the removal"
            case .string(let text)?: "\"\(Self.short(text))\""
            case .data(let data)?: "\(data.count) bytes"
            case let value?: Self.short("\(value.object)")
            }
        return "\(text) of \(writer)"
    }

    private static func short(_ text: String) -> String {
        text.count > 40 ? "\(text.prefix(40))…" : text
    }
}
