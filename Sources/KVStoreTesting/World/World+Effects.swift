import KVStore

extension World {
    func carryOut(_ effects: [Effect], at address: ProcessAddress) throws(Violation) {
        for effect in effects {
            guard self[address] != nil else { return }
            switch effect {
            case .append: throw violation("order of effects", "an append was handed out")
            case .notify(let change): try hear(change, at: address)
            case .send(let request): try send(request, from: address)
            case .openStream(let since, let epoch):
                if self[address]?.streamID != nil {
                    throw violation("one stream at a time", name(address))
                }
                lastID += 1
                self[address]?.streamID = lastID
                let id = lastID
                if let arrival = arrival(for: address.device, isUp: true) {
                    queue.add(
                        .openStream(address, id: id, since: since, epoch: epoch), at: arrival)
                } else {
                    queue.add(.streamEnded(address, id: id), at: time + 10_000)
                }
            case .closeStream: self[address]?.streamID = nil
            case .wake(let moment):
                lastID += 1
                self[address]?.wakeID = lastID
                queue.add(.wake(address, id: lastID), at: max(time, moment))
            case .finish: break
            }
        }
    }

    private func hear(_ change: StoreChange, at address: ProcessAddress) throws(Violation) {
        let records = self[address]?.durable.replica.records ?? []
        let words = change.keys.sorted().map { key in
            "\(key) \(Self.words(records.first { $0.key == key }))"
        }
        note(
            "notify",
            "\(name(address)) \(change.reason.rawValue) \(words.joined(separator: ", "))")
        guard change.reason != .quotaViolationChange, let process = self[address] else { return }
        let visible = process.durable.replica.visibleContents
        for key in change.keys {
            if process.believed[key] == visible[key], change.keys.count == 1 {
                counts["notified of an equal value", default: 0] += 1
            }
            self[address]?.believed[key] = visible[key]
        }
    }

    private func send(_ request: SyncRequest, from address: ProcessAddress) throws(Violation) {
        if strikesUnsynced() { return powerFails(address.device) }
        guard makeDurable(address), let process = self[address] else { return }
        if !process.durable.replica.initialSyncCompleted, !request.changes.isEmpty {
            throw violation(
                "a fresh install never overwrites",
                "\(name(address)) sent \(request.changes.count) keys before its first download")
        }
        if process.requestID != nil { throw violation("one request at a time", name(address)) }
        try checkSent(request, from: address)
        lastID += 1
        let id = lastID
        self[address]?.requestID = id
        note(
            "send",
            "\(name(address)) since \(request.since) of \(request.epoch ?? "none") "
                + "changes \(request.changes.count)")
        if let arrival = arrival(for: address.device, isUp: true) {
            queue.add(.request(address, id: id, request, sent: time), at: arrival)
            if options.hasNetworkFaults, !isHealing, isLikely(10) {
                note("doubled request", "\(id)")
                queue.add(
                    .request(address, id: id, request, sent: time),
                    at: arrival + delay(1...20_000))
            }
        }
        queue.add(
            .answer(address, id: id, .failure(.unreachable("timed out")), sent: time),
            at: time + 30_000)
    }

    /// When a message between a device and the daemon arrives; nil when it is lost.
    func arrival(for device: Int, isUp: Bool) -> Int64? {
        if devices[device].isPartitioned || devices[device].isDeaf && !isUp {
            count("message to nowhere")
            return nil
        }
        guard options.hasNetworkFaults, !isHealing else { return time + delay(1...20) }
        if isLikely(10) {
            count("lost message")
            return nil
        }
        guard isLikely(20) else { return time + delay(1...200) }
        count("late message")
        return time + delay(1...20_000)
    }
}
