@testable import KVStoreCore

extension ModelWorld {
    mutating func take(_ step: DatabaseStep) throws {
        switch step {
        case .lateTransactionExecutes(let position): _ = try execute(lateTransactions.remove(at: position))
        case .standbyStalls:
            standby = ModelStandby(
                hub: hub, generations: generations, greatest: greatest, forgotten: forgotten, buried: buried)
        case .failsOver(let losesOutcomes): try failOver(losesOutcomes: losesOutcomes)
        }
    }

    // MARK: - Transactions

    /// Each connection begins with this: the first one to a promoted database changes the generation.
    private mutating func connect() {
        guard generations.isPromoted else { return }
        generations.isPromoted = false
        // A failover can lose this too, so that a count would come to the same number again.
        generations.database = bounds.bug == .countsGenerations ? generations.database + 1 : lastGeneration + 1
        lastGeneration = max(lastGeneration, generations.database)
    }

    /// Commits what was planned if the store is still where it was; returns whether it did.
    mutating func execute(_ transaction: ModelNode.Transaction) throws -> Bool {
        connect()
        let base = transaction.base
        let isSameGeneration =
            switch bounds.bug {
            case .commitsWithoutGeneration: true
            case .comparesStoreGenerationOnly: generations.store == base.generation
            default: generations.areEqual && generations.store == base.generation
            }
        guard isSameGeneration, hub.horizon == base.hub.horizon || bounds.bug == .commitsWithoutHorizon,
            hub.sequence == base.hub.sequence || bounds.bug == .commitsWithoutRevision
        else { return false }
        for (received, plan) in zip(transaction.requests, transaction.plans) {
            try commit(plan, of: received.request)
        }
        return true
    }

    /// Reads the store in one snapshot. The first read after a failover begins an epoch, in the same transaction.
    mutating func readStore() -> ModelNode.Cache {
        connect()
        if !generations.areEqual {
            generations.store = generations.database
            if bounds.bug != .keepsEpochOverFailover {
                lastEpoch += 1
                hub.load(
                    hub.state.beginning(
                        EpochID(rawValue: lastEpoch), breakingEarlierEpochs: bounds.bug != .doesNotBreakEpochs))
            }
        }
        return ModelNode.Cache(hub: hub, generation: generations.store)
    }

    // MARK: - Caches

    mutating func refresh(_ index: Int) throws { try apply(readStore(), to: index) }

    /// The result of a read reaches the node, whose streams continue if they can.
    mutating func apply(_ read: ModelNode.Cache, to index: Int) throws {
        guard let former = nodes[index].cache else {
            nodes[index].cache = loaded(read)
            return
        }
        let cache = refreshed(former, by: read)
        nodes[index].cache = cache
        if bounds.bug != .keepsStreamsOverFailover {
            try resetStreams(of: index, from: former.hub, to: cache.hub)
        }
    }

    private func refreshed(_ cache: ModelNode.Cache, by read: ModelNode.Cache) -> ModelNode.Cache {
        let bug = bounds.bug
        if bug != .appliesOlderRead {
            let isOlder =
                read.generation == cache.generation
                ? read.hub.sequence < cache.hub.sequence || read.hub.horizon < cache.hub.horizon
                : read.generation < cache.generation
            if isOlder { return cache }
        }
        let isSameGeneration = read.generation == cache.generation || bug == .keepsCacheOverFailover
        guard isSameGeneration, read.hub.horizon == cache.hub.horizon || bug == .ignoresHorizon
        else { return loaded(read) }
        var hub = cache.hub
        let page = read.hub.page(after: hub.sequence, through: read.hub.sequence)
        for entry in page.changes { hub.load(entry) }
        hub.load(read.hub.state)
        hub.finishLoading()
        return ModelNode.Cache(hub: hub, generation: read.generation)
    }

    private func loaded(_ read: ModelNode.Cache) -> ModelNode.Cache {
        var hub = Hub(read.hub.state)
        for entry in read.hub.entries.values { hub.load(entry) }
        hub.finishLoading()
        return ModelNode.Cache(hub: hub, generation: read.generation)
    }

    /// A cache holds what the database held at its revision.
    func checkCaches() throws {
        for (index, node) in nodes.enumerated() {
            guard let cache = node.cache, generations.areEqual,
                cache.generation == generations.database
            else { continue }
            for name in Self.keys {
                let (held, cached) = (hub.entries[name], cache.hub.entries[name])
                let isCurrent =
                    if let held {
                        held.sequence > cache.hub.sequence || held == cached
                    } else {
                        cached == nil || cache.hub.horizon < hub.horizon
                    }
                guard isCurrent, cache.hub.sequence <= hub.sequence else {
                    throw ModelViolation(
                        promise: "a cache holds what the database held at its revision",
                        detail: "n\(index) \(name) at \(cache.hub.end), the database at \(hub.end)")
                }
            }
        }
    }

    // MARK: - Failover

    private mutating func failOver(losesOutcomes: Bool) throws {
        guard let standby else { return }
        self.standby = nil
        failoversLeft -= 1
        hub = standby.hub
        generations = standby.generations
        generations.isPromoted = true
        (greatest, forgotten, buried) = (standby.greatest, standby.forgotten, standby.buried)
        // They were sent to the former database.
        lateTransactions = []
        for index in devices.indices { settleGhosts(index) }
        guard losesOutcomes else { return }
        for index in nodes.indices where nodes[index].isCommitted { try planAgain(index) }
    }
}
