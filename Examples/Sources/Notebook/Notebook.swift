import Foundation
public import KVStore

/// Notes that sync, with previews that may go when there is no room.
public final class Notebook {
    public enum Saved: Equatable {
        /// It reaches every device.
        case everywhere
        /// The store has no room for it: this device keeps it, and `unsynced` has it.
        case hereOnly
    }

    private let store: UbiquitousKeyValueStore
    /// Notes that the store had no room for, by their names. An app keeps them in a file of its own.
    public private(set) var unsynced: [String: String] = [:]

    public init(store: UbiquitousKeyValueStore) { self.store = store }

    public func text(of name: String) -> String? {
        unsynced[name] ?? store.string(forKey: "note.\(name)")
    }

    /// A picture that can be made anew at any time.
    public func setPreview(_ image: Data, of name: String) {
        store.set(image, forKey: "preview.\(name)")
    }

    /// Saves a note. Where the store is full the previews go first, the largest one before the others.
    public func save(_ text: String, as name: String) throws(StoreError) -> Saved {
        while true {
            do throws(StoreError) {
                try store.write(.string(text), forKey: "note.\(name)")
                unsynced[name] = nil
                return .everywhere
            } catch {
                guard error.code == .quotaExceeded || error.code == .tooManyKeys else {
                    throw error
                }
                guard let preview = largestPreview else {
                    unsynced[name] = text
                    return .hereOnly
                }
                store.removeObject(forKey: preview)
            }
        }
    }

    /// Tries what had no room once more. Call it when keys were removed, here or elsewhere.
    public func retry() throws(StoreError) {
        for (name, text) in unsynced.sorted(by: { $0.key < $1.key }) {
            _ = try save(text, as: name)
        }
    }

    private var largestPreview: String? {
        store.keys.filter { $0.hasPrefix("preview.") }.max { left, right in
            size(of: left) < size(of: right)
        }
    }

    private func size(of key: String) -> Int {
        store.record(forKey: key)?.content.byteCount ?? 0
    }
}
