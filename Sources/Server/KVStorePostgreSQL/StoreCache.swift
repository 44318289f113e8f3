import KVStoreCore
import KVStoreServer

/// A store with the operations that wait for it, as a node knows it. One worker at a time has checked it out; only that
/// one replaces the row, with the lock of the engine.
final class CachedStore {
    let id: StoreID
    /// Nil until it has been loaded, and without a store.
    var row: StoreRow?
    /// Whether the database was asked.
    var isLoaded = false
    /// Whether the database has, or may have, a later version.
    var isStale = false
    /// Live readers on all event loops.
    var watcherCount = 0
    var operations: [DatabaseOperation] = []
    /// Whether it is in the queue of those with operations.
    var isQueued = false
    var isCheckedOut = false
    var lastUse: UInt64 = 0
    /// What it counts in the cache.
    var byteCount = 0

    init(_ id: StoreID) { self.id = id }

    /// Whether nobody waits for it.
    var isIdle: Bool { operations.isEmpty && !isCheckedOut && watcherCount == 0 }

    func forget() {
        row = nil
        isLoaded = false
        isStale = false
    }
}

/// A store that is checked out, with the operations to perform.
typealias TakenStore = (store: CachedStore, operations: [DatabaseOperation])

/// The stores that a node knows, bounded in bytes, and the queue of those with operations. Used with the lock of the
/// engine.
struct StoreCache {
    private var stores: [StoreID: CachedStore] = [:]
    private var queue: [CachedStore] = []
    private var queueStart = 0
    private(set) var byteCount = 0
    /// Above the limit while more is in use than that.
    private var evictionByteCount: Int
    private var useCount: UInt64 = 0
    /// A limit on the rows that nobody waits for; others are kept in any case.
    let byteLimit: Int

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
        evictionByteCount = byteLimit
    }

    var storeCount: Int { stores.count }

    /// An entry besides its row.
    private static let entryByteCount = 512

    func store(_ id: StoreID) -> CachedStore? { stores[id] }

    mutating func makeStore(_ id: StoreID) -> CachedStore {
        if let store = stores[id] { return store }
        let store = CachedStore(id)
        stores[id] = store
        return store
    }

    // MARK: - Suspects

    /// Stores whose statements failed last, so that they have their own until they succeed.
    private var suspects: Set<StoreID> = []
    /// A database that refuses everything makes no list of all stores.
    private static let suspectCount = 256

    func isSuspect(_ id: StoreID) -> Bool { !suspects.isEmpty && suspects.contains(id) }

    mutating func suspect(_ id: StoreID) {
        if suspects.count < Self.suspectCount { suspects.insert(id) }
    }

    mutating func clear(_ id: StoreID) { if !suspects.isEmpty { suspects.remove(id) } }

    var watched: [CachedStore] { stores.values.filter { $0.watcherCount > 0 } }

    // MARK: - Queue

    mutating func add(_ operation: DatabaseOperation, to store: CachedStore) {
        store.operations.append(operation)
        enqueue(store)
    }

    mutating func enqueue(_ store: CachedStore) {
        guard !store.isQueued, !store.isCheckedOut, !store.operations.isEmpty else { return }
        store.isQueued = true
        queue.append(store)
    }

    var isQueueEmpty: Bool { queueStart == queue.count }

    /// Checks out stores with their operations, the oldest first.
    ///
    /// - Parameters:
    ///   - byteLimit: what the operations may send together, unless one alone has more.
    ///   - coldLimit: stores that have to be read as a whole.
    mutating func takeGroup(storeLimit: Int, operationLimit: Int, byteLimit: Int, coldLimit: Int) -> [TakenStore] {
        var group: [TakenStore] = []
        var (operationCount, byteCount, coldCount) = (0, 0, 0)
        while queueStart < queue.count, group.count < storeLimit, operationCount < operationLimit,
            byteCount < byteLimit, coldCount < coldLimit
        {
            let store = queue[queueStart]
            queueStart += 1
            store.isQueued = false
            guard !store.operations.isEmpty else { continue }
            let count = Self.count(
                of: store.operations, limit: operationLimit - operationCount, byteLimit: byteLimit - byteCount)
            let taken = Array(store.operations.prefix(count))
            store.operations.removeFirst(count)
            store.isCheckedOut = true
            operationCount += count
            byteCount += taken.reduce(0) { $0 + $1.byteCount }
            if store.row == nil { coldCount += 1 }
            group.append((store, taken))
        }
        if queueStart > 1_024, queueStart * 2 > queue.count {
            queue.removeFirst(queueStart)
            queueStart = 0
        } else if isQueueEmpty {
            queue.removeAll(keepingCapacity: true)
            queueStart = 0
        }
        return group
    }

    /// How many operations are planned together: a removal, and one that was refused, are alone.
    private static func count(of operations: [DatabaseOperation], limit: Int, byteLimit: Int) -> Int {
        guard let first = operations.first else { return 0 }
        if first.isRemoval || first.isAlone { return 1 }
        var byteCount = first.byteCount
        var count = 1
        while count < min(operations.count, limit) {
            let next = operations[count]
            byteCount += next.byteCount
            if next.isRemoval || next.isAlone || byteCount > byteLimit { break }
            count += 1
        }
        return count
    }

    /// The worker has finished with a store; what it was not done with is first again.
    mutating func putBack(_ store: CachedStore, repeating operations: [DatabaseOperation] = []) {
        store.isCheckedOut = false
        if !operations.isEmpty { store.operations.insert(contentsOf: operations, at: 0) }
        useCount += 1
        store.lastUse = useCount
        let present = store.row.map { Int($0.memory) + Self.entryByteCount } ?? 0
        byteCount += present - store.byteCount
        store.byteCount = present
        enqueue(store)
        dropIfUnused(store)
        if byteCount > evictionByteCount { evict() }
    }

    mutating func dropIfUnused(_ store: CachedStore) {
        if store.isIdle, store.row == nil { stores[store.id] = nil }
    }

    /// Removes the operations whose deadline has passed, of stores that nobody has checked out.
    mutating func takeExpired(where isExpired: (DatabaseOperation) -> Bool) -> [DatabaseOperation] {
        var expired: [DatabaseOperation] = []
        for store in queue[queueStart...] {
            expired += store.operations.filter(isExpired)
            store.operations.removeAll(where: isExpired)
        }
        return expired
    }

    // MARK: - Cache

    /// Forgets the stores that were not used for longest, down to three quarters of the limit.
    private mutating func evict() {
        let candidates = stores.values.filter { $0.isIdle && $0.row != nil }.sorted { $0.lastUse < $1.lastUse }
        for store in candidates where byteCount > byteLimit / 4 * 3 {
            byteCount -= store.byteCount
            stores[store.id] = nil
        }
        evictionByteCount = max(byteLimit, byteCount / 8 * 9)
    }

    /// After a change of generation: nothing that is known counts any more.
    mutating func forgetRows() {
        for store in stores.values where !store.isCheckedOut {
            store.forget()
            byteCount -= store.byteCount
            store.byteCount = 0
        }
        stores = stores.filter { !$0.value.isIdle }
    }
}
