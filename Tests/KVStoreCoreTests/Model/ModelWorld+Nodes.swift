@testable import KVStoreCore

extension ModelWorld {
    // MARK: - Steps

    func nodeSteps() -> [ModelStep] {
        var steps: [ModelStep] = []
        for index in nodes.indices {
            let node = nodes[index]
            var writers: [Int] = []
            for device in devices {
                if case .requested = device.stream {
                    steps.append(.node(index, .opensStream(device.number)))
                }
                guard case .request(let outgoing) = device.flight else { continue }
                if outgoing.request.changes.isEmpty {
                    steps.append(.node(index, .receives([device.number])))
                } else if node.transaction == nil {
                    steps.append(.node(index, .receives([device.number])))
                    writers.append(device.number)
                }
            }
            if writers.count == 2 { steps.append(.node(index, .receives(writers))) }
            for (position, request) in strays.enumerated() where request.changes.isEmpty || node.transaction == nil {
                steps.append(.node(index, .receivesStray(position)))
            }
            if node.transaction != nil {
                steps.append(.node(index, node.isCommitted ? .learnsOutcome : .commits))
            }
            if isSweepDue(index) { steps.append(.node(index, .refreshes)) }
            if node.read != nil { steps.append(.node(index, .slowReadArrives)) }
        }
        return steps + lateTransactions.indices.map { .database(.lateTransactionExecutes($0)) }
    }

    func nodeFaultSteps() -> [ModelStep] {
        var steps: [ModelStep] = []
        for (index, node) in nodes.enumerated() {
            if nodeFaultsLeft > 0 {
                if node.transaction != nil {
                    steps.append(.node(index, node.isCommitted ? .losesOutcome : .transactionIsLate))
                }
                if node.read == nil { steps.append(.node(index, .readIsSlow)) }
            }
            if restartsLeft > 0 {
                steps.append(.node(index, .restarts(transactionSurvives: false)))
                if node.transaction != nil, !node.isCommitted {
                    steps.append(.node(index, .restarts(transactionSurvives: true)))
                }
            }
        }
        guard failoversLeft > 0 else { return steps }
        guard standby != nil else { return steps + [.database(.standbyStalls)] }
        steps.append(.database(.failsOver(losesOutcomes: false)))
        if nodes.contains(where: \.isCommitted) {
            steps.append(.database(.failsOver(losesOutcomes: true)))
        }
        return steps
    }

    /// Only stores with watchers are swept; whatever else needs the cache refreshes it or compares revisions.
    private func isSweepDue(_ index: Int) -> Bool {
        guard bounds.bug != .neverSweeps, let cache = nodes[index].cache,
            devices.contains(where: { $0.streamNode == index && $0.stream.isOpen })
        else { return false }
        if bounds.bug == .sweepComparesRevisionsOnly { return cache.hub.sequence != hub.sequence }
        return !generations.areEqual || cache.generation != generations.store
            || cache.hub.sequence != hub.sequence || cache.hub.horizon != hub.horizon
    }

    mutating func take(_ step: NodeStep, at index: Int) throws {
        switch step {
        case .receives(let numbers):
            var requests: [ModelNode.Received] = []
            for number in numbers {
                guard case .request(let outgoing) = devices[number].flight else { return }
                devices[number].flight = .received(id: outgoing.id)
                requests.append(ModelNode.Received(request: outgoing.request, device: number, id: outgoing.id))
            }
            try receive(requests, at: index)
        case .receivesStray(let position):
            let request = strays.remove(at: position)
            try receive([ModelNode.Received(request: request)], at: index)
        case .commits:
            guard let transaction = nodes[index].transaction else { return }
            if try execute(transaction) {
                nodes[index].isCommitted = true
            } else {
                try planAgain(index)
            }
        case .learnsOutcome: try learnOutcome(index)
        case .refreshes: try refresh(index)
        case .opensStream(let number):
            if bounds.bug != .opensStreamWithoutRefresh || nodes[index].cache == nil {
                try refresh(index)
            }
            devices[number].streamNode = index
            try openStream(number)
        case .slowReadArrives:
            guard let read = nodes[index].read else { return }
            nodes[index].read = nil
            try apply(read, to: index)
        case .losesOutcome, .transactionIsLate:
            nodeFaultsLeft -= 1
            try cutConnection(index)
        case .readIsSlow:
            nodeFaultsLeft -= 1
            nodes[index].read = readStore()
        case .restarts(let transactionSurvives):
            restartsLeft -= 1
            try restartNode(index, transactionSurvives: transactionSurvives)
        }
    }

    // MARK: - Requests

    private mutating func receive(_ requests: [ModelNode.Received], at index: Int) throws {
        guard requests.allSatisfy(\.request.changes.isEmpty) else {
            return try plan(requests, at: index)
        }
        if bounds.bug != .pullsFromCache || nodes[index].cache == nil { try refresh(index) }
        for received in requests {
            guard let cache = nodes[index].cache else { return }
            guard cache.hub.end == hub.end, cache.generation == generations.database else {
                throw ModelViolation(
                    promise: "an answer to a pull contains every commit before it",
                    detail: "\(cache.hub.end), not \(hub.end)")
            }
            try answer(received, plan: Hub.Plan(), from: cache)
        }
    }

    private mutating func plan(_ requests: [ModelNode.Received], at index: Int) throws {
        if nodes[index].cache == nil { try refresh(index) }
        guard let base = nodes[index].cache else { return }
        var transaction = ModelNode.Transaction(requests: requests, base: base)
        for received in requests {
            transaction.plans.append(transaction.result.hub.plan(received.request.changes, now: Self.daemonTime))
        }
        nodes[index].isCommitted = false
        nodes[index].transaction = transaction
        let isEmpty = transaction.plans.allSatisfy(\.accepted.isEmpty)
        if bounds.bug == .answersBeforeCommit {
            try answer(transaction, from: transaction.result)
            for position in requests.indices {
                nodes[index].transaction?.requests[position].device = nil
            }
        } else if bounds.bug == .doesNotVerifyEmptyPlans, isEmpty {
            nodes[index].transaction = nil
            try answer(transaction, from: base)
        }
    }

    mutating func planAgain(_ index: Int) throws {
        guard let transaction = nodes[index].transaction else { return }
        try refresh(index)
        try plan(transaction.requests, at: index)
    }

    /// The node's transaction has been committed.
    private mutating func learnOutcome(_ index: Int) throws {
        guard let transaction = nodes[index].transaction, var cache = nodes[index].cache else {
            return
        }
        // Whether a promoted database has kept the commit is unknown.
        guard
            cache.generation == transaction.base.generation || bounds.bug == .answersFromLaterGeneration
        else { return try planAgain(index) }
        // A cache that was refreshed meanwhile contains the commit, and perhaps later ones. The answer does not: the
        // tombstone that a later one forgets may be what the transaction has verified.
        if cache.hub.end == transaction.base.hub.end, cache.hub.horizon == transaction.base.hub.horizon {
            cache = transaction.result
        } else if bounds.bug == .appliesPlanToMovedCache {
            for plan in transaction.plans { cache.hub.commit(plan) }
        }
        nodes[index].cache = cache
        nodes[index].transaction = nil
        nodes[index].isCommitted = false
        let answersFromCache =
            switch bounds.bug {
            case .answersFromLaterGeneration, .answersFromMovedCache, .appliesPlanToMovedCache: true
            default: false
            }
        try answer(transaction, from: answersFromCache ? cache : transaction.result)
    }

    private mutating func answer(_ transaction: ModelNode.Transaction, from cache: ModelNode.Cache) throws {
        for (received, plan) in zip(transaction.requests, transaction.plans) {
            try answer(received, plan: plan, from: cache)
        }
    }

    private mutating func answer(_ received: ModelNode.Received, plan: Hub.Plan, from cache: ModelNode.Cache) throws {
        let request = received.request
        let answer = cache.hub.answer(request, plan: plan, now: Self.daemonTime)
        try check(answer, to: request, by: cache.hub)
        if answer.isInitial, generations.areEqual, !hub.startsOver(since: request.since) {
            throw ModelViolation(
                promise: "a replica starts over only if the database does not know its cursor", detail: "\(request)")
        }
        guard let number = received.device, devices[number].flight == .received(id: received.id) else { return }
        // What a failover has lost since comes back by another promise.
        let isCurrent = generations.areEqual && cache.generation == generations.database
        for change in request.changes
        where isCurrent && !isSettled(change) && !answer.rejections.contains(where: { $0.key == change.key }) {
            throw ModelViolation(
                promise: "an answer leaves only after what it acknowledges is committed",
                detail: "d\(number) \(change.key) \(change.stamp)")
        }
        devices[number].flight = .answer(id: received.id, answer)
    }

    /// Whether the database has the record or a greater one, or has forgotten a greater removal.
    func isSettled(_ record: StoreRecord) -> Bool {
        let key = Self.keyIndex(record.key)
        let isHeld = greatest[key].map { !Self.isGreater(record, $0) } ?? false
        return isHeld || forgotten[key].map { record.stamp <= $0 } ?? false
    }

    // MARK: - Faults

    /// The node cannot know whether its transaction was committed: it sends the same requests again.
    private mutating func cutConnection(_ index: Int) throws {
        guard let transaction = nodes[index].transaction else { return }
        if !nodes[index].isCommitted { lateTransactions.append(transaction) }
        guard bounds.bug == .takesLostOutcomeForSuccess else { return try planAgain(index) }
        try learnOutcome(index)
    }

    private mutating func restartNode(_ index: Int, transactionSurvives: Bool) throws {
        let node = nodes[index]
        nodes[index] = ModelNode()
        if transactionSurvives, let transaction = node.transaction {
            lateTransactions.append(transaction)
        }
        for received in node.transaction?.requests ?? [] {
            if let number = received.device, devices[number].flight == .received(id: received.id) {
                try fail(number)
            }
        }
        for number in devices.indices
        where devices[number].streamNode == index && devices[number].stream.isOpen {
            try breakStream(number)
        }
    }
}
