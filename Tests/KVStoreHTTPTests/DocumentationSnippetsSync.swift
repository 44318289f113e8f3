import Foundation
import KVStore
import KVStoreHTTP
import Testing

// The snippets of the page "Port an app from NSUbiquitousKeyValueStore" that need the network.
// `DocumentationSnippetsTests` compares them.

@Suite("Snippets: sync an app", .timeLimit(.minutes(5)))
struct SyncSnippets {
    /// In a process of its own, which configures its default store once.
    @Test("the default store is that of the user's account, and a local one as long as none has been joined")
    func sync() async {
        await #expect(processExitsWith: .exitCode(EXIT_SUCCESS)) {
            let folder = FileManager.default.temporaryDirectory.appending(path: "ubiquity-\(UUID().uuidString)").path
            for name in ["UBIQUITY_DATA_DIR", "UBIQUITY_CONFIG_DIR"] { setenv(name, folder, 1) }
            for name in ["UBIQUITY_DAEMON", "UBIQUITY_TOKEN", "UBIQUITY_KEY"] { unsetenv(name) }
            UbiquitousKeyValueStore.setDefaultConfiguration(
                try StoreEnvironment().configuration(storeNamed: "com.example.app"))
            let store = UbiquitousKeyValueStore.default
            store.set("dark", forKey: "theme")
            let isStored = try FileManager.default.subpathsOfDirectory(atPath: folder).contains {
                $0.contains("com.example.app")
            }
            try FileManager.default.removeItem(atPath: folder)
            let status = store.status
            exit(isStored && status.connection == .local && !status.initialSyncCompleted ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }
}
