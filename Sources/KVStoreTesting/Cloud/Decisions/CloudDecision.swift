public import Foundation
public import KVStore

/// A choice between two values of a key, or a rejection, as the production code made it.
///
/// ```swift
/// let last = try #require(cloud.decisions.last { $0.key == "theme" })
/// #expect(last.reason == .greaterStamp)
/// print(last)     // theme in the cloud: "dark" of phone replaced "light" of mac …
/// ```
public struct CloudDecision: Sendable, Equatable {
    /// Where it was made.
    public enum Place: Sendable, Equatable {
        case cloud
        case device(String)
    }

    /// A value or a removal, with its writer and stamp.
    public struct Version: Sendable, Equatable {
        /// Nil for a removal.
        public var value: PropertyListValue?
        /// When the writer's clock issued it; the greater stamp wins.
        public var stamp: Stamp
        /// The device that wrote it.
        public var writer: String
    }

    /// Which of the two values won.
    public enum Winner: Sendable, Equatable {
        case incoming
        case present
    }

    /// Why this value won.
    public enum Reason: Sendable, Equatable {
        /// There was no other value.
        case nothingThere
        /// The winner was written later.
        case greaterStamp
        /// The stamps are equal, as after a device's files were copied; the greater bytes win everywhere.
        case greaterBytes
        /// The loser was set on a device before its first download.
        case provisionalGaveWay
        /// It was set before the first download, and the cloud has no value of the key.
        case provisionalKept
        /// The cloud has forgotten a removal that the device still knew, and the cloud's value counts.
        case removalForgotten
        /// The cloud removed the value so long ago that it has forgotten the removal.
        case goneFromCloud
        /// The value exceeds the quota, in bytes or keys; nil for the device's own limits.
        case refusedForQuota(limit: Int64?)
        /// The stamp is more than a minute ahead of the cloud's clock; the device reissues it.
        case refusedForClock
        /// The key is invalid.
        case refusedForKey
        /// The newer value did not fit into the cloud's answer; the device sends its own again.
        case refusedForNow
    }

    /// The true time of the decision.
    public var time: Date
    /// Where it was decided.
    public var place: Place
    /// The account of the store.
    public var account: String
    /// The key whose values were compared.
    public var key: String
    /// Nil if the decision was not about an incoming value.
    public var incoming: Version?
    /// Nil if there was none.
    public var present: Version?
    /// Which value the place holds afterwards.
    public var winner: Winner
    /// Why that value won.
    public var reason: Reason
}

extension CloudDecision: CustomStringConvertible {
    /// One sentence.
    public var description: String {
        let location =
            switch place {
            case .cloud: "in the cloud"
            case .device(let name): "on \(name)"
            }
        return "\(key) \(location): \(outcome) because \(explanation)"
    }

    private var outcome: String {
        switch (winner, incoming, present) {
        case (.incoming, let incoming?, let present?):
            "\(incoming) replaced \(present)"
        case (.incoming, let incoming?, nil): "\(incoming) was accepted"
        case (.incoming, nil, let present?): "\(present) was removed"
        case (.incoming, nil, nil): "nothing changed"
        case (.present, let incoming?, let present?): "\(present) stayed, not \(incoming)"
        case (.present, let incoming?, nil): "\(incoming) was not accepted"
        case (.present, nil, let present?): "\(present) stayed"
        case (.present, nil, nil): "a write was dropped"
        }
    }

    private var explanation: String {
        switch reason {
        case .nothingThere: "there was no other value"
        case .greaterStamp: "it was written \(distance)later (greater stamp)"
        case .greaterBytes: "at equal stamps the greater bytes win"
        case .provisionalGaveWay: "values set before the first download give way to the cloud"
        case .provisionalKept: "the cloud has no value of the key; it is sent"
        case .removalForgotten: "the cloud has forgotten the removal"
        case .goneFromCloud: "the cloud removed it long ago"
        case .refusedForQuota(let limit?): "the quota is \(limit)"
        case .refusedForQuota(nil): "it exceeds the device's quota"
        case .refusedForClock:
            "its stamp is ahead of the cloud's clock; it is reissued and sent again"
        case .refusedForKey: "the key is invalid"
        case .refusedForNow: "the answer was full; it is sent again"
        }
    }

    /// The difference of the stamps in seconds; empty if there is none.
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
