public import Foundation
public import KVStore
import KVStoreCore
import Synchronization

/// A store in memory for unit tests of code that takes `any KeyValueStoring` and needs no cloud.
///
/// It counts calls and fails on demand. Values, coercions, limits and reasons are the real store's. Notifications are
/// posted on the thread of the call that causes them, before it returns.
///
/// ```swift
/// let store = FakeKeyValueStore()
/// store.failWrite(2)
/// Settings(store: store).save()
/// #expect(store.callCount(of: .set, forKey: "theme") == 1)
/// #expect(store.string(forKey: "size") == nil)
/// ```
///
/// All members may be called from any thread.
public final class FakeKeyValueStore: Sendable {
    /// A member of `KeyValueStoring`; the `set` methods count as one.
    public enum Member: Sendable, Hashable, CaseIterable {
        case object, string, array, dictionary, data, longLong, double, bool
        case set, removeObject, dictionaryRepresentation, synchronize
    }

    /// A call of a member.
    public struct Call: Sendable, Hashable {
        public var member: Member
        /// Nil for members without a key.
        public var key: String?

        /// A call to compare with those that a store recorded.
        public init(_ member: Member, forKey key: String? = nil) {
            (self.member, self.key) = (member, key)
        }
    }

    private struct State {
        var account: String?
        /// A replica that never synchronizes, for each account and for none.
        var replicas: [String?: Replica] = [:]
        var isFull = false
        var calls: [Call] = []
        /// How many writes there are before those that fail, in ascending order.
        var failures: [Int] = []
        var receivedCount: Int64 = 0
    }

    private let limits: StoreLimits
    private let center: NotificationCenter
    private let accountChangeNamesKeys: Bool
    private let state: Mutex<State>

    /// An empty store.
    ///
    /// - Parameters:
    ///   - account: the account that the user has joined; nil for none.
    ///   - limits: the quota.
    ///   - center: where notifications are posted.
    ///   - accountChangeNamesKeys: as of `StoreConfiguration`.
    public init(
        account: String? = SimulatedCloud.defaultAccount, limits: StoreLimits = StoreLimits(),
        center: NotificationCenter = .default, accountChangeNamesKeys: Bool = true
    ) {
        self.accountChangeNamesKeys = accountChangeNamesKeys
        self.limits = limits
        self.center = center
        state = Mutex(State(account: account))
    }

    // MARK: - Calls

    /// All calls so far, oldest first.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// How often a member was called, with any key or with the given one.
    public func callCount(of member: Member, forKey key: String? = nil) -> Int {
        calls.count { $0.member == member && (key == nil || $0.key == key) }
    }

    func recordCall(of member: Member, forKey key: String? = nil) {
        state.withLock { $0.calls.append(Call(member, forKey: key)) }
    }

    // MARK: - Faults

    /// Lets the n-th of the writes to come fail, as when the disk is full: its value is not stored, and nothing is
    /// thrown or posted. Removals are writes. May be called for several.
    public func failWrite(_ number: Int = 1) {
        precondition(number >= 1, "the next write is number 1")
        state.withLock { $0.failures = ($0.failures + [number - 1]).sorted() }
    }

    /// Whether what the store holds is all that it can hold. A write that needs more space is then dropped and notified
    /// with reason 2; one that needs less makes space, and so does a removal.
    public var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set {
            state.withLock { state in
                state.isFull = newValue
                let former = replica(in: state)
                var limits = limits
                if newValue {
                    limits.totalByteCount = former.table.byteCount
                    limits.keyCount = former.table.keyCount
                }
                var replica = Replica(id: former.id, limits: limits, seed: 0)
                for entry in former.entries { _ = replica.replay(entry) }
                state.replicas[state.account] = replica
            }
        }
    }

    // MARK: - Account

    /// The account that the user has joined; nil for none.
    public var account: String? { state.withLock { $0.account } }

    /// Joins, leaves or changes the account. Each has its own values, and so does a store without one, whose values are
    /// carried over into an account that lacks them. Posts reason 3, with the keys whose values differ, unless it is
    /// the present account. `NSUbiquityIdentityDidChange` is not posted: it is for the default store, and this is none.
    public func changeAccount(to account: String?) {
        let keys: Set<StoreKey>? = state.withLock { state in
            guard account != state.account else { return nil }
            let before = replica(in: state).visibleContents
            let isJoining = state.account == nil
            state.account = account
            var replica = replica(in: state)
            if isJoining, account != nil { _ = replica.fill(before, at: Self.instant) }
            state.replicas[account] = replica
            let after = replica.visibleContents
            return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
        }
        guard let keys else { return }
        post(.accountChange, accountChangeNamesKeys ? keys.sorted().map(\.text) : [])
    }

    /// Stores what another device of the account has set, or removed with nil, and posts reason 0 if it differs.
    /// Without an account there is no other device.
    public func receive(_ value: PropertyListValue?, forKey key: String) {
        let isNew = state.withLock { state in
            guard state.account != nil else { return false }
            state.receivedCount += 1
            let record = StoreRecord(
                key: StoreKey(key),
                stamp: StoreStamp(milliseconds: state.receivedCount, counter: 0, replica: ReplicaID(rawValue: 2)),
                content: value.map { .value($0.encoded()) } ?? .tombstone)
            var replica = replica(in: state)
            defer { state.replicas[state.account] = replica }
            return replica.replay(.record(Table.Entry(record: record, status: .acknowledged))) != nil
        }
        if isNew { post(.serverChange, [key]) }
    }

    // MARK: - Values

    func value(forKey key: String) -> PropertyListValue? {
        let content = state.withLock { replica(in: $0).table.content(forKey: StoreKey(key)) }
        guard case .value(let data)? = content else { return nil }
        return try? PropertyListValue(encoded: data)  // nil, as the real store returns
    }

    var keys: [String] {
        state.withLock { replica(in: $0).visibleContents.keys.sorted().map(\.text) }
    }

    /// Drops what is not a property list or has an empty key, and reports it on standard error, as the real store does.
    /// Stops the program for a key that is too long.
    func write(_ value: PropertyListValue?, forKey key: String) {
        if let obstacle = value?.obstacle { return report(StoreError(obstacle, key: key)) }
        var refusal: StoreError?
        let changes: [StoreChange] = state.withLock { state in
            let isFailing = state.failures.first == 0
            if isFailing { state.failures.removeFirst() }
            state.failures = state.failures.filter { $0 > 0 }.map { $0 - 1 }
            guard !isFailing else { return [] }
            var replica = replica(in: state)
            let content = value.map { StoreRecord.Content.value($0.encoded()) } ?? .tombstone
            let (ready, violation) = replica.write([StoreKey(key): content], at: Self.instant)
            if let violation, violation.code == .invalidKey {
                if !key.isEmpty { Diagnostics.stop(violation.description) }
                refusal = violation
            }
            state.replicas[state.account] = replica
            return ready.notifications
        }
        if let refusal { report(refusal) }
        for change in changes { post(change.reason, change.keys) }
    }

    func report(_ error: StoreError) { Diagnostics.write("FakeKeyValueStore: \(error)") }

    /// Stamps grow by themselves.
    private static let instant = Instant(wall: 0, monotonic: 0)

    private func replica(in state: State) -> Replica {
        state.replicas[state.account] ?? Replica(id: ReplicaID(rawValue: 1), limits: limits, seed: 0)
    }

    private func post(_ reason: StoreChangeReason, _ keys: [String]) {
        center.post(
            name: UbiquitousKeyValueStore.didChangeExternallyNotification, object: self,
            userInfo: UbiquitousKeyValueStore.userInfo(of: StoreChange(reason: reason, keys: keys)))
    }
}
