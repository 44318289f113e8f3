#if PostgreSQL
    package import KVStoreCore

    /// Something in a database that no daemon has written. The description is not escaped.
    package struct DatabaseDamage: Sendable, Equatable, CustomStringConvertible {
        /// Nil for what belongs to none.
        package var store: StoreID?
        /// As far as it can be shown.
        package var key: String?
        package var detail: String

        package init(store: StoreID?, key: String?, detail: String) {
            self.store = store
            self.key = key
            self.detail = detail
        }

        package var description: String {
            let place = store.map { "\($0.account)/\($0.name): damaged" } ?? "damaged"
            return place + (key.map { " at the key '\($0)'" } ?? "") + ": \(detail)"
        }
    }
#endif
