package import Essentials
import KVStoreCore
import KVStoreSimulation
import KVStoreWire
import NIOCore
import NIOHTTP1
import Synchronization
package import KVStoreServer

/// What a replay of a record has shown.
package struct ReplayReport: Sendable, Equatable {
    /// A line that the replay has written differently.
    package struct Difference: Sendable, Equatable {
        /// From 1.
        package var line: Int
        /// Nil after its end.
        package var recorded: String?
        package var replayed: String?
    }

    package var requestCount = 0
    package var lineCount = 0
    /// The first one; nil if the record and its replay are the same.
    package var difference: Difference?
    /// Whether the record ends within a line, or before the answers of its last input, as that of a killed session.
    package var isCut = false
}

extension Emulator {
    /// Does again what a record says, in an emulator that listens nowhere, and compares what comes of it.
    ///
    /// - Parameter write: is called with the lines of the replay.
    /// - Throws: for what is not a record, with the number of the line.
    package static func replay(
        _ record: Data, write: @escaping @Sendable (Data) -> Void = { _ in }
    ) async throws(ServerError) -> ReplayReport {
        func failure(_ line: Int, _ reason: String) -> ServerError {
            ServerError(.unreadable, "line \(line): \(reason)")
        }
        var lines = record.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The last line of a session that was killed may be incomplete.
        let cut = lines.popLast() ?? Data()
        func decode(_ line: Data.SubSequence, _ number: Int) throws(ServerError) -> RecordLine {
            guard let line = try? WireJSON.decode(RecordLine.self, from: Data(line))  // else it throws
            else { throw failure(number, "it is not a line of a record") }
            return line
        }
        guard let first = lines.first, let start = try decode(first, 1).record else {
            throw failure(1, "it is not the beginning of a record")
        }
        if let defect = start.defect { throw failure(1, defect) }
        guard start.source == nil else {
            throw ServerError(
                .unreadable, "it is the record of a SimulatedCloud; run its test with SimulatedCloud(replaying:)")
        }
        let replayed = Mutex(Data())
        let emulator = try Emulator(
            isStrict: start.strict, seed: start.seed,
            record: { text in
                replayed.withLock { $0 += text }
                write(text)
            }, isReplaying: true)
        var report = ReplayReport()
        for (index, text) in lines.enumerated() {
            let line = try decode(text, index + 1)
            if line.arrives != nil { report.requestCount += 1 }
            if line.isInput {
                guard await emulator.replay(line) else {
                    throw failure(index + 1, "it names a request that does not exist")
                }
            }
        }
        await emulator.interceptor.engine.close()
        let found = replayed.withLock { $0 }
            .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        report.lineCount = lines.count
        let count = zip(lines, found).prefix { $0.0 == $0.1 }.count
        let rest = found.dropFirst(count)
        // What the session had no time to write begins with the line that was cut, and has answers.
        let isUnfinished =
            cut.isEmpty
            ? rest.contains { (try? WireJSON.decode(RecordLine.self, from: $0))?.answers != nil }
            : rest.first?.starts(with: cut) ?? true
        if count == lines.count, isUnfinished || rest.isEmpty {
            report.isCut = isUnfinished
        } else {
            func text(_ line: Data?) -> String? { line.map { String(decoding: $0, as: UTF8.self) } }
            report.difference = ReplayReport.Difference(
                line: count + 1, recorded: text((lines + (cut.isEmpty ? [] : [cut])).dropFirst(count).first),
                replayed: text(rest.first))
        }
        return report
    }
}

extension Emulator {
    /// Returns when everything that comes of the input has been written; false if it is not one of an emulator.
    fileprivate func replay(_ line: RecordLine) async -> Bool {
        guard let recorder = interceptor.emulation.recorder else { return false }
        let network = interceptor.network
        let watchers = interceptor.engine.loops[0]
        let promise = watchers.loop.makePromise(of: Bool.self)
        watchers.loop.execute { [self] in
            func input(at time: Int64, _ body: @escaping () -> Void) {
                recorder.replay(at: time, body) { promise.succeed(true) }
            }
            if let arrival = line.arrives {
                guard let request = request(arrival) else {
                    return promise.succeed(false)
                }
                input(at: arrival.time) { self.interceptor.receive(request, by: self.server, on: watchers) { _ in } }
            } else if let sending = line.sends {
                input(at: sending.time) {
                    _ = network.sendEvent(of: sending.device, in: sending.world, notBefore: sending.notBefore ?? 0)
                }
            } else if let release = line.releases {
                input(at: release.time) { network.release(release.world) }
            } else {
                promise.succeed(false)
            }
        }
        return (try? await promise.futureResult.get()) ?? false  // the promise never fails
    }

    private func request(_ arrival: RecordLine.Arrival) -> Request? {
        var headers = HTTPHeaders()
        if let type = arrival.type { headers.add(name: "Content-Type", value: type) }
        if let accept = arrival.accept { headers.add(name: "Accept", value: accept) }
        if let account = arrival.account { headers.add(name: DeviceAccount.field, value: account) }
        if let id = arrival.lastEventID { headers.add(name: "Last-Event-ID", value: id) }
        let path = arrival.target[..<(arrival.target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? arrival.target.endIndex)]
        guard let resource = server.resource(at: path) else { return nil }
        var device: Device?
        if let world = arrival.world {
            let token = WorldToken("\(world)/\(arrival.device ?? WorldToken.defaultDevice)")
            device = token.flatMap { try? interceptor.worlds.admit($0, now: arrival.time) }
        }
        guard device != nil || !resource.needsToken else { return nil }
        return Request(
            method: HTTPMethod(rawValue: arrival.method), fields: RequestFields(headers), target: arrival.target,
            resource: resource, query: arrival.target[path.endIndex...].dropFirst(), device: device, address: "local",
            body: ByteBuffer(bytes: arrival.base64 ?? Data((arrival.body ?? "").utf8)))
    }
}
