import Foundation
import KVStore
import KVStoreCore
import KVStoreLedger
import KVStoreSimulation
import Synchronization

extension SimulatedCloud {
    /// Where the values of a key come from, in words: what the cloud and each device hold now, and the decisions that
    /// led there. Meant for the message of a failing test.
    ///
    /// ```swift
    /// #expect(mac.store.string(forKey: "theme") == "dark", "\(cloud.explain("theme"))")
    /// ```
    ///
    /// The cloud comes first, then the devices by name, then the latest ten decisions in the order in which they were
    /// made. The wording may change between versions of this package.
    public func explain(_ key: String) -> String {
        let key = StoreKey(key)
        let decisions = decisions.filter { StoreKey($0.key) == key }
        let clouds = Set(machines.compactMap(\.storeID)).sorted().map { id in
            let record = hub.withLock { $0.ledger.hub(id)?.entries[key]?.record }
            return (id, record)
        }
        let devices = machines.map { ($0, entry(of: $0, key)) }
        guard !decisions.isEmpty || clouds.contains(where: { $0.1 != nil }) || devices.contains(where: { $0.1 != nil })
        else { return "\"\(key)\" was never written" }
        let holders =
            clouds.map { id, record in
                (clouds.count == 1 ? "the cloud" : "the cloud of \(id.account)", describe(record))
            }
            + devices.map { machine, entry in
                (machine.name + conditions(of: machine), describe(entry?.record) + (entry?.status.remark ?? ""))
            }
        return DecisionExplanation.text(
            of: key, holders: holders,
            decisions: decisions.map { decision in
                (VirtualClock.seconds(VirtualClock.milliseconds(at: decision.time)), decision.description)
            })
    }

    private func describe(_ record: StoreRecord?) -> String {
        record.map { version($0).description } ?? DecisionExplanation.noValue
    }

    /// The app's own entry; one without an account is never sent.
    private func entry(of machine: Machine, _ key: StoreKey) -> Table.Entry? {
        guard let program = machine.programs.first else { return nil }
        if let driver = state.withLock({ $0.drivers[program.label] }), !driver.isStopped {
            return driver.entry(forKey: key)
        }
        guard let store = program.run?.store else { return nil }
        registerReplica(store.status.replica, of: program)
        return store.record(forKey: key.text).map {
            Table.Entry(record: $0, status: .acknowledged)
        }
    }

    private func conditions(of machine: Machine) -> String {
        var conditions = machine.network.withLock { network in
            let isHeld = network.faults.active.contains { $0.fault.effect == .hold }
            return (network.faults.isOffline ? ["offline"] : []) + (isHeld ? ["held"] : [])
        }
        if machine.storeID == nil { conditions.insert("no account", at: 0) }
        return conditions.isEmpty ? "" : " (\(conditions.joined(separator: ", ")))"
    }
}

extension Machine {
    /// What its app's store syncs with.
    fileprivate var storeID: StoreID? {
        guard let configuration = programs.first?.run?.store.configuration,
            let transport = configuration.transport as? CloudTransport
        else { return nil }
        return StoreID(account: transport.account, name: configuration.storeName)
    }
}

extension Table.Status {
    fileprivate var remark: String {
        switch self {
        case .acknowledged: ""
        case .pending: ", not confirmed by the cloud yet"
        case .provisional: ", a default until the first download"
        }
    }
}
