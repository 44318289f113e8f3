import ArgumentParser
import KVStore
import KVStoreHTTP
import Foundation

extension CompletionKind {
    /// Keys of the replica on this machine, without asking the daemon.
    static let storedKeys = CompletionKind.custom { words, _, prefix in
        let option = words.firstIndex(of: "--store").map { $0 + 1 }
        let name =
            option.flatMap { $0 < words.count ? words[$0] : nil }
            ?? StoreConfiguration.defaultStoreName
        guard
            let configuration = try? StoreEnvironment().configuration(
                storeNamed: name, isOnline: false),
            // Completing a word must not make folders.
            FileManager.default.fileExists(atPath: configuration.directory),
            let store = try? UbiquitousKeyValueStore(configuration: configuration)
        else { return [] }
        defer { store.close() }
        return store.keys.filter { key in
            key.hasPrefix(prefix) && key.unicodeScalars.allSatisfy { $0.value >= 0x20 }
        }
    }
}
