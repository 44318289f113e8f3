import Foundation
public import KVStore

/// Notes that sync, with previews that are dropped when space runs out.
public final class Notebook {
    public enum Saved: Equatable {
        /// The note syncs to every device.
        case everywhere
        /// The store is full: the note stays on this device, in `unsynced`.
        case hereOnly
    }

    private let store: UbiquitousKeyValueStore
    /// Notes that did not fit into the store, by name. A real app keeps them in a file.
    public private(set) var unsynced: [String: String] = [:]

    public init(store: UbiquitousKeyValueStore) { self.store = store }

    public func text(of name: String) -> String? {
        unsynced[name] ?? store.string(forKey: "note.\(name)")
    }

    /// A preview image, which can be regenerated at any time.
    public func setPreview(_ image: Data, of name: String) {
        store.set(image, forKey: "preview.\(name)")
    }

    /// Saves a note. If the store is full, previews are removed first, starting with the largest.
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

    /// Retries the notes that did not fit. Call it after keys were removed, on any device.
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
