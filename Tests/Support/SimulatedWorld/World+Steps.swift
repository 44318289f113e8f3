import Foundation
import KVStore
import KVStoreCore
import KVStoreLog
import KVStoreSimulation
import KVStoreTesting

extension World {
    /// A user or a fault acts.
    func step() throws(Violation) {
        stepsLeft -= 1
        if stepsLeft == options.stepCount / 2 { beginShortage() }
        if stepsLeft <= 0 { return try heal() }
        queue.add(.step, at: time + delay(1...4_000))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<54: try writeSomething()
        case 54..<59:
            if let address = anyProcess() {
                try transact(address) { replica, now in
                    replica.synchronize(at: now).ready
                } wrote: { _ in
                }
            }
        default: try injectFault(Int.random(in: 0..<46, using: &random))
        }
    }

    private func writeSomething() throws(Violation) {
        guard let address = anyProcess() else { return }
        let key = StoreKey("k\(Int.random(in: 0..<options.keyCount, using: &random))")
        if isLikely(4) { return try writeEqualValue(forKey: key, at: address) }
        var contents = [key: newContent(at: address.device)]
        if options.writesSeveral, isLikely(20) {
            for number in 0..<options.keyCount where isLikely(50) {
                contents[StoreKey("k\(number)")] = newContent(at: address.device)
            }
        }
        let texts = contents.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.byteCount)" }
        log(
            contents.count > 1 ? "write of several keys" : "write", "\(name(address)) \(texts.joined(separator: ", "))")
        try write(contents, at: address)
    }

    private func newContent(at device: Int) -> StoreRecord.Content {
        isLikely(25) ? .tombstone : newValue(at: device)
    }

    /// A value unlike any other, which begins with the account that it belongs to. Most are small; some take
    /// several sectors of a disk, or a segment of the log.
    private func newValue(at device: Int) -> StoreRecord.Content {
        let range =
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<80: 1...60
            case 80..<96: 200...900
            default: 1_000...3_000
            }
        let count = Int.random(in: range, using: &random)
        lastID += 1
        var bytes = Data("\(devices[device].store.account) \(lastID) ".utf8)
        var word: UInt64 = 0
        for index in 0..<count {
            if index % 8 == 0 { word = random.next() }
            bytes.append(UInt8(truncatingIfNeeded: word))
            word >>= 8
        }
        return .value(bytes)
    }

    private func write(_ contents: [StoreKey: StoreRecord.Content], at address: ProcessAddress) throws(Violation) {
        let before = self[address]?.durable.replica.table.entries ?? [:]
        var refusal: StoreError?
        var (isOver, isDivided) = (false, false)
        var former: [StoreKey: StoreStamp] = [:]
        let limits = options.limits
        let isWritten = try transact(address) { replica, now in
            former = replica.table.entries.mapValues(\.record.stamp)
            let before = replica
            let outcome = replica.write(contents, at: now)
            refusal = outcome.violation
            isOver =
                replica.table.byteCount > max(before.table.byteCount, limits.totalByteCount)
                || replica.table.keyCount > max(before.table.keyCount, limits.keyCount)
            isDivided =
                refusal == nil
                ? contents.contains { (replica.table.content(forKey: $0.key) ?? .tombstone) != $0.value }
                : replica.table != before.table
            return outcome.ready
        } wrote: { process in
            guard refusal == nil else { return }
            for (key, content) in contents { process.believed[key] = content == .tombstone ? nil : content }
        }
        guard isWritten else { return }
        if refusal != nil { count("write against the quota") }
        if isOver {
            throw violation("no write takes a store over its quota", "\(name(address)) \(contents.keys.sorted())")
        }
        if isDivided {
            throw violation("a write takes all of its keys or none", "\(name(address)) \(contents.keys.sorted())")
        }
        guard refusal == nil, let entries = self[address]?.durable.replica.table.entries else { return }
        // Removing what is not there writes nothing; every value is another.
        let written = contents.filter { $0.value != .tombstone }.keys.compactMap { entries[$0]?.record }
        for record in written.sorted(by: { $0.stamp < $1.stamp }) {
            try checkWins(record.key, over: former[record.key], at: address)
            try checkStamp(ofKey: record.key, at: address, unless: before[record.key]?.record.stamp)
        }
    }

    /// Sets a key to the value that it has: no stamp, no log entry, no message and no notification comes of it.
    private func writeEqualValue(forKey key: StoreKey, at address: ProcessAddress) throws(Violation) {
        log("equal write", "\(name(address)) \(key)")
        let disk = devices[address.device].disk
        var (before, after) = (disk.snapshot(), disk.snapshot())
        var isUnchanged = true
        try transact(address) { replica, now in
            let former = replica
            let content = replica.visibleContents[key] ?? .tombstone
            let ready = replica.write([key: content], at: now).ready
            isUnchanged = ready == Ready() && replica == former
            return ready
        } wrote: { process in
            // A replica that needs another id writes that first.
            if process.durable.recovery.tornTail != nil { before = disk.snapshot() }
            after = disk.snapshot()
        }
        // A torn tail of another program may have been zeroed.
        let isLogUnchanged = after.allSatisfy { segment, bytes in
            guard let former = before[segment] else { return false }
            return zip(bytes, former).allSatisfy { $0 == 0 || $0 == $1 }
        }
        if !isUnchanged || !isLogUnchanged {
            throw violation("an equal value changes nothing", "\(name(address)) \(key)")
        }
    }

    func anyProcess() -> ProcessAddress? {
        var running: [ProcessAddress] = []
        for (device, value) in devices.enumerated() {
            for (index, process) in value.processes.enumerated() {
                guard let process else { continue }
                running.append(ProcessAddress(device: device, process: index, incarnation: process.incarnation))
            }
        }
        return running.randomElement(using: &random)
    }
}
