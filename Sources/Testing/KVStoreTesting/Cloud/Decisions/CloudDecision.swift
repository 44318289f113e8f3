public import Foundation
public import KVStore
@_exported public import KVStoreSimulation

/// A choice between two values of a key, or a rejection, as the production code made it.
///
/// ```swift
/// let last = try #require(cloud.decisions.last { $0.key == "theme" && $0.place == .cloud })
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
        public var stamp: StoreStamp
        /// The device that wrote it.
        public var writer: String
    }

    /// Which of the two values won.
    public typealias Winner = DecisionWinner

    /// Why this value won.
    public typealias Reason = DecisionReason

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
        return Decision(StoreKey(key), incoming: incoming, present: present, winner: winner, reason: reason).sentence(
            location, server: "cloud")
    }
}

extension CloudDecision.Version: DecisionVersion, CustomStringConvertible {
    package var valueText: String? { value?.summary }

    public var description: String { text }
}
