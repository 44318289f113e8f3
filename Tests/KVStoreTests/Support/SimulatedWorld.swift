import Foundation

@testable import KVStore

/// Three replicas, a daemon and a bad network under one seed.
struct SimulatedWorld {
    struct Device {
        var replica: Replica
        var log: [ReplicaEntry] = []
        var outstanding: SyncRequest?
        var streamPlace: UInt64?
        var wakeAt: Int64?
        /// The device's clock minus the true time.
        var skew: Int64
        /// What an app that reads only on notifications believes.
        var believed: [String: Record.Content] = [:]
    }

    var random: SplitMix64
    var daemon: DaemonModel
    var devices: [Device] = []
    /// Copies of requests that the network may deliver once more, any time.
    var strays: [SyncRequest] = []
    var backup: DaemonModel
    var time: Int64 = 10_000_000
    var writeCount = 0
    /// Everything written after the writer's first download.
    var written: [Record] = []
    var epochCount = 0

    init(seed: UInt64, greatestSkew: Int64) {
        random = SplitMix64(seed: seed)
        daemon = DaemonModel(epoch: "epoch 0")
        backup = daemon
        for number in 0..<3 {
            devices.append(
                Device(
                    replica: Replica(
                        id: ReplicaID(rawValue: UInt64(number) + 1), limits: StoreLimits(),
                        seed: random.next()),
                    skew: Int64.random(in: -greatestSkew...greatestSkew, using: &random)))
        }
        for index in devices.indices { handle(.attached(isLive: index != 2), by: index) }
    }

    private func now(_ index: Int) -> Moment {
        Moment(wall: time + devices[index].skew, monotonic: time)
    }

    mutating func handle(_ event: Event, by index: Int) {
        carryOut(devices[index].replica.handle(event, at: now(index)), by: index)
    }

    private mutating func carryOut(_ effects: [Effect], by index: Int) {
        for effect in effects {
            switch effect {
            case .append(let entry): devices[index].log.append(entry)
            case .send(let request):
                precondition(devices[index].outstanding == nil, "one request at a time")
                devices[index].outstanding = request
            case .openStream(let since, let epoch):
                precondition(devices[index].streamPlace == nil, "one stream at a time")
                if epoch == daemon.epoch { devices[index].streamPlace = since }
                handle(.stream(epoch == daemon.epoch ? .opened : .reset), by: index)
            case .closeStream: devices[index].streamPlace = nil
            case .notify(let change):
                for key in change.keys {
                    devices[index].believed[key] = devices[index].replica.visibleContents[key]
                }
            case .wake(let moment): devices[index].wakeAt = moment
            case .finish: break
            }
        }
    }

    mutating func step() {
        time += Int64.random(in: 0...3_000, using: &random)
        daemon.clock = time
        let index = Int.random(in: 0..<3, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: write(index)
        case 35..<65: deliver(index, isFaulty: true)
        case 65..<80: stream(index)
        case 80..<88: wake(index)
        case 88..<91 where !strays.isEmpty:
            _ = daemon.answer(strays.randomElement(using: &random)!)
        case 91..<94: breakStream(index)
        case 94..<96: restart(index)
        case 96: backup = daemon
        case 97 where Int.random(in: 0..<4, using: &random) == 0: restore()
        default: handle(.synchronize(waiter: UInt64(writeCount)), by: index)
        }
    }

    private mutating func write(_ index: Int) {
        writeCount += 1
        let key = "key \(Int.random(in: 0..<8, using: &random))"
        let content: Record.Content =
            Int.random(in: 0..<4, using: &random) == 0
            ? .tombstone : .value(Data("\(writeCount) by \(index)".utf8))
        let isFirst = !devices[index].replica.initialSyncCompleted
        let (effects, _) = devices[index].replica.write(content, forKey: key, at: now(index))
        carryOut(effects, by: index)
        devices[index].believed[key] = devices[index].replica.visibleContents[key]
        guard case .append(.record(let record, _, _)) = effects.first, !isFirst else { return }
        written.append(record)
    }

    /// The request under way arrives, or does not, or its answer is lost.
    private mutating func deliver(_ index: Int, isFaulty: Bool) {
        guard let request = devices[index].outstanding else { return }
        devices[index].outstanding = nil
        strays = Array((strays + [request]).suffix(5))
        switch isFaulty ? Int.random(in: 0..<10, using: &random) : 9 {
        case 0: handle(.failed(.unreachable("the request was lost")), by: index)
        case 1:
            _ = daemon.answer(request)
            handle(.failed(.unreachable("the answer was lost")), by: index)
        case 2:
            _ = daemon.answer(request)
            handle(.answered(daemon.answer(request)), by: index)
        default: handle(.answered(daemon.answer(request)), by: index)
        }
    }

    private mutating func stream(_ index: Int) {
        guard let place = devices[index].streamPlace,
            let (record, seq) = daemon.changes(after: place).first
        else { return }
        devices[index].streamPlace = seq
        handle(.stream(.change(SyncChange(record, seq: seq))), by: index)
    }

    private mutating func breakStream(_ index: Int) {
        guard devices[index].streamPlace != nil else { return }
        devices[index].streamPlace = nil
        handle(.streamEnded(.unreachable("reset by peer")), by: index)
    }

    private mutating func wake(_ index: Int) {
        guard let moment = devices[index].wakeAt, moment <= time else { return }
        devices[index].wakeAt = nil
        handle(.woke, by: index)
    }

    /// The process is killed and started again: it knows what its log says.
    private mutating func restart(_ index: Int) {
        let former = devices[index].replica
        var replica = Replica(id: former.id, limits: former.limits, seed: random.next())
        for entry in devices[index].log { _ = replica.replay(entry) }
        precondition(replica.table == former.table, "the log says what memory did")
        precondition(replica.state.cursor == former.state.cursor)
        precondition(replica.state.epoch == former.state.epoch)
        devices[index].replica = replica
        devices[index].outstanding = nil
        devices[index].streamPlace = nil
        devices[index].wakeAt = nil
        devices[index].believed = replica.visibleContents
        handle(.attached(isLive: index != 2), by: index)
    }

    private mutating func restore() {
        epochCount += 1
        daemon = backup.restored(epoch: "epoch \(epochCount)")
        for index in devices.indices { breakStream(index) }
    }

    /// Lets everything arrive, until nothing is under way and everybody has asked once more.
    mutating func settle() {
        for _ in 0..<40 {
            for index in devices.indices {
                time += 40_000
                daemon.clock = time
                wake(index)
                handle(.synchronize(waiter: 0), by: index)
                while devices[index].outstanding != nil { deliver(index, isFaulty: false) }
            }
        }
    }
}
