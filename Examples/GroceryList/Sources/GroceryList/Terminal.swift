#if !canImport(SwiftUI)
    import Groceries
    import KVStore
    import KVStoreHTTP

    /// Where there is no SwiftUI: adds the items that its arguments name, and prints the list.
    @main
    struct GroceryListCommand {
        static func main() async throws {
            let store = try UbiquitousKeyValueStore.open(storeNamed: "groceries")
            // Without a connection it is the list of the last time, and syncs the next time.
            _ = try? await store.synchronizeNow()
            let groceries = await Groceries(store: store)
            for name in CommandLine.arguments.dropFirst() { try await groceries.add(name) }
            for item in await groceries.items { print(item.isBought ? "✓" : "·", item.name) }
            _ = try? await store.synchronizeNow()
        }
    }
#endif
