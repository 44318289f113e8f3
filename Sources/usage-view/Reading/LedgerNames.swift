import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import UsagePusher
import UsageState

#if Network || PostgreSQL
    import KVStoreSealed
#endif

extension LedgerProjects {
    /// The names of projects by their keys: those that this machine knows, and those that others have sealed for it.
    static func knownNames() -> [String: String] {
        let sealed = (try? sealedNames()) ?? [:]  // Without the content key there are none.
        return sealed.merging(LedgerProjectsFile.own.read()) { $1 }
    }

    private static func sealedNames() throws -> [String: String] {
        #if Network || PostgreSQL
            let ledger = try UsageReader.open(storeNamed: LedgerKey.storeName, isLive: false)
            defer { ledger.store.close() }
            guard ledger.store.keys.contains(where: { !LedgerKey.isKey($0) }) else { return [:] }
            let keys = try UsageReader.open(storeNamed: SealedAccount.storeName, isLive: false)
            defer { keys.store.close() }
            let contents = try SealedStore(ledger.store, of: SealedAccount(keys.store)).contents()
            var names: [String: String] = [:]
            for (key, entry) in contents.entries.sorted(by: { $0.key < $1.key }) where key.hasPrefix(sealedPrefix) {
                guard case .dictionary(let published) = entry.value else { continue }
                for case (let hash, .string(let name)) in published { names[hash] = shown(name) }
            }
            return names
        #else
            return [:]
        #endif
    }
}

extension LedgerUsage.Names {
    init(devices: [DeviceState], _ projects: ProjectNames) {
        let byID = Dictionary(devices.compactMap { device in device.id.map { ($0, device.name) } }) { $1 }
        self.init(device: { byID[$0] ?? "machine " + $0.prefix(8) }, project: projects.name)
    }
}

extension ProjectNames {
    /// With the names that this machine knows.
    ///
    /// - Parameter keys: of the ledger.
    init(_ rules: ProjectRules, keys: Set<String>) {
        self.init(rules, known: LedgerProjects.knownNames(), keys: keys)
    }

    /// A project, with those that count as it.
    ///
    /// - Parameters:
    ///   - project: its name in reports, or 12 digits for one alone.
    ///   - keys: of the ledger.
    func hashes(ofProject project: String, among keys: Set<String>) throws(CommandFailure) -> Set<String> {
        let hashes = Set(keys.map(LedgerProjects.hash(ofKey:)))
        let found = hashes.filter { $0 == project || name(ofKey: $0) == project }
        try Self.requireOne(Set(found.map(rules.target)), project)
        return found
    }

    /// Throws unless there is one.
    static func requireOne(_ found: Set<String>, _ project: String) throws(CommandFailure) {
        guard !found.isEmpty else {
            throw CommandFailure(.usage, "no past usage of a project '\(project)'; see usage-view report project")
        }
        guard found.count == 1 else {
            throw CommandFailure(
                .usage, "several projects are called '\(project)': \(found.sorted().joined(separator: ", "))")
        }
    }
}

extension LedgerPages {
    /// Those of all machines, after a synchronization that takes at most `seconds`.
    static func read(within seconds: Double) async throws -> LedgerPages {
        try await UsageReader.read(storeNamed: LedgerKey.storeName, within: seconds) {
            LedgerPages($0.store.data(where: LedgerKey.isKey))
        }
    }
}
