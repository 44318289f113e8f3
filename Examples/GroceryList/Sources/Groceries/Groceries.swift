import Foundation
public import KVStore
public import Observation

/// A grocery list that syncs.
///
/// Each item has a key of its own, so devices that add or buy different items do not overwrite each other, and an item
/// that two devices add is on the list once.
@MainActor
@Observable
public final class Groceries {
    public struct Item: Identifiable, Hashable, Sendable {
        public let name: String
        public let isBought: Bool

        public var id: String { name }
    }

    /// What is still to buy comes first; then by name.
    public private(set) var items: [Item] = []

    @ObservationIgnored private let store: UbiquitousKeyValueStore
    private static let prefix = "item."

    public init(store: UbiquitousKeyValueStore) {
        self.store = store
        reload()
    }

    /// Shows the changes of other devices until the task is cancelled or the store is closed.
    public func follow() async {
        let changes = store.changes
        reload()
        for await _ in changes { reload() }
    }

    /// Adds an item that is still to buy, unless the name is blank.
    ///
    /// - Throws: if the name is too long or the list is full.
    public func add(_ name: String) throws(StoreError) {
        let name = name.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !name.isEmpty else { return }
        try store.write(.bool(false), forKey: Self.prefix + name)
        reload()
    }

    public func setBought(_ isBought: Bool, _ item: Item) {
        store.set(isBought, forKey: Self.prefix + item.name)
        reload()
    }

    public func removeBought() {
        for item in items where item.isBought {
            store.removeObject(forKey: Self.prefix + item.name)
        }
        reload()
    }

    private func reload() {
        items = store.keys.filter { $0.hasPrefix(Self.prefix) }
            .map {
                Item(
                    name: String($0.dropFirst(Self.prefix.count)), isBought: store.bool(forKey: $0))
            }
            .sorted { ($0.isBought ? 1 : 0, $0.name) < ($1.isBought ? 1 : 0, $1.name) }
    }
}
