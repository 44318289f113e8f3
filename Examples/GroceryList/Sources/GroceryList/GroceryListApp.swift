#if canImport(SwiftUI)
    import Groceries
    import KVStore
    import KVStoreHTTP
    import SwiftUI

    @main
    struct GroceryListApp: App {
        @State private var groceries: Groceries

        init() {
            // The home directory of an app on iOS is read-only.
            let environment = StoreEnvironment(
                home: URL.applicationSupportDirectory.path(percentEncoded: false),
                variables: ProcessInfo.processInfo.environment)
            do {
                let store = try UbiquitousKeyValueStore.open(
                    storeNamed: "groceries", environment: environment)
                _groceries = State(initialValue: Groceries(store: store))
            } catch {
                fatalError("cannot open the list: \(error)")
            }
        }

        var body: some Scene {
            WindowGroup { GroceryListView(groceries: groceries) }
        }
    }
#endif
